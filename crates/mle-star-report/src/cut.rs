//! Shortens text from models, scripts and users.

/// Maximum characters of a line; longer ones are truncated with a note.
const LINE: usize = 600;
/// Maximum characters of prose: a description, a plan, a summary.
pub const PROSE: usize = 12_000;
/// Maximum characters of a script's output.
pub const OUTPUT: usize = 6_000;
/// Maximum characters of a script.
pub const CODE: usize = 120_000;

/// Truncates long lines, and removes the middle of a text with more than `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(4 * most));
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            shown.push('\n');
        }
        shown.push_str(&line_of(line));
    }
    middle_cut(shown, most)
}

/// One line, truncated if it is too long.
pub fn line_of(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} [… {} characters more]", &line[..end], line[end..].chars().count()),
        None => line.to_owned(),
    }
}

/// The first line of a fragment as a sentence: with a capital and a full stop.
pub fn sentence(fragment: &str) -> String {
    let text = line_of(fragment.lines().next().unwrap_or_default().trim());
    let mut letters = text.chars();
    let capital = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let text = format!("{capital}{}", letters.as_str());
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}

/// Keeps beginning and end, which are the most useful: a traceback ends with its error, a log with the last
/// events.
fn middle_cut(text: String, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text;
    }
    let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (at(most / 2), at(count - most / 2));
    format!("{}\n[… {} characters left out …]\n{}", &text[..head], count - 2 * (most / 2), &text[tail..])
}
