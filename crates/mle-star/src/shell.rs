//! Commands that people paste into a shell.

use std::borrow::Cow;
use std::path::Path;

/// A word of a command, quoted where a shell would read it otherwise.
pub fn word(text: &str) -> Cow<'_, str> {
    // A word with a NUL cannot be typed; it is shown as it is.
    shlex::try_quote(text).unwrap_or(Cow::Borrowed(text))
}

/// A path as a word of a command.
pub fn quoted(path: &Path) -> String {
    word(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_need_it_are_quoted() {
        let check = |text: &str, expected: &str| assert_eq!(word(text), expected);
        check("runs/2026-01-01", "runs/2026-01-01");
        check("my runs", "'my runs'");
        check("it's $HOME", "\"it's \"'$HOME'");
        check("größe", "'größe'");
        check("", "''");
    }
}
