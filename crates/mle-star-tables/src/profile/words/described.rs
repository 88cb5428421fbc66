//! Whether a description uses words that look missing as values of a column.

use crate::missing::Words;

/// Lines around a line of a list in which other values are looked for.
const AROUND: usize = 15;
/// What says, in the same clause, that a word stands for a missing value.
const SAYS_MISSING: [&str; 18] = [
    "missing",
    "unknown",
    "unavailable",
    "not available",
    "not known",
    "not recorded",
    "not measured",
    "not provided",
    "not given",
    "not reported",
    "no data",
    "no value",
    "no answer",
    "no information",
    "absent",
    "blank",
    "empty",
    "unlabelled",
];
/// What ends a clause.
const CLAUSE: [char; 6] = [',', ';', '.', '(', ')', '\n'];
/// What ends a sentence.
const SENTENCE: [char; 5] = ['.', '?', '!', ';', '\n'];
/// What may stand around a quoted word.
const QUOTES: [char; 6] = ['`', '"', '\'', '*', '\u{201c}', '\u{201d}'];
/// What may stand before an item of a list.
const BULLETS: [char; 6] = ['-', '*', '+', '|', '\u{2022}', '#'];

/// Those of the words `present` that a description has among the `others`, values of the same column, or between quotes if
/// the column is to be predicted. A word that the description calls missing is none.
pub(super) fn words(description: &str, present: &[&str], others: &[&str], is_predicted: bool) -> Words {
    let is_value = |word: &str| {
        let mut places = places(description, word).peekable();
        places.peek().is_some()
            && !places.clone().any(|at| says_missing(description, at, word))
            && places.any(|at| {
                is_among(description, at, word, others)
                    || is_item(description, at, word, others)
                    || is_predicted && is_quoted(description, at, word)
            })
    };
    Words::of(present.iter().copied().filter(|word| is_value(word)))
}

/// Where a word stands by itself.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + Clone + 'a {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_alone = move |at: &usize| {
        let before = text[..*at].chars().next_back().is_none_or(|letter| !is_letter(letter));
        before && text[at + word.len()..].chars().next().is_none_or(|letter| !is_letter(letter))
    };
    text.match_indices(word).map(|(at, _)| at).filter(is_alone)
}

/// The part of a text around a place, up to these letters.
fn part<'a>(text: &'a str, at: usize, word: &str, ends: &[char]) -> &'a str {
    let start =
        text[..at].rfind(ends).map_or(0, |end| end + text[end..].chars().next().map_or(1, char::len_utf8));
    let end = text[at + word.len()..].find(ends).map_or(text.len(), |end| at + word.len() + end);
    &text[start..end]
}

/// Whether the clause around a word, or what follows it in brackets, says that it stands for a missing value.
fn says_missing(text: &str, at: usize, word: &str) -> bool {
    let after = text[at + word.len()..].trim_start_matches(QUOTES).trim_start();
    let in_brackets = after.strip_prefix('(').map(|rest| rest.split(')').next().unwrap_or_default());
    let clause = part(text, at, word, &CLAUSE);
    [Some(clause), in_brackets].into_iter().flatten().any(|part| {
        let lower = part.to_lowercase();
        SAYS_MISSING.iter().any(|says| lower.contains(says))
    })
}

/// Whether the same sentence has another value of the column.
fn is_among(text: &str, at: usize, word: &str, others: &[&str]) -> bool {
    let sentence = part(text, at, word, &SENTENCE);
    others.iter().any(|other| is_telling(other) && places(sentence, other).next().is_some())
}

/// Whether the word begins a line, and a line nearby begins with another value of the column.
fn is_item(text: &str, at: usize, word: &str, others: &[&str]) -> bool {
    let begins = |line: &str, value: &str| {
        let bare = line.trim().trim_start_matches(BULLETS).trim_start().trim_start_matches(QUOTES);
        places(bare, value).next() == Some(0)
    };
    let number = text[..at].matches('\n').count();
    let lines: Vec<&str> = text.lines().collect();
    if !lines.get(number).is_some_and(|line| begins(line, word)) {
        return false;
    }
    let near = number.saturating_sub(AROUND)..lines.len().min(number + AROUND);
    near.filter_map(|number| lines.get(number))
        .any(|line| others.iter().any(|other| is_telling(other) && begins(line, other)))
}

/// Whether the word stands between quotes.
fn is_quoted(text: &str, at: usize, word: &str) -> bool {
    let before = text[..at].chars().next_back().filter(|letter| QUOTES.contains(letter));
    before.is_some() && text[at + word.len()..].chars().next().is_some_and(|letter| QUOTES.contains(&letter))
}

/// Whether a value says something by its place in a text. Numbers and single letters are everywhere.
fn is_telling(value: &str) -> bool {
    value.chars().filter(|letter| letter.is_alphabetic()).count() > 1
}
