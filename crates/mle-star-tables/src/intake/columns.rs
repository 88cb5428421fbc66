//! The columns of a table as scripts see them.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use mle_star_domain::trouble::Trouble;
use mle_star_formats::{Decimal, Table};

/// The columns of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) all: Vec<Column>,
    /// An unnamed first column that was left out.
    pub(super) index: Option<Index>,
    is_changed: bool,
}

/// A column of a plain table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name in the user's file.
    pub(super) given: String,
    /// Its name in the plain table.
    pub(super) name: String,
    pub(super) cells: Cells,
    /// Whether the user's file has decimal commas.
    pub(super) has_comma: bool,
}

/// Where the cells of a column come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// The column at this position of the file.
    Own(usize),
    /// Several columns of the file, with this text between them.
    Joined(Vec<usize>, String),
    /// Numbers that count rows, from this one.
    Count(i64),
}

/// An unnamed first column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// The name in the file: nothing, or what pandas makes of it.
    pub(super) given: String,
    /// The first number, if the others go on from it one by one.
    pub(super) from: Option<i64>,
    values: HashSet<i64>,
}

impl Columns {
    /// The columns of a file as they are.
    ///
    /// # Errors
    /// Two columns have one name.
    pub(super) fn of(path: &Path, table: Option<&Table>) -> Result<Self, Trouble> {
        let names: Vec<String> = match table {
            Some(table) => table.columns().iter().map(|column| column.name.clone()).collect(),
            None => header(path).unwrap_or_default(),
        };
        check_names(path, &names)?;
        let commas: HashSet<usize> = table
            .iter()
            .flat_map(|table| table.notation().translated())
            .filter(|column| column.decimal == Some(Decimal::Comma))
            .map(|column| column.at)
            .collect();
        let column = |(at, name): (usize, String)| Column {
            given: name.clone(),
            name,
            cells: Cells::Own(at),
            has_comma: commas.contains(&at),
        };
        Ok(Self { all: names.into_iter().enumerate().map(column).collect(), ..Self::default() })
    }

    /// Whether the plain table differs from the file.
    pub(super) fn are_changed(&self) -> bool {
        self.is_changed
    }

    /// The position of the column with this name, compared without case and blanks around it.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let exact = self.all.iter().position(|column| column.name == name);
        exact.or_else(|| self.all.iter().position(|column| key(&column.name) == key(name)))
    }

    /// Adds a first column.
    pub(super) fn add(&mut self, name: &str, cells: Cells) {
        let column = Column { given: name.to_owned(), name: name.to_owned(), cells, has_comma: false };
        self.all.insert(0, column);
        self.is_changed = true;
    }

    /// Renames the column at this position.
    pub(super) fn rename(&mut self, at: usize, name: &str) {
        if self.all[at].name != name {
            name.clone_into(&mut self.all[at].name);
            self.is_changed = true;
        }
    }

    /// Leaves out the column at this position.
    pub(super) fn leave_out(&mut self, at: usize) {
        self.all.remove(at);
        self.is_changed = true;
    }

    /// Leaves out an unnamed first column of whole numbers from 0 on, no two of them equal.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(super) fn drop_index(&mut self, table: &Table) -> Result<(), Trouble> {
        if let Some(index) = Index::of(table)? {
            self.all.remove(0);
            (self.index, self.is_changed) = (Some(index), true);
        }
        Ok(())
    }

    /// Whether the first column has no name.
    pub(super) fn may_have_index(&self) -> bool {
        self.all.len() > 1 && is_unnamed(&self.all[0].given)
    }
}

impl Index {
    fn of(table: &Table) -> Result<Option<Self>, Trouble> {
        let (mut values, mut from, mut is_index) = (HashSet::new(), None, true);
        table.each_row(&mut |row: &StringRecord| {
            let value = row.get(0).and_then(|cell| cell.trim().parse::<i64>().ok());
            let next = i64::try_from(values.len()).unwrap_or(i64::MAX);
            // The largest number has none after it.
            match value.filter(|value| (0..i64::MAX).contains(value) && values.insert(*value)) {
                Some(value) => {
                    from = if next == 0 { Some(value) } else { from.filter(|from| value - from == next) }
                }
                None => is_index = false,
            }
            Ok(())
        })?;
        let given = table.columns().first().map(|column| column.name.clone()).unwrap_or_default();
        Ok((is_index && !values.is_empty()).then_some(Self { given, from, values }))
    }

    /// The numbers.
    pub(super) fn numbers(&self) -> impl ExactSizeIterator<Item = i64> + '_ {
        self.values.iter().copied()
    }

    /// The number after the greatest one.
    pub(super) fn next(&self) -> i64 {
        self.values.iter().max().map_or(0, |most| most + 1)
    }
}

/// A name without case and blanks around it.
pub(crate) fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether a name is none, or what pandas calls a column without one.
fn is_unnamed(name: &str) -> bool {
    let name = name.trim();
    name.is_empty() || name == "Unnamed: 0"
}

/// The header of a plain file; `None` if it cannot be read.
fn header(path: &Path) -> Option<Vec<String>> {
    let file = BufReader::new(File::open(path).ok()?);
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file);
    let mut header = StringRecord::new();
    reader.read_record(&mut header).ok()?;
    Some(header.iter().map(str::to_owned).collect())
}

/// Checks that no two columns have one name.
fn check_names(path: &Path, names: &[String]) -> Result<(), Trouble> {
    let mut seen = HashSet::new();
    let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) else { return Ok(()) };
    let places: Vec<String> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| *name == twice)
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    let (file, places) = (path.display(), places.join(" and "));
    if twice.is_empty() {
        let message = format!("{file}: columns {places} have no name");
        return Err(Trouble::new(message, "give each column a name; column names must be unique"));
    }
    let message = format!("{file}: columns {places} are both called `{twice}`");
    Err(Trouble::new(message, "rename or remove one of them; column names must be unique"))
}
