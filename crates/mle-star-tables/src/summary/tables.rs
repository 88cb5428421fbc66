//! Reads the training and the test table as scripts see them: held-out rows are rows of the test table, without labels.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use csv::ByteRecord;

use super::Asked;
use super::column::{Counts, Facts, Watched};
use super::target::Labels;
use crate::missing::Words;
use crate::profile::{Column, Profile, ROWS_LOOKED_AT, Table};
use crate::records::{digest, value};
use crate::table::{self, Row};

/// Rows that are shown.
const FIRST_ROWS: usize = 5;
/// Of a cell that is shown, at most this many bytes are kept.
const KEPT: usize = 400;

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
    at: Vec<(usize, Words)>,
    pub(super) counts: Counts,
    /// Sampled rows, with or without a key.
    pub(super) rows: usize,
}

/// A table while its rows are looked at.
struct Side {
    rows: u64,
    sample: Vec<u64>,
    watched: Vec<Watched>,
    keys: Vec<Keys>,
}

/// Rows spread over a whole table.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    below: u64,
}

/// Test values that no training row has had so far.
struct Unknown {
    column: String,
    values: Counts,
    /// Sampled test rows with a value.
    rows: usize,
}

/// Looks at both tables. `keys` are the key columns of auxiliary tables.
///
/// # Errors
/// A table cannot be read.
pub(super) fn read(
    asked: &Asked<'_>,
    profile: &Profile,
    columns: &[&Column],
    keys: &[Vec<String>],
) -> io::Result<TableFacts> {
    let train = profile.tables.train()?;
    let mut test = match &profile.test {
        Some(table) => Some(read_test(profile, table, columns, keys)?),
        None => None,
    };
    let mut unknown: Vec<Option<Unknown>> = match &mut test {
        Some(test) => {
            columns.iter().zip(&mut test.watched).map(|(one, seen)| Unknown::new(one, seen)).collect()
        }
        None => columns.iter().map(|_| None).collect(),
    };
    // Half of the memory is free before the training table is looked at.
    let test = test.map(Side::facts);
    let mut labels: Vec<Labels> = asked.targets(profile).into_iter().map(Labels::new).collect();
    let mut shown: Vec<u64> = (0..train.rows()).take(FIRST_ROWS).collect();
    shown.sort_unstable();
    let mut first_rows = Vec::new();
    train.picked(shown, |picked| {
        while let Some((_, row)) = picked.next()? {
            first_rows.push(row.iter().map(beginning).collect());
        }
        Ok(())
    })?;
    let mut side = Side::new(columns.iter().map(|column| Watched::new(column)).collect(), keys);
    side.look(train)?;
    labels_and_levels(train, &side.sample, &mut labels, &mut unknown)?;
    let unseen = unknown.into_iter().map(|unknown| unknown.map(|unknown| unknown.share())).collect();
    Ok(TableFacts { train: side.facts(), test, unseen, labels, first_rows })
}

/// Takes the labels of all training rows, and removes their values from those that are unknown.
fn labels_and_levels(
    train: &table::Table,
    sample: &[u64],
    labels: &mut [Labels],
    unknown: &mut [Option<Unknown>],
) -> io::Result<()> {
    let mut unknown: Vec<&mut Unknown> = unknown.iter_mut().flatten().collect();
    let names =
        labels.iter().map(Labels::column).chain(unknown.iter().map(|unknown| unknown.column.as_str()));
    let columns = train.positions(names)?;
    let mut sample = sample.iter().copied().peekable();
    train.each(&columns, |row| {
        let is_sampled = sample.next_if_eq(&row.number).is_some();
        labels.iter_mut().enumerate().for_each(|(at, labels)| labels.take(row.value(at), is_sampled));
        let values = unknown.iter_mut().zip(labels.len()..);
        values.for_each(|(unknown, at)| unknown.strike(row, at));
        true
    })
}

