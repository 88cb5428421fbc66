//! The parts that codes such as `B/45/P`, `C85` and `AHJDF` are made of, and numbers with a unit such as `36 months`.

use std::collections::HashSet;

use serde::Deserialize;

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
/// So are numbers with a unit.
const FEWEST_NUMBERS: usize = 5;
/// What may stand before a number with a unit.
const BEFORE: [char; 12] =
    ['<', '>', '~', '\u{2264}', '\u{2265}', '$', '\u{20ac}', '\u{a3}', '\u{a5}', '\u{20b9}', ' ', '+'];
/// A number, perhaps with commas between thousands (`1,234`, `12,34,567`), and what follows it.
const MEASURED: &str = "^[<>~\u{2264}\u{2265}$\u{20ac}\u{a3}\u{a5}\u{20b9} +]*(-?(?:[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:[.][0-9]+)?|[0-9]*[.]?[0-9]+))([^0-9]*)$";

/// The parts that most values of a column have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Parts {
    /// A regular expression with a group for each part.
    pub pattern: String,
    /// What the parts are.
    pub kind: PartKind,
    /// The number of values that were considered.
    pub values: usize,
    /// The profiles of the parts, with numbers from 1 as names, or `number` and `unit`.
    pub columns: Vec<Column>,
}

/// What the parts of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// Numbers and words: `B/45/P`, `C85`.
    Fields,
    /// Single letters and digits.
    Letters,
    /// A number and its unit: `36 months`, `$1,200`.
    Measured,
}

/// The profile of a column with the parts of its values.
pub(super) fn with_parts(values: Values) -> Column {
    let (kept, repeat) = values.kept();
    let column = values.finish();
    let may_have = column.kind == ColumnKind::Category && !column.nearly_numbers && !column.long;
    let kept: Vec<&str> = kept.iter().filter(|_| may_have).map(String::as_str).collect();
    Column { parts: if may_have { parts(&kept, repeat) } else { None }, ..column }
}

/// The parts of these values, if most are made alike; `repeat` says whether most of them occur several times.
fn parts(values: &[&str], repeat: bool) -> Option<Parts> {
    if let Some(measured) = measured(values) {
        return Some(measured);
    }
    if values.len() < FEWEST {
        return None;
    }
    let separated = SEPARATORS.iter().find_map(|separator| separated(values, *separator));
    let with_words = separated.or_else(|| worded(values));
    with_words.or_else(|| lettered(values).filter(|_| !repeat)).or_else(|| first_word(values))
}

/// The values that fit, if most do; the others have no parts.
fn most<'a>(values: &[&'a str], fits: impl Fn(&str) -> bool) -> Option<Vec<&'a str>> {
    let found: Vec<&str> = values.iter().copied().filter(|value| fits(value)).collect();
    (found.len() * 10 >= values.len() * 9).then_some(found)
}

/// Numbers with a unit, perhaps after a sign of a currency. Some values may be words.
fn measured(values: &[&str]) -> Option<Parts> {
    let numbers: Vec<&str> =
        values.iter().copied().filter(|value| number_and_unit(value).is_some()).collect();
    let enough = values.len() >= FEWEST_NUMBERS && numbers.len() * 20 >= values.len() * 19;
    enough.then(|| {
        Parts::new(MEASURED.to_owned(), PartKind::Measured, &numbers, |value| {
            let (number, unit) = number_and_unit(value).unwrap_or_default();
            vec![number, unit]
        })
    })
}

/// The number and its unit, as [`MEASURED`] finds them.
fn number_and_unit(value: &str) -> Option<(&str, &str)> {
    let number = value.trim_start_matches(BEFORE);
    let at = number.rfind(|letter: char| letter.is_ascii_digit())? + 1;
    let (number, unit) = number.split_at(at);
    let digits = number.strip_prefix('-').unwrap_or(number);
    let whole = digits.rsplit_once('.').map_or(digits, |(whole, _)| whole);
    let fraction = digits.get(whole.len() + 1..).unwrap_or_default();
    ((is_plain(whole) || is_grouped(whole)) && is_plain(fraction)).then_some((number, unit))
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_digit())
}

