//! The names of columns with row IDs that are made.

use crate::table::Table;

/// The name of the ID column of a table that has none: its values are the 0-based row numbers.
pub const ROW_ID: &str = "row_id";

/// The name of a column with row numbers, which no column of these tables has.
pub(super) fn free_name(tables: &[&Table]) -> String {
    let mut name = ROW_ID.to_owned();
    while tables.iter().any(|table| table.find(&name).is_some()) {
        name.push('_');
    }
    name
}
