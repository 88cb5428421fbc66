//! The columns that join an auxiliary table to the training table and the test table.

use super::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT, Table};
use crate::column_names::{says_code, says_time};

/// The columns that join an auxiliary table, and whether they identify each of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Their names, the same in all tables.
    pub(crate) columns: Vec<String>,
    /// Whether each key occurs once.
    pub(crate) unique: bool,
}

/// The key of an auxiliary table: a single column that identifies each row, otherwise all shared columns that look like
/// keys. `None` if there is none beside the `excluded` columns.
pub(crate) fn key(profile: &Profile, table: &Table, excluded: &[&str]) -> Option<Key> {
    let sides = [Some(&profile.train), profile.test.as_ref()];
    let is_shared = |column: &&Column| {
        let twin = |side: &&Table| {
            side.column(&column.name).is_some_and(|twin| same_type(column, twin) && alike(column, twin))
        };
        !excluded.contains(&column.name.as_str()) && column.distinct > 0 && sides.iter().flatten().all(twin)
    };
    let shared: Vec<&Column> =
        table.columns.iter().filter(is_shared).filter(|one| is_nameable(one)).collect();
    let single = shared.iter().find(|column| names_rows(std::slice::from_ref(*column), table));
    let keys = single.map_or(shared.as_slice(), std::slice::from_ref);
    let columns: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
    (!columns.is_empty()).then(|| Key { unique: names_rows(keys, table), columns })
}

/// Whether values of this column can name something.
pub(crate) fn is_nameable(column: &Column) -> bool {
    !matches!(column.kind, ColumnKind::Float | ColumnKind::Text)
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

/// Whether both columns hold numbers, or both hold texts.
pub(crate) fn same_type(one: &Column, other: &Column) -> bool {
    one.kind.is_number() == other.kind.is_number()
}

/// Whether dates can be equal as texts: a day never equals a day with a time.
pub(crate) fn alike(one: &Column, other: &Column) -> bool {
    one.has_clock() == other.has_clock()
}

/// Whether the key columns identify each row.
pub(crate) fn names_rows(keys: &[&Column], table: &Table) -> bool {
    match keys {
        [] => false,
        [single] if single.missing > 0 => false,
        [single] if single.distinct == table.rows => true,
        // Every row was read for the row key; distinct values are counted in the first ones only.
        _ => keys.len() == table.row_key.len() && keys.iter().all(|key| table.row_key.contains(&key.name)),
    }
}
