//! Turns text into markup.
//!
//! Text from models, scripts and users is untrusted: characters that mean something in markup are escaped, and those
//! that would hide or reorder text are made visible.

use crate::sanitize::is_invisible;

/// Escapes a text for markup and for quoted attributes.
pub fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let done = write_escaped(text, |part| {
        written.push_str(part);
        Ok(())
    });
    done.map_or_else(|_| String::new(), |()| written)
}

/// Escapes a text between tags, where quotes mean nothing: code is full of them.
pub fn escaped_code(text: &str) -> String {
    escaped(text).replace("&#39;", "'").replace("&quot;", "\"")
}

/// Writes an escaped text in pieces.
pub fn write_escaped(text: &str, mut write: impl FnMut(&str) -> std::fmt::Result) -> std::fmt::Result {
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let entity = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            '\n' | '\t' => continue,
            c if is_invisible(c) => "",
            _ => continue,
        };
        write(&text[plain..at])?;
        match entity {
            "" => write(&format!("⟨U+{:04X}⟩", u32::from(c)))?,
            entity => write(entity)?,
        }
        plain = at + c.len_utf8();
    }
    write(&text[plain..])
}
