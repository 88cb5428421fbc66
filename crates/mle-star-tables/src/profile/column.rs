//! Profiles one column, cell by cell.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use super::{Column, ColumnKind, HUGE};
use crate::dates::{begins_with_day, is_date};
use crate::missing::{Words, is_missing};

/// Number of distinct values kept as text. Further ones are only counted.
const KEPT: usize = 2_000;
/// Number of their bytes.
const KEPT_BYTES: usize = 4 << 20;

/// A column with more texts than this, and more than five percent of its cells, does not hold numbers.
const FEW_TEXTS: usize = 20;

/// Between greater whole numbers, floats leave some out.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

const BOOLEANS: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["n", "y"], ["f", "t"]];

type FastHasher = BuildHasherDefault<DefaultHasher>;

/// The state of a column's profile.
pub(crate) struct Values {
    name: String,
    words: Words,
    keeps_long: bool,
    missing: usize,
    blank: usize,
    seen: usize,
    integers: usize,
    numbers: usize,
    range: Option<(f64, f64)>,
    sum: f64,
    padded: usize,
    huge: usize,
    day_first: bool,
    characters: usize,
    text_words: usize,
    kept_bytes: usize,
    counts: HashMap<String, usize, FastHasher>,
    further: HashSet<u64, FastHasher>,
}

