//! Chooses the column that groups rows, for tasks whose test rows belong to other groups than the training rows.
//!
//! The profile shows which columns have other values in the test table. Only a column's name shows whether increasing
//! numbers count groups or time.

use crate::column_names::{says_key, says_row, says_time};
use crate::profile::{ColumnKind, GroupColumn, Profile};

/// The columns that group rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups<'a> {
    /// The column whose groups are the widest.
    pub column: &'a GroupColumn,
    /// Other columns that only name groups.
    pub others: Vec<&'a GroupColumn>,
}

/// The columns that group the rows of training and test table, if any. `taken` columns have another role.
pub fn choose(profile: &Profile, taken: impl Fn(&str) -> bool) -> Option<Groups<'_>> {
    let is_text = |name: &str| profile.train.column(name).is_some_and(|c| c.kind == ColumnKind::Category);
    let is_name = |found: &GroupColumn| is_text(&found.column) || says_key(&found.column);
    let mut columns: Vec<&GroupColumn> =
        profile.groups.iter().filter(|found| !taken(&found.column) && counts_groups(found)).collect();
    // Rows of one patient are rows of one hospital, so the column with the fewest groups is the widest.
    columns.sort_by_key(|found| (!is_name(found), found.groups));
    let (column, others) = columns.split_first()?;
    let others = others.iter().copied().filter(|found| is_name(found)).collect();
    Some(Groups { column, others })
}

/// Whether the values name groups rather than times. Both can be numbers that continue in the test table.
fn counts_groups(found: &GroupColumn) -> bool {
    let names_group = says_key(&found.column);
    if says_time(&found.column) || says_row(&found.column) {
        names_group && !found.ordered
    } else {
        names_group || !found.ordered
    }
}
