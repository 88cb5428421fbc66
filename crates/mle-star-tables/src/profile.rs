//! The tables of a data folder, as the data plane (the Python process that reads tables) describes them.
//!
//! Kinds, counts and ranges come from all rows of a table; of a larger one, from [`INFERENCE_ROWS`] rows: its first ones, and as
//! many spread over the others. A column whose groups of rows differ between the training and the test table is a [`GroupColumn`].

use std::path::PathBuf;

use mle_star_domain::task::TextColumn;
use mle_star_domain::trouble::Trouble;
use serde::Deserialize;
use serde_json::Value;

use super::relations::Relations;
use crate::task_inference::unreadable;

/// The number of rows from which the kinds of the columns are inferred.
pub const INFERENCE_ROWS: usize = 100_000;

/// How the error for a folder without a training table begins.
pub const NO_TRAIN: &str = "no train.csv in ";

/// Numbers of this size or more are hardly measurements. The product of two of them does not fit into the single
/// precision that many libraries compute in.
pub const HUGE: f64 = 1e19;

/// The tables of a data folder.
#[derive(Clone, Debug, Deserialize)]
pub struct Profile {
    /// The training table.
    pub train: Table,
    /// The table to predict, if any.
    pub test: Option<Table>,
    /// The sample submission, if any.
    pub sample: Option<Table>,
    /// Other CSV tables, by file name.
    pub auxiliary: Vec<Table>,
    /// Every other file of the folder, relative paths.
    pub other_files: Vec<PathBuf>,
    /// Images and sounds in these files.
    pub media: Media,
    /// Columns that group the training rows, if the rows of the test table belong to other groups.
    pub groups: Vec<GroupColumn>,
    /// Columns that are read as text, and words in them that look missing but are values.
    pub text_columns: Vec<TextColumn>,
    /// How columns and tables relate, once it is known.
    #[serde(default)]
    pub relations: Relations,
    /// The classes that the columns of the sample submission are about, if every class of the training table has one.
    #[serde(default)]
    pub class_columns: Option<Vec<ClassColumn>>,
    /// What the cells of the target without a value hold, each with its number of rows: the empty text, or a word such as `NA`.
    #[serde(default)]
    pub without_target: Vec<(String, u64)>,
}

/// A column of the sample submission that is about a class.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ClassColumn {
    /// Its name.
    pub column: String,
    /// The class as the training table has it; `None` if no training row has it.
    pub class: Option<String>,
}

/// Images and sounds among the files of a data folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Media {
    /// Images.
    pub images: usize,
    /// Sound files.
    pub sounds: usize,
    /// Sound files for which there is an image with the same name, such as a spectrogram.
    pub pictured: usize,
}

/// A column that identifies groups of rows: its values repeat in the training table, and at most one percent of
/// the test rows have one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GroupColumn {
    /// Its name, the same in both tables.
    pub column: String,
    /// Groups in the training table.
    pub groups: usize,
    /// Whether the test table's values come before or after those of the training table, like times or row
    /// numbers. Texts without digits have no order.
    pub ordered: bool,
    /// Whether the values name groups rather than times.
    pub counts_groups: bool,
    /// Whether the values are texts, or the column is called like things.
    pub is_name: bool,
}

/// One CSV table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Table {
    /// Path relative to the data folder, as scripts see it under `./input`.
    pub file: PathBuf,
    /// Data rows.
    pub rows: usize,
    /// Columns in file order.
    pub columns: Vec<Column>,
}

/// One column of a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Column {
    /// The header's text.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// Empty or NA-like cells in the inspected rows.
    pub missing: usize,
    /// Distinct non-missing values in the inspected rows.
    pub distinct: usize,
    /// Up to ten values, most frequent first. Only the first two thousand distinct values of a column are
    /// considered, and no more than four MiB of them.
    pub top_values: Vec<(String, usize)>,
    /// Share of the rarest value among the non-missing ones; 0 if not all values are considered.
    pub rarest: f64,
    /// Smallest and largest value of a numeric column.
    pub range: Option<(f64, f64)>,
    /// Mean of a numeric column. Infinite values count as zero.
    pub mean: Option<f64>,
    /// Mean number of characters of non-missing values.
    pub mean_length: f64,
    /// Non-missing values with blanks around them.
    pub padded: usize,
    /// Values that are infinite, or at least [`HUGE`] in size.
    pub huge: usize,
    /// Whether at least 95 % of the values are numbers, but pandas reads them as text because of words such as `n.d.`, or
    /// because of cells that are missing except for blanks.
    pub nearly_numbers: bool,
    /// Whether pandas would write a value in another way than the file, such as 7 for `007`. It is `false` if values mean
    /// the same. Only the values behind `top_values` are considered.
    pub respelled: bool,
    /// Whether these are whole numbers too long for a float, which are read as text. Those to predict and to submit are not.
    pub long: bool,
    /// Whether the middle half of whole numbers leaves out most numbers between them, as codes do. Only the values behind
    /// `top_values` are considered.
    pub scattered: bool,
    /// Whether a date shows that the day comes first: `31/01/2024`.
    pub day_first: bool,
    /// The part of a year that its texts name, such as `week` for `2021-W44`.
    #[serde(default)]
    pub unit: Option<String>,
    /// Whether numbers of this name are codes, so that their order may mean nothing.
    #[serde(default)]
    pub says_code: bool,
    /// Whether its whole numbers are the names of things, such as shops, of which the table has several rows each.
    #[serde(default)]
    pub names_things: bool,
    /// For a category: the parts that its values are made of. Only the values behind `top_values` are considered.
    pub parts: Option<Parts>,
}

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// All values are integers.
    Integer,
    /// All values are numbers.
    #[serde(rename = "number")]
    Float,
    /// `true`/`false`, `yes`/`no` and the like, as text.
    Boolean,
    /// Dates or date-times.
    Date,
    /// Few distinct texts, or short codes.
    Category,
    /// Free text: many distinct values of several words.
    Text,
    /// All values are missing.
    #[default]
    Empty,
}

