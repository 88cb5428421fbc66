//! Profiles the tables of a data folder, column by column.
//!
//! Start with [`read()`]. Kinds, counts and ranges come from all rows of a table; of a larger one, from
//! [`ROWS_LOOKED_AT`] rows: its first ones, and as many spread over the others. Every row is counted and its number of
//! fields checked. A column whose groups of rows differ between the training and the
//! test table is a [`GroupColumn`].

mod column;
mod groups;
mod parts;
mod read;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mle_star_domain::task::TextColumn;
use mle_star_domain::trouble::Trouble;
use serde::Deserialize;
use serde_json::Value;

use super::folder::{self, Listing, Source};
use super::media::{Media, media};
use super::missing::Words;
use super::records;
use super::relations::Relations;
use super::table;
use super::tables::Tables;
use crate::facts::unreadable;

pub use parts::{PartKind, Parts};

/// The number of rows from which the kinds of the columns are inferred.
pub const ROWS_LOOKED_AT: usize = 100_000;

/// How the error for a folder without a training table begins.
pub const NO_TRAIN: &str = "no train.csv in ";

/// Numbers of this size or more are hardly measurements. The product of two of them does not fit into the single
/// precision that many libraries compute in.
pub const HUGE: f64 = 1e19;

/// The tables of a data folder.
#[derive(Clone, Debug, Deserialize)]
pub struct Profile {
    /// What was read.
    #[serde(skip)]
    pub tables: Arc<Tables>,
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

/// What says, beside the tables, how their cells are to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The description of the task.
    pub description: &'a str,
    /// The ID column, if the user named it.
    pub id: Option<&'a str>,
    /// Whether the training table comes from a file that marks missing cells, so that all its texts are values.
    pub marks_missing: bool,
    /// What was decided before; `None` if nothing was.
    pub text_columns: Option<&'a [TextColumn]>,
}

/// What a data folder without a training table holds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Unlabelled {
    /// The sample submission, if it can be read.
    pub sample: Option<Table>,
    /// Images and sounds.
    pub media: Media,
}

/// A column that identifies groups of rows: its values repeat in the training table, and at most one percent of
/// the test rows have one of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GroupColumn {
    /// Its name, the same in both tables.
    pub column: String,
    /// Groups in the training table.
    pub groups: usize,
    /// Whether the test table's values come before or after those of the training table, like times or row
    /// numbers. Texts without digits have no order.
    pub ordered: bool,
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
    /// For an auxiliary table: the columns shared with the training table, if together they identify each row;
    /// otherwise empty.
    pub row_key: Vec<String>,
}

/// One column of a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Column {
    /// The header's text.
    pub name: String,
    /// The words that look missing but are values of it.
    pub words: Words,
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

/// Reads every table of a data folder.
///
/// # Errors
/// The folder is missing or empty, there is no training table, or the training, test or sample table is invalid:
/// not CSV, not UTF-8, a row with too few or too many fields, or two columns with the same name. An invalid
/// auxiliary CSV is listed among the other files instead.
pub fn read(data_dir: &Path) -> Result<Profile, Trouble> {
    read_with(data_dir, &Context::default())
}

