//! How many rows of the test table have values that no row of the training table has.

use std::collections::HashMap;
use std::io;

use super::column_names::says_time;
use super::keys::same_type;
use super::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT};
use super::records::digest;
use super::table::Table;

/// Values that name things have at least so many rows on average.
const FEWEST_ROWS: usize = 2;

/// The values of a set of columns in the test table that the training table lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unseen {
    /// The share of the test rows that have them.
    pub(crate) share: f64,
    /// The share that as many training rows would have if they were drawn at random.
    pub(crate) by_chance: f64,
    /// The number of values that the training table has.
    pub(crate) known: usize,
}

/// The columns of both tables whose values may name things, and of which the test table may have other ones.
pub(crate) fn columns(profile: &Profile, taken: impl Fn(&str) -> bool) -> Vec<&Column> {
    let (train, Some(test)) = (&profile.train, &profile.test) else { return Vec::new() };
    let looked = train.rows.min(ROWS_LOOKED_AT);
    let may_have_unseen = |column: &&Column| {
        let kinds = matches!(column.kind, ColumnKind::Category | ColumnKind::Integer);
        let repeats = column.distinct > 1 && column.distinct * FEWEST_ROWS <= looked;
        let is_free = !taken(&column.name) && !says_time(&column.name);
        let twin = test.column(&column.name).filter(|twin| same_type(column, twin));
        let has_other = twin.is_some_and(|twin| twin.sketch.share_in(&column.sketch) != Some(1.0));
        kinds && repeats && is_free && has_other
    };
    train.columns.iter().filter(may_have_unseen).collect()
}

/// What the test table has of each of these sets of columns that the training table lacks.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn unseen(train: &Table, test: &Table, sets: &[Vec<&str>]) -> io::Result<Vec<Unseen>> {
    let rows = [counts(train, sets)?, counts(test, sets)?];
    let tested = test.rows() as f64 / (train.rows() + test.rows()).max(1) as f64;
    let of = |(in_train, in_test): (&HashMap<u64, u64>, &HashMap<u64, u64>)| {
        let unseen: u64 =
            in_test.iter().filter(|(value, _)| !in_train.contains_key(*value)).map(|(_, rows)| rows).sum();
        // All other rows with the value have to be drawn, too.
        let alone = in_train.values().map(|rows| *rows as f64 * tested.powf(*rows as f64 - 1.0)).sum::<f64>();
        let share = unseen as f64 / test.rows().max(1) as f64;
        Unseen { share, by_chance: alone / train.rows().max(1) as f64, known: in_train.len() }
    };
    Ok(rows[0].iter().zip(&rows[1]).map(of).collect())
}

/// For each set of columns, the number of rows with each value, by their digests. Rows that lack one are passed over.
fn counts(table: &Table, sets: &[Vec<&str>]) -> io::Result<Vec<HashMap<u64, u64>>> {
    let mut counts = vec![HashMap::new(); sets.len()];
    if sets.is_empty() {
        return Ok(counts);
    }
    let columns = table.positions(sets.iter().flatten().copied())?;
    table.each(&columns, |row| {
        let mut at = 0;
        for (set, counts) in sets.iter().zip(&mut counts) {
            let values: Option<Vec<&str>> = (at..at + set.len()).map(|at| row.value(at)).collect();
            at += set.len();
            if let Some(values) = values {
                *counts.entry(digest(&values)).or_default() += 1;
            }
        }
        true
    })?;
    Ok(counts)
}
