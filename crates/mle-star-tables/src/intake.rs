//! Makes plain tables of whatever people give.
//!
//! Scripts, profiles and splits see one form of data: a folder with comma-separated UTF-8 tables. [`look`] says what a folder
//! or a table file holds and whether that is such data already; where it is not, [`Look::write`] writes a folder that is:
//! other formats become CSV, columns that only differ in case or blanks get one name, a column that counts rows goes, an ID
//! that is made of several columns becomes a column. [`make_sample`] and [`draw`] add what a task lacks: a sample submission, a
//! test table. [`Submission`] writes a submission as the user's sample has it.
//!
//! Nothing is written into the user's folder, and plain files are linked, not copied.

mod columns;
mod files;
mod ids;
mod names;
mod row_ids;
mod sample;
mod single;
mod submission;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_formats::{AmbiguousColumn, Decimal, Format, Options, Table, open};

use crate::folder::Role;
use crate::reading::Reading;
use columns::Columns;
use files::Files;

pub(crate) use columns::key;
pub use files::{has_tables, is_table};
pub use mle_star_formats::stem;
pub use row_ids::ROW_ID;
pub use sample::{Made, make_sample};
pub use single::{Draw, Drawn, draw};
pub use submission::Submission;

/// How data is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The sheet of workbooks; `None` for the first one.
    pub sheet: Option<&'a str>,
    /// The column with the row IDs, if it is given.
    pub id: Option<&'a str>,
}

/// What a folder or a table file holds, and what has to change.
#[derive(Debug)]
pub struct Look {
    files: Files,
    /// Training table, test table and sample submission, those that there are.
    tables: Vec<Taken>,
    /// Other tables that are not plain.
    further: Vec<(files::Found, Table)>,
    submission: Option<Submission>,
    told: Vec<String>,
    id_unknown: Option<Trouble>,
    damaged: Option<Trouble>,
}

/// A table with a role.
#[derive(Debug)]
struct Taken {
    role: Role,
    found: files::Found,
    /// The table, if it has to be written.
    table: Option<Table>,
    /// Its columns as scripts see them.
    columns: Columns,
}

/// Looks at a data folder or a table file. Plain tables cost little, however large they are.
///
/// # Errors
/// Two files for one role, two columns of one name, numbers that can be read in two ways, or a table that cannot be read. A
/// CSV file that cannot be read is no error here.
pub fn look(data: &Path, asked: &Asked<'_>) -> Result<Look, Trouble> {
    let files = files::find(data)?;
    let (mut tables, mut damaged): (Vec<Taken>, _) = (Vec::new(), None);
    for (role, found) in files.roles() {
        let like = tables.first().and_then(|train| train.table.as_ref());
        let table = match files.opened(found, asked, like) {
            Ok(table) => table,
            // Agents that explore the data by themselves may still use it.
            Err(trouble) if found.is_plain_by_name() => {
                damaged = damaged.or(Some(trouble));
                None
            }
            Err(trouble) => return Err(trouble),
        };
        let columns = Columns::of(&files.path(found), table.as_ref())?;
        tables.push(Taken { role, found: found.clone(), table, columns });
    }
    let mut look = Look {
        further: files.further(asked),
        files,
        tables,
        submission: None,
        told: Vec::new(),
        id_unknown: None,
        damaged,
    };
    look.tell_notes();
    look.check_ambiguous()?;
    look.match_columns(asked)?;
    ids::find(&mut look, asked)?;
    look.submission = look.of(Role::Sample).and_then(|sample| Submission::of(&sample.columns));
    Ok(look)
}

impl Look {
    /// Whether scripts can use the data as it is.
    pub fn is_plain(&self) -> bool {
        let rewrites = |taken: &Taken| taken.table.is_some() || taken.columns.are_changed();
        self.files.is_folder() && self.further.is_empty() && !self.tables.iter().any(rewrites)
    }

    /// Whether it is one table, of which a part has to become the test table.
    pub fn is_single(&self) -> bool {
        matches!(self.tables.as_slice(), [Taken { role: Role::Train, .. }])
    }

    /// Whether there is a test table, but no sample submission.
    pub fn lacks_sample(&self) -> bool {
        self.of(Role::Test).is_some() && self.of(Role::Train).is_some() && self.of(Role::Sample).is_none()
    }

