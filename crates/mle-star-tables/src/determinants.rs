//! Columns from which the target follows.
//!
//! Such a column may be made from the target, or recorded after it. [`columns`] reads the training table alone, so it
//! finds only what holds in every row: [`comparison`](crate::comparison) also finds what is nearly so, with Python.

use std::collections::{BTreeSet, HashMap};
use std::io;

use super::profile::Profile;
use super::records::digest;
use super::table::Table;

/// The number of rows that are read.
const ROWS: u64 = 20_000;
/// The fewest rows that tell something.
const FEWEST: usize = 50;
/// The fewest values of a target that can be sorted by a column without chance.
const FEWEST_VALUES: usize = 12;
/// Classes have at least so many rows on average.
const ROWS_OF_CLASS: usize = 20;
/// A column is named if it would determine the target by chance less often than once in `e` to the power of this.
const UNLIKELY: f64 = 20.0;

/// A column, while no row contradicts that the target follows from it.
struct Candidate {
    name: String,
    /// The digest of the target for that of each value.
    targets: HashMap<u64, u64>,
    /// How often a value came again, with the same target.
    again: usize,
    /// Value and target, while both are numbers.
    numbers: Option<Vec<(f64, f64)>>,
}

/// The columns of the training table from which the target follows in all of its first rows: equal values have equal
/// targets, or the values sort the targets. Neither `target` nor the columns of `but` count.
///
/// # Errors
/// The table cannot be read.
pub fn columns(profile: &Profile, target: &str, but: &[&str]) -> io::Result<Vec<String>> {
    let Some(train) = &profile.tables.train else { return Ok(Vec::new()) };
    let names = profile.train.columns.iter().map(|column| column.name.as_str());
    let names: Vec<&str> = names.filter(|name| *name != target && !but.contains(name)).collect();
    determinants(train, target, &names)
}

fn determinants(train: &Table, target: &str, names: &[&str]) -> io::Result<Vec<String>> {
    let named = names.iter().filter_map(|name| Some((Candidate::new(name), train.find(name)?)));
    let (mut candidates, mut columns): (Vec<Option<Candidate>>, Vec<usize>) =
        named.map(|(candidate, at)| (Some(candidate), at)).unzip();
    columns.push(train.position(target)?);
    // The rows of each value of the target.
    let mut counts: HashMap<String, usize> = HashMap::new();
    train.each(&columns, |row| {
        let Some(target) = row.value(candidates.len()).filter(|_| row.number < ROWS) else {
            return row.number < ROWS;
        };
        *counts.entry(target.to_owned()).or_default() += 1;
        for (at, candidate) in candidates.iter_mut().enumerate() {
            let is_possible =
                |known: &mut Candidate| row.value(at).is_none_or(|value| known.take(value, target));
            if candidate.as_mut().is_some_and(|candidate| !is_possible(candidate)) {
                *candidate = None;
            }
        }
        true
    })?;
    let known = candidates.into_iter().flatten().filter(|candidate| candidate.determines(&counts));
    Ok(known.map(|candidate| candidate.name).collect())
}

impl Candidate {
    fn new(name: &str) -> Self {
        let (targets, numbers) = (HashMap::new(), Some(Vec::new()));
        Self { name: name.to_owned(), targets, again: 0, numbers }
    }

    /// Takes a row. Returns whether the target may still follow.
    fn take(&mut self, value: &str, target: &str) -> bool {
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let pair = number(value).zip(number(target));
        match (&mut self.numbers, pair) {
            (Some(numbers), Some(pair)) => numbers.push(pair),
            _ => self.numbers = None,
        }
        let (value, target) = (digest(value), digest(target));
        match self.targets.get(&value) {
            Some(known) => {
                self.again += 1;
                *known == target
            }
            None => {
                self.targets.insert(value, target);
                true
            }
        }
    }

    fn determines(&self, counts: &HashMap<String, usize>) -> bool {
        let rows: usize = counts.values().sum();
        let same = counts.values().map(|count| (*count as f64 / rows as f64).powi(2)).sum::<f64>();
        // Not by chance, and not because groups of rows share their class, or each has a number of its own.
        let are_classes = counts.len() * ROWS_OF_CLASS <= rows;
        let repeats = are_classes && self.again >= FEWEST && self.targets.len() <= 2 * counts.len();
        (repeats && -same.ln() * self.again as f64 > UNLIKELY) || self.sorts()
    }

    /// Whether the targets rise or fall with the values.
    fn sorts(&self) -> bool {
        let Some(mut pairs) = self.numbers.clone() else { return false };
        let values: BTreeSet<u64> = pairs.iter().map(|(_, target)| target.to_bits()).collect();
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        let both = || pairs.iter().zip(pairs.iter().skip(1));
        let rises = || both().all(|(one, next)| one.1 <= next.1);
        let falls = || both().all(|(one, next)| one.1 >= next.1);
        pairs.len() >= FEWEST && values.len() >= FEWEST_VALUES && (rises() || falls())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::profile;
    use crate::testing::folder;

    #[test]
    fn columns_from_which_the_target_follows_are_found() {
        let check = |words: &str, x: fn(usize) -> String, y: fn(usize) -> String, expected: bool| {
            let rows = (0..300).fold("id,x,y\n".to_owned(), |mut text, row| {
                writeln!(text, "{row},{},{}", x(row), y(row)).unwrap();
                text
            });
            let dir = folder(&[("train.csv", &rows)]);
            let profile = profile::read(dir.path()).unwrap();
            let found = columns(&profile, "y", &["id"]).unwrap();
            assert_eq!(found, if expected { vec!["x"] } else { Vec::new() }, "{words}");
        };
        let class: fn(usize) -> String = |row| (row * 7 % 5 % 2).to_string();
        let price: fn(usize) -> String = |row| (row * 7919 % 1009).to_string();
        check("the same in words", |row| ["no", "yes"][row * 7 % 5 % 2].to_owned(), class, true);
        check("in some rows", |row| if row % 3 == 0 { class_of(row) } else { String::new() }, class, true);
        check("almost", |row| if row == 299 { "0".to_owned() } else { class_of(row) }, class, false);
        check("the logarithm", |row| format!("{:.6}", ((row * 7919 % 1009) as f64).ln_1p()), price, true);
        check("a name for each row", |row| format!("n{row}"), class, false);
        check(
            "groups with one class",
            |row| format!("g{}", row / 10),
            |row| (row / 10 % 2).to_string(),
            false,
        );
        check("sorted classes", |row| row.to_string(), |row| usize::from(row > 150).to_string(), false);
    }

    fn class_of(row: usize) -> String {
        (row * 7 % 5 % 2).to_string()
    }
}
