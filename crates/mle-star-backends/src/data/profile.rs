//! What the tables of a data folder hold, column by column.

use std::path::PathBuf;

/// The tables of a data folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The training table.
    pub train: Table,
    /// The table to predict, when there is one.
    pub test: Option<Table>,
    /// The sample submission, when there is one.
    pub sample: Option<Table>,
    /// Other CSV tables, by file name.
    pub auxiliary: Vec<Table>,
    /// Every other file of the folder, relative paths.
    pub other_files: Vec<PathBuf>,
}

/// One CSV table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Path relative to the data folder, as scripts see it under `./input`.
    pub file: PathBuf,
    /// Data rows.
    pub rows: usize,
    /// Columns in file order.
    pub columns: Vec<Column>,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The header's text.
    pub name: String,
    /// What its values look like.
    pub kind: ColumnKind,
    /// Empty or NA-like cells.
    pub missing: usize,
    /// Distinct non-missing values; counting stops at 100,000.
    pub distinct: usize,
    /// The most frequent values, most frequent first, ten at most.
    pub top_values: Vec<(String, usize)>,
    /// Smallest and largest value of a numeric column.
    pub range: Option<(f64, f64)>,
    /// Mean number of characters of non-missing values.
    pub mean_length: f64,
}

/// What the values of a column look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// All values are integers.
    Integer,
    /// All values are numbers.
    Float,
    /// `true`/`false`, `yes`/`no` and the like, as text.
    Boolean,
    /// Dates or date-times.
    Date,
    /// Few distinct texts, or short codes.
    Category,
    /// Free text: many distinct values of several words.
    Text,
    /// Nothing but missing values.
    Empty,
}

impl Table {
    /// The column with this exact name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