    /// Whether the file of the training table has texts and missing cells of different kinds, as Parquet has.
    pub fn marks_missing(&self) -> bool {
        let typed = [Format::Parquet, Format::ArrowFile, Format::ArrowStream];
        let table = self.of(Role::Train).and_then(|train| train.table.as_ref());
        table.is_some_and(|table| typed.contains(&table.detected().format))
    }

    /// The training table's file as the user calls it.
    pub fn name(&self) -> String {
        let name = self.of(Role::Train).map(|train| train.found.file.display().to_string());
        name.unwrap_or_else(|| "train.csv".to_owned())
    }

    /// The tables that have other names than the files that they were read from: each table, and its file.
    pub fn instead(&self) -> Vec<(PathBuf, PathBuf)> {
        let all =
            self.tables.iter().map(|taken| &taken.found).chain(self.further.iter().map(|(found, _)| found));
        let renamed = all.filter(|found| found.is_renamed());
        renamed.map(|found| (found.plain.clone(), found.file.clone())).collect()
    }

    /// What was found, changed and left out, a sentence each.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    /// How a submission is written; `None` if it is the file that a script wrote.
    pub fn submission(&self) -> Option<&Submission> {
        self.submission.as_ref()
    }

    /// How later files with rows to predict are read, where the user named this sheet.
    pub fn reading(&self, sheet: Option<&str>) -> Reading {
        let train = self.of(Role::Train).and_then(|train| train.table.as_ref()).map(Table::notation);
        // Numbers that need no translation say nothing of other files.
        let train = train.filter(|train| train.translated().next().is_some());
        let numbers = || train.iter().flat_map(|train| &train.numbers);
        let with = |decimal: Decimal| {
            numbers()
                .filter(|column| column.decimal == Some(decimal))
                .map(|column| column.name.clone())
                .collect()
        };
        let (commas, points) = (with(Decimal::Comma), with(Decimal::Point));
        Reading { sheet: sheet.map(str::to_owned), commas, points }
    }

    /// That the test table lacks the IDs of the sample submission; `None` if it does not.
    pub fn id_unknown(&self) -> Option<&Trouble> {
        self.id_unknown.as_ref()
    }

    /// Why a CSV file cannot be read as a table; it stays as it is.
    pub fn damaged(&self) -> Option<&Trouble> {
        self.damaged.as_ref()
    }

    /// Writes the plain tables into `folder`, which is empty, and links everything else.
    ///
    /// # Errors
    /// A table cannot be read, or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Trouble> {
        write::write(self, folder)
    }

    fn of(&self, role: Role) -> Option<&Taken> {
        self.tables.iter().find(|taken| taken.role == role)
    }

    fn tell_notes(&mut self) {
        let of_table = |found: &files::Found, table: &Table| {
            let file = found.file.display().to_string();
            let notes: Vec<String> =
                table.notes().into_iter().map(|note| format!("{file}: {note}")).collect();
            let converted =
                found.is_renamed().then(|| format!("{file} is read as {}", found.plain.display()));
            converted.into_iter().chain(notes).collect::<Vec<_>>()
        };
        let tables = self.tables.iter().filter_map(|taken| Some((&taken.found, taken.table.as_ref()?)));
        let further = self.further.iter().map(|(found, table)| (found, table));
        self.told = tables.chain(further).flat_map(|(found, table)| of_table(found, table)).collect();
    }

    fn check_ambiguous(&self) -> Result<(), Trouble> {
        for Taken { found, table, .. } in &self.tables {
            let Some(column) = table.iter().flat_map(|table| &table.notation().ambiguous).next() else {
                continue;
            };
            return Err(ambiguous(&found.file.display().to_string(), column));
        }
        Ok(())
    }
}

/// Refuses a column of a file whose numbers can be read in two ways.
pub(crate) fn ambiguous(file: &str, column: &AmbiguousColumn) -> Trouble {
    let AmbiguousColumn { name, example, as_decimal, otherwise, .. } = column;
    let message =
        format!("`{name}` of {file} can be read in two ways: {example} is {as_decimal} or {otherwise}");
    let hint = "write numbers with a decimal point and without marks between thousands, and labels with blanks between them";
    Trouble::new(message, hint)
}

/// Opens the table in a file.
fn opened(path: &Path, asked: &Asked<'_>, like: Option<&Table>) -> Result<Table, Trouble> {
    open(path, &Options { sheet: asked.sheet, like: like.map(Table::notation) })
}

/// A name in backticks.
fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// The path of a file that is shown to people.
fn shown(path: &Path) -> PathBuf {
    path.file_name().map_or_else(|| path.to_owned(), PathBuf::from)
}
