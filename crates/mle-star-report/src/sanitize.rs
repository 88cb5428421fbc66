//! Sanitizes text of models, scripts and users for terminals, charts and pages.
//!
//! Every text goes through [`escape`] on its way to a terminal: control characters could move the cursor or change the
//! terminal, and bidirectional marks could reorder the text around them. [`first_line`] and [`shortened`] truncate.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Replaces control characters and bidirectional marks by their code points; keeps newlines and tabs.
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_invisible(c) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Replaces control characters and bidirectional marks by their code points, and newlines and tabs by blanks.
pub fn one_line(text: &str) -> String {
    escape(text).replace(['\n', '\t'], " ")
}

/// Whether it is a control character or a bidirectional mark.
pub fn is_invisible(c: char) -> bool {
    let turns =
        matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control()
}

/// The first line that is not blank, truncated to `most` characters.
pub fn first_line(text: &str, most: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// Truncates the text to `columns` columns in the middle: names often differ at their ends.
pub fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let left = columns.saturating_sub(1);
    let reversed: String = text.chars().rev().collect();
    let end: String = prefix_of_width(&reversed, left / 2).chars().rev().collect();
    format!("{}…{end}", prefix_of_width(text, left - left / 2))
}

/// The longest prefix that fits into `columns` columns.
pub fn prefix_of_width(text: &str, columns: usize) -> String {
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken <= columns
    };
    text.chars().take_while(fits).collect()
}

/// The width of a text in columns.
pub fn width(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_replaced_by_their_code_points() {
        let check = |text: &str, lines: &str, line: &str| {
            assert_eq!((escape(text).as_str(), one_line(text).as_str()), (lines, line));
        };
        check("a\u{1b}[31m\n\tb\u{202e}", "a⟨U+001B⟩[31m\n\tb⟨U+202E⟩", "a⟨U+001B⟩[31m  b⟨U+202E⟩");
        check("\u{1b}]0;title\u{7}", "⟨U+001B⟩]0;title⟨U+0007⟩", "⟨U+001B⟩]0;title⟨U+0007⟩");
        check("\u{9b}2J\r\u{7f}", "⟨U+009B⟩2J⟨U+000D⟩⟨U+007F⟩", "⟨U+009B⟩2J⟨U+000D⟩⟨U+007F⟩");
        check("日本語 é", "日本語 é", "日本語 é");
    }
}