/// Looks at the rows of the test table, and those of the training table that are held out. A held-out period stands instead of
/// the test table.
fn read_test(profile: &Profile, test: &Table, columns: &[&Column], keys: &[Vec<String>]) -> io::Result<Side> {
    let watched = columns.iter().map(|column| Watched::in_test(column, (&profile.train, test))).collect();
    let mut side = Side::new(watched, keys);
    let table = profile.tables.test()?;
    side.look(table)?;
    Ok(side)
}

/// The beginning of a cell as text.
fn beginning(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.get(..KEPT).unwrap_or(cell)).into_owned()
}

impl Side {
    fn new(watched: Vec<Watched>, keys: &[Vec<String>]) -> Self {
        let keys = keys.iter().map(|columns| Keys::new(columns.clone())).collect();
        Self { rows: 0, sample: Vec::new(), watched, keys }
    }

    /// Adds the rows of a table that `is_mine` selects. A sample of `all` rows is looked at.
    fn look(&mut self, table: &table::Table) -> io::Result<()> {
        let sample = Sample::of(table.rows(), ROWS_LOOKED_AT as u64);
        let sampled: Vec<u64> = (0..table.rows()).filter(|row| sample.has(*row)).collect();
        self.rows = table.rows();
        self.watched.iter_mut().for_each(|watched| watched.find_in(table));
        self.keys.iter_mut().for_each(|keys| keys.find_in(table));
        table.picked(sampled.clone(), |picked| {
            while let Some((_, row)) = picked.next()? {
                self.watched.iter_mut().for_each(|watched| watched.take(row));
                self.keys.iter_mut().for_each(|keys| keys.take(row));
            }
            Ok(())
        })?;
        self.sample.extend(sampled);
        Ok(())
    }

    fn facts(self) -> SideFacts {
        let columns = self.watched.into_iter().map(Watched::facts).collect();
        SideFacts { rows: self.rows, sampled: self.sample.len(), columns, keys: self.keys }
    }
}

impl Sample {
    /// All rows, or about as many as `most`.
    pub(super) fn of(rows: u64, most: u64) -> Self {
        Self { below: if rows <= most { u64::MAX } else { u64::MAX / rows * most } }
    }

    /// Multiples of the golden ratio are spread evenly and have no period.
    pub(super) fn has(self, row: u64) -> bool {
        row.wrapping_mul(0x9E37_79B9_7F4A_7C15) <= self.below
    }
}

impl Keys {
    /// The values of these columns.
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self { columns, at: Vec::new(), counts: Counts::default(), rows: 0 }
    }

    fn find_in(&mut self, table: &table::Table) {
        let at = self.columns.iter().filter_map(|column| table.find(column));
        self.at = at.map(|at| (at, table.kept(at))).collect();
    }

    /// The digest of a row's key; `None` if a part of it is missing.
    fn of(&self, row: &ByteRecord) -> Option<u64> {
        let key = self.at.iter().map(|(at, words)| value(row, *at, *words));
        digest_of_key(key).filter(|_| self.at.len() == self.columns.len())
    }

    fn take(&mut self, row: &ByteRecord) {
        self.rows += 1;
        if let Some(key) = self.of(row) {
            *self.counts.entry(key).or_default() += 1;
        }
    }
}

/// The digest of the values of a key; `None` if one is missing.
pub(super) fn digest_of_key<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for value in values {
        value?.hash(&mut hasher);
    }
    Some(hasher.finish())
}

impl Unknown {
    fn new(column: &Column, watched: &mut Watched) -> Option<Self> {
        let values = watched.levels.take()?;
        let rows = values.values().sum();
        Some(Self { column: column.name.clone(), values, rows })
    }

    /// Removes the value of a training row.
    fn strike(&mut self, row: Row<'_>, at: usize) {
        if !self.values.is_empty()
            && let Some(value) = row.value(at)
        {
            self.values.remove(&digest(value));
        }
    }

    fn share(&self) -> (usize, usize) {
        (self.values.values().sum(), self.rows)
    }
}
