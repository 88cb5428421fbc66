//! Finds the columns that name series: rows of the same store, sensor or person at different times.
//!
//! A series has at most one row at a time. [`columns`] therefore looks for a column, or up to three, whose values meet the same
//! time again far less often than values that have nothing to do with time. It looks at the first rows of both tables.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::column_names::{says_key, says_time};
use crate::keys::{is_nameable, same_type};
use crate::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT};
use crate::records::digest;
use crate::table::Table;

/// With fewer rows of a series, no model learns from earlier targets before it is validated: two times are for fitting, one
/// is for validation.
const FEWEST_ROWS: usize = 3;
/// Every candidate costs time and memory, so only the most promising columns are some.
const MOST_CANDIDATES: usize = 24;
/// Only the most promising candidates are tried together.
const MOST_TOGETHER: usize = 6;
/// With fewer pairs of rows that meet by chance, meeting less often may be chance as well.
const FEWEST_MEETINGS: f64 = 20.0;

/// The first rows of a table: a digest of each candidate's value and of the time.
struct Rows {
    candidates: Vec<Vec<u64>>,
    times: Vec<u64>,
}

/// The column, or the two or three columns together, that name the series of rows whose times are in the column `time`; nothing if there are no
/// series, if most test rows belong to other series, or if a table cannot be read. `taken` columns have another role.
pub fn columns(profile: &Profile, time: &str, taken: impl Fn(&str) -> bool) -> Vec<String> {
    let candidates = candidates(profile, |name| name == time || taken(name));
    if candidates.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = candidates.iter().map(|column| column.name.as_str()).collect();
    let read = |table: io::Result<&Table>| Rows::read(table?, &names, time);
    let (Ok(train), Ok(test)) = (read(profile.tables.train()), read(profile.tables.test())) else {
        return Vec::new();
    };
    let is_whole = profile.train.rows <= ROWS_LOOKED_AT;
    let fits = |set: &[usize]| {
        let (train_keys, test_keys) = (train.keys(set), test.keys(set));
        let named = set.iter().all(|at| says_key(names[*at]));
        let series = is_series(&train_keys, &train.times, named)?;
        (!is_whole || are_known(&test_keys, &train_keys)).then_some(series)
    };
    let single = (0..names.len()).map(|at| vec![at]);
    let most = names.len().min(MOST_TOGETHER);
    let pairs = (0..most).flat_map(|at| (at + 1..most).map(move |other| vec![at, other]));
    let triples =
        pairs.clone().flat_map(|pair| (pair[1] + 1..most).map(move |at| vec![pair[0], pair[1], at]));
    // The widest series have the most history.
    let widest = |sets: &mut dyn Iterator<Item = Vec<usize>>| {
        sets.filter_map(|set| Some((fits(&set)?, set))).min_by_key(|(series, _)| *series)
    };
    let found = widest(&mut single.into_iter())
        .or_else(|| widest(&mut pairs.into_iter()))
        .or_else(|| widest(&mut triples.into_iter()));
    found.map_or_else(Vec::new, |(_, set)| set.into_iter().map(|at| names[at].to_owned()).collect())
}

/// Columns of both tables whose values can name series, the most promising first.
fn candidates(profile: &Profile, taken: impl Fn(&str) -> bool) -> Vec<&Column> {
    let (train, Some(test)) = (&profile.train, &profile.test) else { return Vec::new() };
    let looked = train.rows.min(ROWS_LOOKED_AT);
    let is_new = |name: &str| profile.groups.iter().any(|groups| groups.column == name);
    let is_candidate = |column: &&Column| {
        let nameable = is_nameable(column) && !matches!(column.kind, ColumnKind::Date | ColumnKind::Empty);
        let repeats = column.distinct > 1 && column.distinct * FEWEST_ROWS <= looked;
        let twin = test.column(&column.name).is_some_and(|twin| same_type(column, twin));
        let free = !taken(&column.name) && !says_time(&column.name) && !is_new(&column.name);
        nameable && repeats && twin && free && column.missing == 0
    };
    let mut found: Vec<&Column> = train.columns.iter().filter(is_candidate).collect();
    found.sort_by_key(|column| (!says_key(&column.name), column.kind.is_number()));
    found.truncate(MOST_CANDIDATES);
    found
}

