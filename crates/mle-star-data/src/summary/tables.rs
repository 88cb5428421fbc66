//! Reads the training and the test table as scripts see them: held-out rows are rows of the test table, without labels.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _};
use std::io;

use csv::ByteRecord;

use super::Asked;
use super::column::{Facts, Watched};
use super::target::Labels;
use crate::folder::{Listing, Source};
use crate::holdout::Plan;
use crate::profile::{Column, Profile, ROWS_LOOKED_AT, Table};
use crate::records::{self, Records, digest, value};

/// Rows that are shown.
const FIRST_ROWS: usize = 5;
/// Of a cell that is shown, at most this many bytes are kept.
const KEPT: usize = 400;

type FastHasher = BuildHasherDefault<DefaultHasher>;
/// Digests of values, and in how many rows each occurs.
pub(super) type Counts = HashMap<u64, usize, FastHasher>;

/// What the training and the test table hold.
pub(super) struct TableFacts {
    pub(super) train: SideFacts,
    pub(super) test: Option<SideFacts>,
    /// For each column, sampled test rows with a value that no training row has, and those with any value; `None` if
    /// the column has no levels.
    pub(super) unseen: Vec<Option<(usize, usize)>>,
    pub(super) labels: Vec<Labels>,
    /// The first training rows, with all columns.
    pub(super) first_rows: Vec<Vec<String>>,
}

/// What one table holds.
pub(super) struct SideFacts {
    pub(super) rows: u64,
    /// Rows from which columns are described.
    pub(super) sampled: usize,
    /// In the order of the columns asked for; `None` if the table lacks the column.
    pub(super) columns: Vec<Option<Facts>>,
    pub(super) keys: Vec<Keys>,
}

/// The values of key columns in the sampled rows.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    columns: Vec<String>,
    at: Vec<usize>,
    pub(super) counts: Counts,
    /// Sampled rows, with or without a key.
    pub(super) rows: usize,
}

/// A table while it is read.
struct Side {
    rows: u64,
    sampled: usize,
    sample: Sample,
    watched: Vec<Watched>,
    keys: Vec<Keys>,
}

/// Rows spread over a whole table.
#[derive(Clone, Copy)]
struct Sample {
    below: u64,
}

/// Test values that no training row has had so far.
struct Unknown {
    column: String,
    at: Option<usize>,
    values: Counts,
    /// Sampled test rows with a value.
    rows: usize,
}

/// Reads both tables. `keys` are the key columns of auxiliary tables.
///
/// # Errors
/// A table cannot be read.
pub(super) fn read(
    asked: &Asked<'_>,
    profile: &Profile,
    listing: &Listing,
    columns: &[&Column],
    keys: &[Vec<String>],
) -> io::Result<TableFacts> {
    let train = listing.train.as_ref().ok_or_else(|| io::Error::other("there is no training table"))?;
    let mut test = match (&profile.test, &listing.test) {
        (Some(table), Some(source)) => {
            Some(read_test(asked, (&profile.train, table), (train, source), columns, keys)?)
        }
        _ => None,
    };
    let mut unknown: Vec<Option<Unknown>> = match &mut test {
        Some(test) => {
            columns.iter().zip(&mut test.watched).map(|(one, seen)| Unknown::new(one, seen)).collect()
        }
        None => columns.iter().map(|_| None).collect(),
    };
    let mut labels: Vec<Labels> = asked.targets(profile).into_iter().map(Labels::new).collect();
    let rows = (profile.train.rows as u64).saturating_sub(asked.held_out.map_or(0, Plan::rows));
    let mut side = Side::new(rows, columns.iter().map(|column| Watched::new(column)).collect(), keys);
    let mut first_rows = Vec::new();
    records::read(asked.data_dir, train, |mut rows| {
        unknown.iter_mut().flatten().for_each(|unknown| unknown.at = rows.find(&unknown.column));
        labels.iter_mut().for_each(|labels| labels.find_in(&rows));
        side.read(
            &mut rows,
            |row| !asked.is_held(row),
            |row, is_sampled| {
                unknown.iter_mut().flatten().for_each(|unknown| unknown.strike(row));
                labels.iter_mut().for_each(|labels| labels.take(row, is_sampled));
                if first_rows.len() < FIRST_ROWS {
                    first_rows.push(row.iter().map(beginning).collect());
                }
            },
        )
    })?;
    let unseen = unknown.into_iter().map(|unknown| unknown.map(|unknown| unknown.share())).collect();
    Ok(TableFacts { train: side.facts(), test: test.map(Side::facts), unseen, labels, first_rows })
}

