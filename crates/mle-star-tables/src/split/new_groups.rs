//! Finds a column that names groups, of which many test rows have ones that no training row has.
//!
//! If rows had been drawn at random, the values of a column that repeat would be in both tables.

use super::known::{Known, candidates, is_taken};
use crate::column_names::{says_code, says_row};
use crate::keys::names_things;
use crate::profile::{Column, ColumnKind, Profile};
use crate::unseen::{Unseen, columns, unseen};

/// From this share of the test rows on, other groups are validated.
pub(super) const MOST: f64 = 0.5;
/// With a smaller share, new groups matter little.
const SMALLEST: f64 = 0.05;
/// The share is clearly larger than by chance if it is by so much, and by this factor.
const BY: f64 = 0.05;
const FACTOR: f64 = 1.5;
/// Shares from this part of the largest on are as large.
const AS_LARGE: f64 = 0.9;
/// Fewer groups are too few to hold some out.
const FEWEST_GROUPS: usize = 10;

/// A column of groups, and the share of the test rows that have other ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NewGroups {
    pub(super) column: String,
    pub(super) share: f64,
}

/// The column with the most test rows of new groups, though not all; of several, the widest. Columns of times are none.
pub(super) fn find(profile: &Profile, known: &Known<'_>) -> Option<NewGroups> {
    let times = candidates(profile, known);
    let taken = |name: &str| {
        let is_time = times.iter().any(|column| column.name == name);
        is_time || is_taken(profile, known, name) || profile.groups.iter().any(|found| found.column == name)
    };
    let names_groups = |column: &&Column| {
        let is_code = says_code(&column.name) || names_things(column, profile.train.rows);
        (column.kind == ColumnKind::Category || is_code) && !says_row(&column.name)
    };
    let columns: Vec<&Column> = columns(profile, taken).into_iter().filter(names_groups).collect();
    let sets: Vec<Vec<&str>> = columns.iter().map(|column| vec![column.name.as_str()]).collect();
    // A table that can no longer be read tells nothing.
    let found = unseen(profile.tables.train().ok()?, profile.tables.test().ok()?, &sets).ok()?;
    let is_clear = |(_, found): &(&Column, Unseen)| {
        let Unseen { share, by_chance, known } = *found;
        let is_larger = share >= by_chance + BY && share >= by_chance * FACTOR;
        share >= SMALLEST && is_larger && known >= FEWEST_GROUPS
    };
    let mut found: Vec<(&Column, Unseen)> = columns.into_iter().zip(found).filter(is_clear).collect();
    let largest = found.iter().map(|(_, found)| found.share).fold(0.0, f64::max);
    found.retain(|(_, found)| found.share >= AS_LARGE * largest);
    let (column, found) = found.into_iter().min_by_key(|(_, found)| found.known)?;
    Some(NewGroups { column: column.name.clone(), share: found.share })
}

impl NewGroups {
    /// What is so, in one sentence with the names of both files.
    pub(super) fn words(&self, train: &str, test: &str) -> String {
        let percent = self.share * 100.0;
        format!(
            "{percent:.0} % of the rows of {test} have a value of `{}` that no row of {train} has",
            self.column
        )
    }
}