/// Whether this is a whole number with commas between thousands; the comma of `2,5` is none.
fn is_grouped(whole: &str) -> bool {
    let Some((first, rest)) = whole.split_once(',') else { return false };
    let mut groups = rest.rsplit(',');
    is_plain(&whole.replace(',', ""))
        && (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && groups.next().is_some_and(|last| last.len() == 3)
        && groups.all(|group| (2..=3).contains(&group.len()))
}

/// The part without commas between thousands.
fn without_commas(part: &str) -> String {
    let digits = part.strip_prefix('-').unwrap_or(part);
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    if is_grouped(whole) { part.replace(',', "") } else { part.to_owned() }
}

/// Fields with a separator between them.
fn separated(values: &[&str], separator: char) -> Option<Parts> {
    let mut counts: Vec<usize> = values.iter().map(|value| value.split(separator).count()).collect();
    counts.sort_unstable();
    let count = *counts.get(counts.len() / 2)?;
    if !(2..=MOST_PARTS).contains(&count) {
        return None;
    }
    let values = most(values, |value| value.split(separator).count() == count)?;
    // In brackets, these separators have no other meaning.
    let pattern = format!("^{}$", vec![format!("([^{separator}]*)"); count].join(&format!("[{separator}]")));
    Some(Parts::new(pattern, PartKind::Fields, &values, |value| value.split(separator).collect()))
}

/// Letters and a number.
fn worded(values: &[&str]) -> Option<Parts> {
    let cut = |value: &str| value.find(|letter: char| letter.is_ascii_digit()).unwrap_or(value.len());
    let is_word = |value: &str| {
        let (word, number) = value.split_at(cut(value));
        (1..=4).contains(&word.len())
            && word.bytes().all(|letter| letter.is_ascii_alphabetic())
            && (1..=8).contains(&number.len())
            && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    let values = most(values, is_word)?;
    Some(Parts::new("^([A-Za-z]+)([0-9]+)$".to_owned(), PartKind::Fields, &values, |value| {
        let (word, number) = value.split_at(cut(value));
        vec![word, number]
    }))
}

/// The first word of several, such as the maker in `Ford Focus Turnier`, if it repeats.
fn first_word(values: &[&str]) -> Option<Parts> {
    let cut = |value: &str| value.find(' ').unwrap_or(value.len());
    let (mut firsts, mut several) = (HashSet::new(), 0);
    for value in values {
        firsts.insert(&value[..cut(value)]);
        several += usize::from(value.contains(' '));
    }
    let repeats = firsts.len() * 3 <= values.len() && several * 2 >= values.len();
    repeats.then(|| {
        Parts::new("^([^ ]+)( .*)?$".to_owned(), PartKind::Fields, values, |value| {
            let (first, rest) = value.split_at(cut(value));
            vec![first, rest]
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
        Parts::new(pattern, PartKind::Letters, values, |value| {
            (0..value.len()).map(|at| &value[at..=at]).collect()
        })
    })
}

impl Parts {
    fn new(pattern: String, kind: PartKind, values: &[&str], cut: impl Fn(&str) -> Vec<&str>) -> Self {
        let mut columns: Vec<Values> = Vec::new();
        for value in values {
            for (at, part) in cut(value).into_iter().enumerate() {
                if columns.len() == at {
                    columns.push(Values::new(kind.name(at)));
                }
                columns[at].take(&without_commas(part));
            }
        }
        let columns = columns.into_iter().map(Values::finish);
        Self { pattern, kind, values: values.len(), columns: columns.collect() }
    }

    /// The parts that differ between values and are numbers or categories, with their positions from 0.
    pub fn useful(&self) -> impl Iterator<Item = (usize, &Column)> {
        let is_useful = |column: &Column| {
            let kind = column.kind;
            column.distinct > 1
                && (kind.is_number() || matches!(kind, ColumnKind::Category | ColumnKind::Boolean))
        };
        self.columns.iter().enumerate().filter(move |(_, column)| is_useful(column))
    }
}

impl PartKind {
    /// The name of the part at this position.
    fn name(self, at: usize) -> String {
        match (self, at) {
            (Self::Measured, 0) => "number".to_owned(),
            (Self::Measured, _) => "unit".to_owned(),
            _ => (at + 1).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PartKind::{Fields, Letters, Measured};

    #[test]
    fn values_that_are_made_alike_have_parts() {
        let check = |value: &dyn Fn(usize) -> String, expected: Option<(PartKind, &[&str])>| {
            let values: Vec<String> = (0..40).map(value).collect();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let found = parts(&values, false);
            let useful: Vec<&str> =
                found.iter().flat_map(Parts::useful).map(|(_, part)| part.name.as_str()).collect();
            let pattern = found.as_ref().map(|parts| regex::Regex::new(&parts.pattern).unwrap());
            assert!(
                pattern
                    .is_none_or(|pattern| values.iter().filter(|value| pattern.is_match(value)).count() >= 36)
            );
            assert_eq!(
                found.as_ref().map(|parts| (parts.kind, useful.as_slice())),
                expected,
                "{}",
                values[1]
            );
        };
        let letter = |at: usize| ["A", "B", "C"][at % 3];
        check(&|at| format!("{at:02}:{:02}", at * 7 % 60), Some((Fields, &["1", "2"])));
        check(&|at| format!("{}{at}", letter(at)), Some((Fields, &["1", "2"])));
        check(
            &|at| format!("{}{}{}QX{at:02}", letter(at), letter(at / 3), letter(at / 9)),
            Some((Letters, &["1", "2", "3", "6", "7"])),
        );
        check(&|at| format!("{at} months"), Some((Measured, &["number"])));
        check(&|at| format!("${at},{:03}.25", at * 7), Some((Measured, &["number"])));
        check(
            &|at| if at == 3 { "unknown".to_owned() } else { format!("{at}+ years") },
            Some((Measured, &["number"])),
        );
        check(&|at| ["red", "green", "blue"][at % 3].repeat(at + 1), None);
        // Some have another form.
        check(
            &|at| if at % 13 == 5 { "C23 C25".to_owned() } else { format!("{}{at}", letter(at)) },
            Some((Fields, &["1", "2"])),
        );
        // The rest has no number of words.
        check(
            &|at| format!("{} model{}{at}", ["Ford", "Opel", "Kia"][at % 3], " x".repeat(at % 4)),
            Some((Fields, &["1", "2"])),
        );
    }
}