/// Reads the rows of the test table, and those of the training table that are held out.
fn read_test(
    asked: &Asked<'_>,
    tables: (&Table, &Table),
    (train, test): (&Source, &Source),
    columns: &[&Column],
    keys: &[Vec<String>],
) -> io::Result<Side> {
    let held = asked.held_out.map_or(0, Plan::rows);
    let watched = columns.iter().map(|column| Watched::in_test(column, tables)).collect();
    let mut side = Side::new(tables.1.rows as u64 + held, watched, keys);
    records::read(asked.data_dir, test, |mut rows| side.read(&mut rows, |_| true, |_, _| ()))?;
    if held > 0 {
        let is_held = |row| asked.is_held(row);
        records::read(asked.data_dir, train, |mut rows| side.read(&mut rows, is_held, |_, _| ()))?;
    }
    Ok(side)
}

/// The beginning of a cell as text.
fn beginning(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.get(..KEPT).unwrap_or(cell)).into_owned()
}

impl Side {
    fn new(rows: u64, watched: Vec<Watched>, keys: &[Vec<String>]) -> Self {
        let keys = keys.iter().map(|columns| Keys::new(columns.clone())).collect();
        Self { rows: 0, sampled: 0, sample: Sample::of(rows), watched, keys }
    }

    /// Adds the rows that `is_mine` selects and passes them to `take`, with whether they are in the sample.
    fn read(
        &mut self,
        rows: &mut Records<'_>,
        is_mine: impl Fn(u64) -> bool,
        mut take: impl FnMut(&ByteRecord, bool),
    ) -> io::Result<()> {
        self.watched.iter_mut().for_each(|watched| watched.find_in(rows));
        self.keys.iter_mut().for_each(|keys| keys.find_in(rows));
        while rows.next()? {
            if !is_mine(rows.number()) {
                continue;
            }
            let is_sampled = self.sample.has(self.rows);
            self.rows += 1;
            if is_sampled {
                self.sampled += 1;
                self.watched.iter_mut().for_each(|watched| watched.take(rows.row()));
                self.keys.iter_mut().for_each(|keys| keys.take(rows.row()));
            }
            take(rows.row(), is_sampled);
        }
        Ok(())
    }

    fn facts(self) -> SideFacts {
        let columns = self.watched.into_iter().map(Watched::facts).collect();
        SideFacts { rows: self.rows, sampled: self.sampled, columns, keys: self.keys }
    }
}

impl Sample {
    /// All rows, or about as many as profiles look at.
    fn of(rows: u64) -> Self {
        let most = ROWS_LOOKED_AT as u64;
        Self { below: if rows <= most { u64::MAX } else { u64::MAX / rows * most } }
    }

    /// Multiples of the golden ratio are spread evenly and have no period.
    fn has(self, row: u64) -> bool {
        row.wrapping_mul(0x9E37_79B9_7F4A_7C15) <= self.below
    }
}

impl Keys {
    /// The values of these columns.
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self { columns, at: Vec::new(), counts: Counts::default(), rows: 0 }
    }

    pub(super) fn find_in(&mut self, rows: &Records<'_>) {
        self.at = self.columns.iter().filter_map(|column| rows.find(column)).collect();
    }

    /// The digest of a row's key; `None` if a part of it is missing.
    pub(super) fn of(&self, row: &ByteRecord) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        for at in &self.at {
            value(row, *at)?.hash(&mut hasher);
        }
        (self.at.len() == self.columns.len()).then(|| hasher.finish())
    }

    fn take(&mut self, row: &ByteRecord) {
        self.rows += 1;
        if let Some(key) = self.of(row) {
            *self.counts.entry(key).or_default() += 1;
        }
    }
}

impl Unknown {
    fn new(column: &Column, watched: &mut Watched) -> Option<Self> {
        let values = watched.levels.take()?;
        let rows = values.values().sum();
        Some(Self { column: column.name.clone(), at: None, values, rows })
    }

    /// Removes the value of a training row.
    fn strike(&mut self, row: &ByteRecord) {
        if let Some(at) = self.at.filter(|_| !self.values.is_empty())
            && let Some(value) = value(row, at)
        {
            self.values.remove(&digest(value));
        }
    }

    fn share(&self) -> (usize, usize) {
        (self.values.values().sum(), self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_no_period() {
        let sample = Sample::of(3_000_000);
        let taken: Vec<u64> = (0..3_000_000).filter(|row| sample.has(*row)).collect();
        assert!(taken.len().abs_diff(ROWS_LOOKED_AT) < 100, "{}", taken.len());
        for period in [7, 30, 365, 1_000] {
            let first = taken.iter().filter(|row| *row % period == 0).count() as u64;
            let expected = ROWS_LOOKED_AT as u64 / period;
            assert!(first.abs_diff(expected) <= expected / 10 + 10, "{period}: {first}");
        }
        assert!((0..100).all(|row| Sample::of(100).has(row)));
    }
}