impl ColumnKind {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Float => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Category => "category",
            Self::Text => "text",
            Self::Empty => "empty",
        }
    }
}

impl Profile {
    /// The tables of these facts; `None` without a training table.
    ///
    /// # Errors
    /// They are of another build.
    pub fn of(facts: &Value) -> Result<Option<Self>, Trouble> {
        if facts["train"].is_null() {
            return Ok(None);
        }
        Self::deserialize(facts).map(Some).map_err(|error| unreadable(&error))
    }

    /// All columns to predict, if `target` is one of them: the columns of the sample submission that the training table
    /// has and the test table, if there is one, lacks, beside the ID. Otherwise `target` alone.
    pub fn targets<'a>(&'a self, target: &'a str, id: Option<&str>) -> Vec<&'a str> {
        let lacks = |table: &Option<Table>, name: &str| {
            table.as_ref().is_none_or(|table| table.column(name).is_none())
        };
        let sample = self.sample.iter().flat_map(|sample| &sample.columns).map(|column| column.name.as_str());
        let asked: Vec<&str> = sample
            .filter(|name| Some(*name) != id && self.train.column(name).is_some() && lacks(&self.test, name))
            .collect();
        if asked.contains(&target) { asked } else { vec![target] }
    }
}

impl Profile {
    /// The classes that these columns of the sample submission are about, if every class has one.
    pub fn classes_of(&self, columns: &[String]) -> Option<Vec<ClassColumn>> {
        let known = self.class_columns.as_ref()?;
        let of = |name: &String| known.iter().find(|known| known.column == *name).cloned();
        columns.iter().map(of).collect()
    }

    /// The columns of the sample submission for classes that no training row has.
    pub fn columns_without_rows(&self) -> Vec<&str> {
        let lost = self.class_columns.iter().flatten().filter(|column| column.class.is_none());
        lost.map(|column| column.column.as_str()).collect()
    }
}

impl ColumnKind {
    /// Whether the values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float)
    }
}

impl Column {
    /// Whether these are dates with a time of day. Only the most frequent values are considered.
    pub fn has_clock(&self) -> bool {
        self.kind == ColumnKind::Date && self.top_values.iter().any(|(value, _)| value.contains(':'))
    }
}

impl Table {
    /// Whether every row that was looked at has another value in this column.
    pub fn is_named_by(&self, column: &Column) -> bool {
        column.missing == 0 && column.distinct == self.rows.min(INFERENCE_ROWS)
    }

    /// The column with this exact name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// The parts that most values of a column have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Parts {
    /// A regular expression with a group for each part.
    pub pattern: String,
    /// What the parts are.
    pub kind: PartKind,
    /// The number of values that were considered.
    pub values: usize,
    /// The profiles of the parts, with numbers from 1 as names, or `number` and `unit`.
    pub columns: Vec<Column>,
}

/// What the parts of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// Numbers and words: `B/45/P`, `C85`.
    Fields,
    /// Single letters and digits.
    Letters,
    /// A number and its unit: `36 months`, `$1,200`.
    Measured,
}

impl Parts {
    /// The parts that differ between values and are numbers or categories, with their positions from 0.
    pub fn useful(&self) -> impl Iterator<Item = (usize, &Column)> {
        let is_useful = |column: &Column| {
            let kind = column.kind;
            column.distinct > 1
                && (kind.is_number() || matches!(kind, ColumnKind::Category | ColumnKind::Boolean))
        };
        self.columns.iter().enumerate().filter(move |(_, column)| is_useful(column))
    }
}
