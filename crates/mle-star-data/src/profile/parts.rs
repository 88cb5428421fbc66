//! The parts that codes such as `B/45/P`, `C85` and `AHJDF` are made of.

use super::column::Values;
use super::{Column, ColumnKind};

/// What separates the parts of a code.
const SEPARATORS: [char; 8] = ['/', '|', ':', '_', '-', '.', ',', ' '];
/// Codes with more parts than this are rather texts.
const MOST_PARTS: usize = 6;
/// Codes of single letters have this many of them.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=16;
/// Codes with fewer different values are categories.
const FEWEST: usize = 16;

/// The parts that all values of a column have.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// A regular expression with a group for each part.
    pub pattern: String,
    /// Whether the parts are single letters and digits.
    pub single: bool,
    /// The profiles of the parts, with numbers from 1 as names.
    pub columns: Vec<Column>,
}

/// The parts of these values, if all are made alike; `repeat` says whether most of them occur several times.
pub(super) fn parts(values: &[&str], repeat: bool) -> Option<Parts> {
    if values.len() < FEWEST {
        return None;
    }
    let separated = SEPARATORS.iter().find_map(|separator| separated(values, *separator));
    separated.or_else(|| worded(values)).or_else(|| lettered(values).filter(|_| !repeat))
}

fn separated(values: &[&str], separator: char) -> Option<Parts> {
    let count = values.first()?.split(separator).count();
    let alike = |value: &&str| value.split(separator).count() == count;
    if !(2..=MOST_PARTS).contains(&count) || !values.iter().all(alike) {
        return None;
    }
    // In brackets, no separator has another meaning; `-` alone has none either.
    let pattern = format!("^{}$", vec![format!("([^{separator}]*)"); count].join(&format!("[{separator}]")));
    Some(Parts::new(pattern, false, values, |value| value.split(separator).collect()))
}

/// Letters and a number.
fn worded(values: &[&str]) -> Option<Parts> {
    let cut = |value: &&str| value.find(|letter: char| letter.is_ascii_digit()).unwrap_or(value.len());
    let is_word = |value: &&str| {
        let (word, number) = value.split_at(cut(value));
        (1..=4).contains(&word.len())
            && word.bytes().all(|letter| letter.is_ascii_alphabetic())
            && (1..=8).contains(&number.len())
            && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    values.iter().all(is_word).then(|| {
        Parts::new("^([A-Za-z]+)([0-9]+)$".to_owned(), false, values, |value| {
            let (word, number) = value.split_at(cut(&value));
            vec![word, number]
        })
    })
}

/// Single letters and digits, the same number in all values.
fn lettered(values: &[&str]) -> Option<Parts> {
    let count = values.first()?.len();
    let alike =
        |value: &&str| value.len() == count && value.bytes().all(|letter| letter.is_ascii_alphanumeric());
    (LETTERS.contains(&count) && values.iter().all(alike)).then(|| {
        let pattern = format!("^{}$", "(.)".repeat(count));
        Parts::new(pattern, true, values, |value| (0..value.len()).map(|at| &value[at..=at]).collect())
    })
}

impl Parts {
    fn new(pattern: String, single: bool, values: &[&str], cut: impl Fn(&str) -> Vec<&str>) -> Self {
        let mut columns: Vec<Values> = Vec::new();
        for value in values {
            for (at, part) in cut(value).into_iter().enumerate() {
                if columns.len() == at {
                    columns.push(Values::new((at + 1).to_string()));
                }
                columns[at].take(part);
            }
        }
        let columns = columns.into_iter().map(Values::finish).map(|column| Column { parts: None, ..column });
        Self { pattern, single, columns: columns.collect() }
    }

    /// The parts that differ between values and are numbers or categories, with their positions from 0.
    pub fn useful(&self) -> impl Iterator<Item = (usize, &Column)> {
        let is_useful = |column: &Column| {
            column.distinct > 1
                && matches!(column.kind, ColumnKind::Integer | ColumnKind::Float | ColumnKind::Category)
        };
        self.columns.iter().enumerate().filter(move |(_, column)| is_useful(column))
    }
}