/// As [`read()`], with a description of the task.
///
/// # Errors
/// As [`read()`].
pub fn read_with(data_dir: &Path, context: &Context<'_>) -> Result<Profile, Trouble> {
    let listing = folder::list(data_dir)?;
    let Some(train_source) = &listing.train else {
        let message = format!("{NO_TRAIN}{}", data_dir.display());
        return Err(Trouble::new(message, "give the folder that holds train.csv, or the table itself"));
    };
    let header = |source: &Option<Source>| {
        source.as_ref().and_then(|source| records::read(data_dir, source, |rows| Ok(rows.names())).ok())
    };
    // IDs and targets are asked for row by row.
    let (in_test, in_sample) = (header(&listing.test), header(&listing.sample).unwrap_or_default());
    let is_asked = |name: &str| in_sample.iter().any(|asked| asked == name);
    let is_new = |name: &str| in_test.as_ref().is_some_and(|test| test.iter().all(|known| known != name));
    let is_known = |name: &str| in_test.as_ref().is_some_and(|test| test.iter().any(|known| known == name));
    let optional = |source: &Option<Source>, kept: &dyn Fn(&str) -> bool| {
        source.as_ref().map(|source| read::read(data_dir, source, kept)).transpose()
    };
    let (mut train_table, mut train) =
        read::read(data_dir, train_source, |name| is_asked(name) || is_new(name))?;
    let mut other_files = listing.other.clone();
    let mut auxiliary = Vec::new();
    for source in &listing.auxiliary {
        match read::read(data_dir, source, is_asked) {
            Ok((table, profile)) => auxiliary.push(read::with_row_key(&table, profile, &train)),
            Err(_) => other_files.push(source.file.clone()),
        }
    }
    other_files.sort();
    let (mut test_table, mut test) = optional(&listing.test, &is_asked)?.unzip();
    let (mut sample_table, mut sample) = optional(&listing.sample, &is_known)?.unzip();
    let text_columns = text_columns(
        (&mut train_table, &mut train),
        test_table.as_mut().zip(test.as_mut()),
        sample_table.as_mut().zip(sample.as_mut()),
        &auxiliary,
        context,
    )?;
    let groups = test_table.as_ref().zip(test.as_ref());
    let groups = groups.map_or_else(Vec::new, |test| groups::find((&train_table, &train), test));
    let tables = Tables {
        data_dir: data_dir.to_owned(),
        train: Some(train_table),
        test: test_table,
        sample: sample_table,
    };
    Ok(Profile {
        tables: Arc::new(tables),
        train,
        test,
        sample,
        auxiliary,
        media: media(data_dir, &other_files),
        other_files,
        groups,
        text_columns,
        relations: Relations::default(),
        class_columns: None,
        without_target: Vec::new(),
    })
}

/// A table with its profile.
type Side<'a> = (&'a mut table::Table, &'a mut Table);

/// The columns that are read as text. The tables follow them.
fn text_columns(
    train: Side<'_>,
    test: Option<Side<'_>>,
    sample: Option<Side<'_>>,
    auxiliary: &[Table],
    context: &Context<'_>,
) -> Result<Vec<TextColumn>, Trouble> {
    let found = match context.text_columns {
        Some(known) => Ok(known.to_vec()),
        None => words::decide(&words::Known {
            train: seen(&train),
            test: test.as_ref().map(seen),
            sample: sample.as_ref().map(seen),
            description: context.description,
            id: context.id,
            marks_missing: context.marks_missing,
        }),
    };
    let mut found = found.map_err(|error| {
        Trouble::new(format!("the tables cannot be read: {error}"), "check that they did not change")
    })?;
    for (loaded, profile) in [Some(train), test, sample].into_iter().flatten() {
        read::with_words(loaded, profile, &found)?;
    }
    for column in auxiliary.iter().flat_map(|table| &table.columns) {
        let is_known = found.iter().any(|text| text.column == column.name);
        found.extend(words::long(column).filter(|_| !is_known));
    }
    Ok(found)
}

fn seen<'a>((loaded, profile): &'a Side<'_>) -> words::Side<'a> {
    words::Side { loaded, profile }
}

/// Reads one table alone.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read_table(data_dir: &Path, source: &Source) -> Result<Table, Trouble> {
    read::read(data_dir, source, |_| false).map(|(_, profile)| profile)
}

/// What a data folder without a training table holds; nothing if the folder cannot be read.
pub fn read_unlabelled(data_dir: &Path) -> Unlabelled {
    let Listing { sample, other, .. } = folder::list(data_dir).unwrap_or_default();
    let sample = sample.and_then(|source| read_table(data_dir, &source).ok());
    Unlabelled { sample, media: media(data_dir, &other) }
}

/// The sample submission as scripts see it, relative to the data folder; `None` if there is none.
pub fn sample_file(data_dir: &Path) -> Option<PathBuf> {
    folder::list(data_dir).ok()?.sample.map(|source| source.file)
}

impl Unlabelled {
    /// What these facts say.
    ///
    /// # Errors
    /// They are of another build.
    pub fn of(facts: &Value) -> Result<Self, Trouble> {
        Self::deserialize(facts).map_err(|error| unreadable(&error))
    }
}