impl Values {
    /// A column without cells.
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            words: Words::default(),
            keeps_long: false,
            missing: 0,
            blank: 0,
            seen: 0,
            integers: 0,
            numbers: 0,
            range: None,
            sum: 0.0,
            padded: 0,
            huge: 0,
            day_first: false,
            characters: 0,
            text_words: 0,
            kept_bytes: 0,
            counts: HashMap::default(),
            further: HashSet::default(),
        }
    }

    /// The same column, in which these words are values.
    pub(crate) fn keeping(self, words: Words) -> Self {
        Self { words, ..self }
    }

    /// The same column, in which numbers too long for a float stay numbers.
    pub(crate) fn keeping_long(self, keeps_long: bool) -> Self {
        Self { keeps_long, ..self }
    }

    /// Adds one cell.
    pub(crate) fn take(&mut self, cell: &str) {
        let value = cell.trim();
        if is_missing(value, self.words) {
            self.missing += 1;
            self.blank += usize::from(value.len() < cell.len());
            return;
        }
        self.seen += 1;
        self.padded += usize::from(value.len() < cell.len());
        self.take_number(value);
        self.characters += if value.is_ascii() { value.len() } else { value.chars().count() };
        if self.numbers < self.seen {
            self.day_first |= begins_with_day(value);
            self.text_words += value.split_ascii_whitespace().count();
        }
        if let Some(count) = self.counts.get_mut(value) {
            *count += 1;
        } else if self.counts.len() < KEPT && self.kept_bytes + value.len() <= KEPT_BYTES {
            self.kept_bytes += value.len();
            self.counts.insert(value.to_owned(), 1);
        } else {
            self.further.insert(FastHasher::default().hash_one(value));
        }
    }

    fn take_number(&mut self, value: &str) {
        // With many texts among its first values, a column is not numeric; parsing the rest would be wasted time.
        if self.seen - self.numbers > 1 + FEW_TEXTS.max(self.seen / 20) {
            return;
        }
        let Ok(number) = value.parse::<f64>() else { return };
        self.numbers += 1;
        self.integers += usize::from(is_integer(value));
        // A comparison with a number that is missing counts as false.
        self.huge += usize::from(number.abs() >= HUGE);
        if number.is_finite() {
            let (low, high) = self.range.unwrap_or((number, number));
            self.range = Some((low.min(number), high.max(number)));
            self.sum += number;
        }
    }

    /// The profile after the last cell, without parts.
    pub(crate) fn finish(self) -> Column {
        let long = !self.keeps_long && self.is_long();
        let kind = if long { ColumnKind::Category } else { self.kind() };
        let numeric = kind.is_number();
        let nearly_numbers = match kind {
            ColumnKind::Category => !long && self.numbers * 20 >= self.seen * 19,
            _ => numeric && self.blank > 0,
        };
        let distinct = self.counts.len() + self.further.len();
        let rarest = self.counts.values().min().filter(|_| self.further.is_empty());
        let rarest = rarest.map_or(0.0, |rows| *rows as f64 / self.seen as f64);
        let respelled = self.is_respelled(kind);
        let scattered = kind == ColumnKind::Integer && self.is_scattered();
        let mut top: Vec<(String, usize)> = self.counts.into_iter().collect();
        top.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        top.truncate(10);
        Column {
            name: self.name,
            words: self.words,
            kind,
            missing: self.missing,
            distinct,
            top_values: top,
            rarest,
            range: if numeric { self.range } else { None },
            mean: if numeric { self.range.map(|_| self.sum / self.seen as f64) } else { None },
            mean_length: mean(self.characters, self.seen),
            padded: self.padded,
            huge: if numeric || nearly_numbers { self.huge } else { 0 },
            nearly_numbers,
            respelled,
            long,
            scattered,
            day_first: kind == ColumnKind::Date && self.day_first,
            parts: None,
        }
    }

    /// The values that are kept, in the order of texts, and whether most of all values occur several times.
    pub(super) fn kept(&self) -> (Vec<String>, bool) {
        let mut values: Vec<String> = self.counts.keys().cloned().collect();
        values.sort_unstable();
        (values, (self.counts.len() + self.further.len()) * 2 < self.seen)
    }

    fn kind(&self) -> ColumnKind {
        if self.seen == 0 {
            ColumnKind::Empty
        } else if self.integers == self.seen {
            ColumnKind::Integer
        } else if self.numbers == self.seen {
            ColumnKind::Float
        } else if self.is_boolean() {
            ColumnKind::Boolean
        } else if !self.counts.is_empty() && self.counts.keys().all(|value| is_date(value)) {
            ColumnKind::Date
        } else if self.is_text() {
            ColumnKind::Text
        } else {
            ColumnKind::Category
        }
    }

    /// Whether pandas would write a value in another way, although no other value means the same.
    fn is_respelled(&self, kind: ColumnKind) -> bool {
        let written: HashSet<String> = self.counts.keys().map(|value| written(value, kind)).collect();
        written.len() == self.counts.len() && self.counts.keys().any(|value| !written.contains(value))
    }

    /// Whether the numbers are whole ones of which several would become others as floats.
    fn is_long(&self) -> bool {
        let is_number = |value: &&String| value.parse::<f64>().is_ok();
        let is_whole = |value: &String| value.bytes().all(|letter| letter.is_ascii_digit() || letter == b'-');
        let is_inexact = |value: &&String| {
            value.len() > 15 && value.parse::<f64>().is_ok_and(|number| format!("{number:.0}") != **value)
        };
        self.numbers * 20 >= self.seen * 19
            && self.range.is_some_and(|(low, high)| high.max(-low) >= MOST_EXACT)
            && self.counts.keys().filter(is_number).all(is_whole)
            && self.counts.keys().filter(is_inexact).take(2).count() == 2
    }

    /// Whether most whole numbers between the first and the third quartile are left out.
    fn is_scattered(&self) -> bool {
        let number = |(value, count): (&String, &usize)| Some((value.parse::<i64>().ok()?, *count));
        let mut counts: Vec<(i64, usize)> = self.counts.iter().filter_map(number).collect();
        counts.sort_unstable();
        let rows: usize = counts.iter().map(|(_, count)| count).sum();
        let mut before = 0;
        let middle = counts.iter().filter(|(_, count)| {
            before += count;
            (rows..=rows * 3).contains(&((before - count / 2) * 4))
        });
        let middle: Vec<i64> = middle.map(|(value, _)| *value).collect();
        let (Some(low), Some(high)) = (middle.first(), middle.last()) else { return false };
        // Numbers that all are multiples of a thousand leave out none.
        let step = middle.iter().fold(0, |step, value| divisor(step, value.abs_diff(*low))).max(1);
        // Of the values beyond those that are kept, as many are in the middle.
        let values = middle.len() * (self.counts.len() + self.further.len()) / self.counts.len();
        (high.abs_diff(*low) / step) as f64 > 10.0 * values as f64
    }

    fn is_boolean(&self) -> bool {
        if !self.further.is_empty() {
            return false;
        }
        let lower: Vec<String> = self.counts.keys().take(3).map(|value| value.to_lowercase()).collect();
        let pair = |pair: &[&str; 2]| lower.iter().all(|value| pair.contains(&value.as_str()));
        let whole_words = || lower.iter().all(|value| value.len() > 1);
        (lower.len() == 2 || whole_words()) && lower.len() <= 2 && BOOLEANS.iter().any(pair)
    }

    /// Whether the values are sentences or long texts that seldom repeat.
    fn is_text(&self) -> bool {
        let distinct = self.counts.len() + self.further.len();
        let wordy = mean(self.text_words, self.seen) >= 3.0 || mean(self.characters, self.seen) >= 60.0;
        wordy && (distinct * 5 > self.seen || distinct > 1_000)
    }
}

fn is_integer(value: &str) -> bool {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    !digits.is_empty() && digits.len() <= 19 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A value as pandas would write it after reading it, up to the exponents of very large and very small numbers.
fn written(value: &str, kind: ColumnKind) -> String {
    let number = match kind {
        ColumnKind::Integer => value.parse::<i64>().ok().map(|number| number.to_string()),
        ColumnKind::Float => value.parse::<f64>().ok().map(|number| format!("{number:?}")),
        ColumnKind::Boolean => match value.to_ascii_lowercase().as_str() {
            "true" => Some("True".to_owned()),
            "false" => Some("False".to_owned()),
            _ => None,
        },
        _ => None,
    };
    number.unwrap_or_else(|| value.to_owned())
}

/// The greatest common divisor.
fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[expect(clippy::cast_precision_loss, reason = "counts of cells are far below 2^52")]
fn mean(total: usize, count: usize) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 }
}