impl Rows {
    fn read(table: &Table, names: &[&str], time: &str) -> io::Result<Self> {
        let columns = table.positions(std::iter::once(time).chain(names.iter().copied()))?;
        let mut read = Self { candidates: vec![Vec::new(); names.len()], times: Vec::new() };
        table.each(&columns, |row| {
            // Rows without a time belong to no history.
            if let Some(moment) = row.value(0) {
                read.times.push(digest(&moment));
                for (at, column) in read.candidates.iter_mut().enumerate() {
                    column.push(digest(&row.value(at + 1)));
                }
            }
            read.times.len() < ROWS_LOOKED_AT
        })?;
        Ok(read)
    }

    /// A digest of these candidates' values for each row.
    fn keys(&self, set: &[usize]) -> Vec<u64> {
        let key = |row: usize| digest(&set.iter().map(|at| self.candidates[*at][row]).collect::<Vec<_>>());
        (0..self.times.len()).map(key).collect()
    }
}

/// The number of series if the keys name series. If hardly any two rows have the same time, only the name of a column
/// shows that.
fn is_series(keys: &[u64], times: &[u64], named: bool) -> Option<usize> {
    let (series, most) = counts(keys.iter());
    let (_, at_times) = counts(times.iter());
    let (cells, meetings) = counts(keys.iter().zip(times));
    let rows = keys.len() as f64;
    let by_chance = most * at_times / (rows * (rows - 1.0) / 2.0).max(1.0);
    let rarely = match by_chance < FEWEST_MEETINGS {
        true => named && meetings <= by_chance,
        false => meetings * 4.0 <= by_chance,
    };
    (series > 1 && cells >= series * FEWEST_ROWS && rarely).then_some(series)
}

/// The number of different items, and that of pairs of equal ones.
fn counts<T: Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> (usize, f64) {
    let mut counts: HashMap<T, f64> = HashMap::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1.0);
    (counts.len(), counts.values().map(|count| count * (count - 1.0) / 2.0).sum())
}

/// Whether most of the test table's keys are in the training table.
fn are_known(test: &[u64], train: &[u64]) -> bool {
    let known: HashSet<&u64> = train.iter().collect();
    test.iter().filter(|key| known.contains(key)).count() * 2 > test.len()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::profile;

    /// The cells of a row.
    type Cells = fn(usize) -> String;

    fn found(header: &str, train: Cells, test: Cells) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let table = |cells: Cells, rows: std::ops::Range<usize>| {
            rows.fold(format!("{header}\n"), |text, row| format!("{text}{}\n", cells(row)))
        };
        fs::write(dir.path().join("train.csv"), table(train, 0..600)).unwrap();
        fs::write(dir.path().join("test.csv"), table(test, 600..660)).unwrap();
        let read = profile::read(dir.path()).unwrap();
        columns(&read, "day", |name| name == "id")
    }

    /// A number that has nothing to do with others.
    fn drawn(row: usize, below: usize) -> usize {
        usize::try_from(digest(&(row, below)) % below as u64).unwrap()
    }

    #[test]
    fn series_meet_each_time_once() {
        let check = |header: &str, cells: Cells, expected: &[&str]| {
            assert_eq!(found(header, cells, cells), expected, "{header}");
        };
        // Twelve stores by day, beside other columns.
        check(
            "id,day,store,customers,open",
            |row| {
                format!(
                    "{row},2024-{:02}-{:02},s{},{},{}",
                    row / 336 + 1,
                    row / 12 % 28 + 1,
                    row % 12,
                    drawn(row, 90),
                    drawn(row, 2)
                )
            },
            &["store"],
        );
        // Days that a store lacks, and a few rows twice.
        check(
            "day,x",
            |row| {
                let place = (row % 5).saturating_sub(usize::from(row % 70 == 1));
                format!("{},k{}", row / 5, place * 3 + drawn(row / 5 * 5 + place, 3))
            },
            &["x"],
        );
        // Two columns together.
        check(
            "day,town,product",
            |row| format!("{},t{},{}", row / 12, row % 3, row / 3 % 4),
            &["town", "product"],
        );
        // Three rows of each, and the latest in the test table.
        check("day,person", |row| format!("{},p{}", row / 200, row % 200), &["person"]);
        // The time of each row is its own.
    }
}