impl Profile {
    /// The tables of these facts, which are of this folder; `None` without a training table.
    ///
    /// # Errors
    /// They are of another build, or a table cannot be read.
    pub fn of(facts: &Value, data_dir: &Path) -> Result<Option<Self>, Trouble> {
        if facts["train"].is_null() {
            return Ok(None);
        }
        let mut found = Self::deserialize(facts).map_err(|error| unreadable(&error))?;
        let known = Context { text_columns: Some(&found.text_columns), ..Context::default() };
        found.tables = read_with(data_dir, &known)?.tables;
        Ok(Some(found))
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

    /// The profile after its data folder was moved.
    ///
    /// # Errors
    /// The tables are in use elsewhere and cannot be read again.
    pub fn moved_to(mut self, folder: &Path) -> Result<Self, Trouble> {
        match Arc::get_mut(&mut self.tables) {
            Some(tables) => tables.move_to(folder),
            None => {
                let known = Context { text_columns: Some(&self.text_columns), ..Context::default() };
                return Ok(Self { relations: self.relations, ..read_with(folder, &known)? });
            }
        }
        Ok(self)
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
    /// The column with this exact name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    fn only_column(values: &[&str]) -> Column {
        let text = values.iter().fold("x,i\n".to_owned(), |text, value| format!("{text}\"{value}\",1\n"));
        let dir = folder(&[("train.csv", &text)]);
        read(dir.path()).unwrap().train.columns.remove(0)
    }

    #[test]
    fn few_words_do_not_hide_numbers() {
        let check = |values: &[&str], kind, nearly_numbers| {
            let column = only_column(values);
            assert_eq!((column.kind, column.nearly_numbers), (kind, nearly_numbers), "{values:?}");
        };
        let numbers = |others: &[&'static str]| [["1.5"; 38].as_slice(), others].concat();
        check(&numbers(&["n.d.", "?"]), ColumnKind::Category, true);
        check(&numbers(&["n.d.", "?", "x"]), ColumnKind::Category, false);
        check(&[["?"].as_slice(), &["7"; 30]].concat(), ColumnKind::Category, true);
        check(&numbers(&[" "]), ColumnKind::Float, true);
        check(&numbers(&["", "NA"]), ColumnKind::Float, false);
        check(&["a", "b", " "], ColumnKind::Category, false);
        // Texts in the middle of many numbers do not end the count.
        let long = [vec!["1"; 2_000], vec!["?"; 60], vec!["2"; 2_000]].concat();
        check(&long, ColumnKind::Category, true);
        check(&[["?"; 40].as_slice(), &["7"; 4_000]].concat(), ColumnKind::Category, false);
        assert_eq!(only_column(&numbers(&["inf", "?"])).huge, 1);
    }

    #[test]
    fn dates_show_that_the_day_comes_first() {
        let check = |values: &[&str], expected| {
            assert_eq!(only_column(values).day_first, expected, "{values:?}");
        };
        check(&["05/02/2024", "31/01/2024"], true);
        check(&["5.2.2024", "6.2.2024"], true);
        check(&["05/02/2024", "01/31/2024"], false);
        check(&["2024-01-31", "2024-01-13"], false);
        check(&["2024.01.31"], false);
        check(&["31", "soon"], false);
        // Ten dates that are as frequent as others do not show it.
        let all: Vec<String> = (0..56).map(|row| format!("{:02}/03/2024", row % 28 + 1)).collect();
        check(&all.iter().map(String::as_str).collect::<Vec<_>>(), true);
    }

    #[test]
    fn huge_cells_are_counted_but_not_kept() {
        let huge: Vec<String> = (0..9).map(|row| format!("{row}{}", "x".repeat(1 << 20))).collect();
        let mut cells: Vec<&str> = huge.iter().map(String::as_str).collect();
        cells.extend(["yes", "yes", huge[8].as_str()]);
        let column = only_column(&cells);
        assert_eq!((column.distinct, column.kind), (10, ColumnKind::Text));
        assert_eq!(column.top_values[0], ("yes".to_owned(), 2));
        assert!(column.top_values.len() <= 5, "{}", column.top_values.len());
        // What is not kept is neither a truth value nor a date.
        let whole = "x".repeat(5 << 20);
        assert_ne!(only_column(&["yes", "no", "yes", &whole]).kind, ColumnKind::Boolean);
        assert_ne!(only_column(&[&whole]).kind, ColumnKind::Date);
    }
}
