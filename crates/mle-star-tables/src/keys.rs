//! Columns that can name something.

use super::profile::{Column, ColumnKind, ROWS_LOOKED_AT, Table};
use crate::column_names::{says_code, says_time};

/// Whether every row that was looked at has another value.
pub fn names_its_rows(column: &Column, table: &Table) -> bool {
    column.missing == 0 && column.distinct == table.rows.min(ROWS_LOOKED_AT)
}

/// Whether whole numbers are the names of things, such as shops, of which a table with this many rows has several rows each.
/// Their column says so, or they are scattered.
pub fn names_things(column: &Column, rows: usize) -> bool {
    // A tree takes fewer apart by itself.
    const FEWEST: usize = 25;
    // Larger numbers have no exact form as floats.
    const LARGEST: f64 = 9e15;
    let is_exact = column.range.is_some_and(|(low, high)| low >= -LARGEST && high <= LARGEST);
    let looked = rows.min(ROWS_LOOKED_AT).saturating_sub(column.missing);
    let repeats = |times: usize| column.distinct >= FEWEST && column.distinct * times <= looked;
    // Scattered numbers may be amounts, which repeat seldom.
    let is_code = says_code(&column.name) && repeats(3) || column.scattered && repeats(8);
    column.kind == ColumnKind::Integer && is_exact && is_code && !says_time(&column.name)
}
