//! Columns, headers and the ends of tables.

use mle_star_domain::trouble::Trouble;

use crate::trouble::{File, quoted};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name as in the file. One column may have an empty name.
    pub name: String,
    /// What the file says about its cells.
    pub kind: Kind,
}

/// What a file says about the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, as in delimited text, JSON and Excel: the cells must be looked at.
    Untyped,
    /// Text, also where all of it are digits.
    Text,
    /// Whole numbers.
    Integer,
    /// Floating-point or decimal numbers.
    Number,
    /// `True` and `False`.
    Boolean,
    /// Dates, `2024-01-31`.
    Date,
    /// Points in time, `2024-01-31 13:45:00`, or times of day, `13:45:00`.
    Time,
    /// Lengths of time, `1 days 02:03:04`.
    Duration,
}

/// Columns, rows, and what was left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: u64,
    /// Columns without name and content after the last one.
    pub(crate) empty_columns: usize,
    /// Rows without content after the last one.
    pub(crate) empty_rows: u64,
    /// Whether all rows have one cell more than the header, so that the first column has no name.
    pub(crate) has_row_names: bool,
    /// In Excel and JSON, the columns that hold a text which is a number with a comma, a blank or an apostrophe.
    pub(crate) marked: Vec<usize>,
    /// Further notes for people.
    pub(crate) notes: Vec<String>,
}

/// Refuses two columns of one name.
///
/// # Errors
/// Names both positions, from 1.
pub(crate) fn check_names(file: File<'_>, names: &[String]) -> Result<(), Trouble> {
    let mut seen = rustc_hash::FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        let Some(before) = seen.insert(name.as_str(), at) else { continue };
        let (first, second) = (before + 1, at + 1);
        return Err(if name.is_empty() {
            let hint = "give all columns a name, or remove them";
            file.trouble(format!("columns {first} and {second} have no name"), hint)
        } else {
            let what = format!("columns {first} and {second} are both called {}", quoted(name));
            file.trouble(what, "rename one of them; the first row must name the columns")
        });
    }
    Ok(())
}

/// Columns about whose cells the file says nothing.
pub(crate) fn untyped(names: Vec<String>) -> Vec<Column> {
    names.into_iter().map(|name| Column { name, kind: Kind::Untyped }).collect()
}

/// Whether a cell counts as empty where columns and rows at the end are left out.
pub(crate) fn is_blank(cell: &str) -> bool {
    cell.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// Whether the only cell of a line makes it one that is no row, as in pandas. An empty cell is quoted.
pub(crate) fn is_line_of_blanks(cell: &str) -> bool {
    !cell.is_empty() && is_blank(cell)
}
