//! Texts, numbers and shares as the summary shows them.

use std::fmt::Write as _;

/// Characters of a column's name.
const NAME: usize = 40;
/// Characters of a path.
const PATH: usize = 80;
/// Characters of a value.
const VALUE: usize = 24;

/// The name of a column as code.
pub(super) fn name(text: &str) -> String {
    format!("`{}`", plain(text, NAME))
}

/// A path as code.
pub(super) fn path(path: &std::path::Path) -> String {
    format!("`{}`", plain(&path.display().to_string(), PATH))
}

/// A value as code.
pub(super) fn value(text: &str) -> String {
    format!("`{}`", plain(text, VALUE))
}

/// A message of the program, which may hold parts of the data.
pub(super) fn sentence(text: &str) -> String {
    plain(text, 200)
}

/// A text on one line that stays in its cell of a Markdown table and in its code span, with at most this many
/// characters.
pub(super) fn plain(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut letters = text.trim().chars().filter(|letter| !is_invisible(*letter));
    for letter in letters.by_ref().take(most) {
        match letter {
            '|' => shown.push_str("\\|"),
            '`' => shown.push('\''),
            letter if letter.is_whitespace() || letter.is_control() => shown.push(' '),
            letter => shown.push(letter),
        }
    }
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Letters that change the direction of a text or have no shape.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// A number with about four digits; whole numbers with all of theirs.
pub(super) fn number(number: f64) -> String {
    let size = number.abs();
    if number.fract() == 0.0 && size < 1e15 {
        // Without the sign of -0.
        return format!("{:.0}", number + 0.0);
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{number:.3e}");
    }
    if size >= 1_000.0 {
        return format!("{number:.1}");
    }
    let rounded: f64 = format!("{number:.3e}").parse().unwrap_or(number);
    rounded.to_string()
}

/// A difference with its sign.
pub(super) fn signed(difference: f64) -> String {
    let sign = if difference > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(difference))
}

/// A count with its thousands apart.
pub(super) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A count and the word for it, such as `1 row`.
pub(super) fn counted(number: usize, word: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{} {word}{many}", count(number as u64))
}

/// A part in percent.
pub(super) fn share(part: usize, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        _ if part == 0 => "0%".to_owned(),
        _ if part == whole => "100%".to_owned(),
        percent if percent < 0.1 => "<0.1%".to_owned(),
        percent if percent > 99.9 => ">99.9%".to_owned(),
        percent if (10.0..=99.0).contains(&percent) => format!("{percent:.0}%"),
        percent => format!("{percent:.1}%"),
    }
}

/// A share in percent with two digits.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent >= 9.95 => format!("{percent:.0}%"),
        _ if percent >= 0.995 => format!("{percent:.1}%"),
        _ => format!("{percent:.2}%"),
    }
}

/// A size in bytes.
pub(super) fn bytes(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut size = bytes as f64;
    let mut unit = "bytes";
    for next in units {
        if size < 1_000.0 {
            break;
        }
        size /= 1_000.0;
        unit = next;
    }
    if size < 10.0 && unit != "bytes" { format!("{size:.1} {unit}") } else { format!("{size:.0} {unit}") }
}

/// These texts with commas, and how many more there are than `most`.
pub(super) fn list(texts: &[String], most: usize) -> String {
    let mut shown = texts.get(..most).unwrap_or(texts).join(", ");
    if texts.len() > most {
        let _ = write!(shown, " and {} more", count((texts.len() - most) as u64));
    }
    shown
}

/// Whole lines with at most `room` characters in all; the last one says how many are missing.
pub(super) fn fit(lines: &[String], room: usize) -> Vec<String> {
    let length = |line: &String| line.chars().count() + 1;
    if lines.iter().map(length).sum::<usize>() <= room {
        return lines.to_vec();
    }
    let mut left = room.saturating_sub("- and 1,000,000 more\n".len());
    let fits = |line: &&String| {
        let fits = length(line) <= left;
        left = left.saturating_sub(length(line));
        fits
    };
    let mut shown: Vec<String> = lines.iter().take_while(fits).cloned().collect();
    shown.push(format!("- and {} more", count((lines.len() - shown.len()) as u64)));
    shown
}
