//! Cells with several labels: guesses in order, and sets.

use std::borrow::Cow;

use crate::table::canonical;

/// What may stand between the labels of a cell. The first of them that occurs in a column separates in all of its cells.
pub(crate) const SEPARATORS: [char; 4] = ['|', ';', ',', ' '];

/// What separates labels in cells like these.
pub(crate) fn separator(cells: &[String]) -> char {
    let occurs = |separator: &char| cells.iter().any(|cell| cell.contains(*separator));
    SEPARATORS.into_iter().find(occurs).unwrap_or(' ')
}

/// The labels of a set.
pub(crate) fn labels_of_set(cell: &str, separator: char) -> impl Iterator<Item = &str> {
    let is_separator = move |letter: char| match separator {
        ' ' => letter.is_whitespace(),
        _ => letter == separator,
    };
    cell.split(is_separator).map(str::trim).filter(|label| !label.is_empty())
}

/// The common form of a set: its labels in their common form and in order, each once. It may be written with a separator that
/// stands before that of the known sets in [`SEPARATORS`], which then is in none of their labels.
pub(crate) fn canonical_set(cell: &str, separator: char) -> String {
    let others: Vec<char> = SEPARATORS.into_iter().take_while(|other| *other != separator).collect();
    let cell = cell.replace(others.as_slice(), &separator.to_string());
    let mut labels: Vec<Cow<'_, str>> = labels_of_set(&cell, separator).map(canonical).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.join(&separator.to_string())
}

/// The guesses in a cell, at most so many, with anything of `|`, `;`, commas and blanks between them. These may also stand inside
/// a label: from left to right, the longest run of words that is a known label is one guess, and a word that begins no known
/// label is a guess by itself.
pub(crate) fn guesses(cell: &str, most: usize, is_known: impl Fn(&str) -> bool) -> Vec<Cow<'_, str>> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let is_separator = |letter: char| letter.is_whitespace() || SEPARATORS.contains(&letter);
    let mut start = None;
    for (at, letter) in cell.char_indices() {
        match (is_separator(letter), start) {
            (true, Some(from)) => {
                parts.push((from, at));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    parts.extend(start.map(|from| (from, cell.len())));
    let (mut guesses, mut at) = (Vec::new(), 0);
    while at < parts.len() && guesses.len() < most {
        let to = |end: usize| canonical(&cell[parts[at].0..parts[end].1]);
        let longest = (at..parts.len().min(at + LONGEST_LABEL)).rev().find(|end| is_known(&to(*end)));
        let end = longest.unwrap_or(at);
        guesses.push(to(end));
        at = end + 1;
    }
    guesses
}

/// The most words of a label that is looked for among the guesses of a cell.
const LONGEST_LABEL: usize = 12;
