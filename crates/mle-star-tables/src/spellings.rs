//! What the tables of a run have in each column, so that cells of rows to predict are read as there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord, Writer};
use serde::{Deserialize, Serialize};

use crate::missing::{Words, is_missing};
use crate::other_rows::TestTables;

/// A column with more different values is no list of categories.
const MOST_VALUES: usize = 1000;

/// The columns that tell how their cells are spelled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spellings {
    columns: BTreeMap<String, Column>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Column {
    /// Whether all values are numbers.
    numbers: bool,
    /// The different values, if they repeat: all categories, and numbers if there are at most two.
    values: BTreeSet<String>,
}

impl Spellings {
    /// Those of the training table and the test table of a run; none without a training table.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn of(tables: &TestTables) -> csv::Result<Self> {
        let mut columns = BTreeMap::new();
        let Some(train) = &tables.train else { return Ok(Self::default()) };
        for table in [train, &tables.test()] {
            let mut reader = ReaderBuilder::new().flexible(true).from_path(table)?;
            let header = reader.headers()?.clone();
            for row in reader.records() {
                for (name, cell) in header.iter().zip(&row?).filter(|(_, cell)| is_value(cell)) {
                    let none = || (0, true, BTreeSet::new());
                    let (cells, numbers, values) = columns.entry(name.to_owned()).or_insert_with(none);
                    *cells += 1;
                    *numbers &= is_number(cell);
                    if values.len() <= MOST_VALUES && !values.contains(cell) {
                        values.insert(cell.to_owned());
                    }
                }
            }
        }
        let is_feature =
            |name: &String| tables.layout.columns.contains(name) && tables.layout.id.as_ref() != Some(name);
        let columns = columns.into_iter().filter(|(name, _)| is_feature(name));
        let column = |(name, (cells, numbers, values))| Some((name, Column::of(cells, numbers, values)?));
        Ok(Self { columns: columns.filter_map(column).collect() })
    }

    /// Writes the cells of a plain table as the tables of the run have them, where that is unique. Returns a sentence for each column
    /// of which most values are unknown.
    ///
    /// # Errors
    /// The table cannot be read or written.
    pub fn apply(&self, table: &Path) -> csv::Result<Vec<String>> {
        let mut reader = Reader::from_path(table)?;
        let header = reader.headers()?.clone();
        let mut known: Vec<Option<Known<'_>>> =
            header.iter().map(|name| Some(Known::of(self.columns.get(name)?))).collect();
        let written = table.with_extension("written");
        let (mut out, mut row) = (Writer::from_path(&written)?, StringRecord::new());
        out.write_record(&header)?;
        while reader.read_record(&mut row)? {
            let cells = row.iter().zip(&mut known);
            out.write_record(
                cells.map(|(cell, known)| known.as_mut().map_or(cell, |known| known.read(cell))),
            )?;
        }
        out.flush()?;
        fs::rename(written, table)?;
        let notes = header.iter().zip(&known).filter_map(|(name, known)| known.as_ref()?.note(name));
        Ok(notes.collect())
    }
}

/// How many rows of a plain table are rows of the training table, by the columns that both have; `None` if rows repeat there, so that
/// equal rows say nothing.
///
/// # Errors
/// A table cannot be read.
pub fn shared_rows(train: &Path, rows: &Path, but: Option<&String>) -> csv::Result<Option<usize>> {
    let mut first = ReaderBuilder::new().flexible(true).from_path(train)?;
    let mut second = Reader::from_path(rows)?;
    let (header, other) = (first.headers()?.clone(), second.headers()?.clone());
    let place =
        |name: &str| header.iter().position(|one| one == name).filter(|_| but.is_none_or(|but| but != name));
    let (places, others): (Vec<usize>, Vec<usize>) =
        other.iter().enumerate().filter_map(|(at, name)| Some((place(name)?, at))).unzip();
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let key = |row: &StringRecord, places: &[usize]| {
        hasher.hash_one(places.iter().map(|at| form(row.get(*at).unwrap_or_default())).collect::<Vec<_>>())
    };
    let keys: Vec<u64> = first.records().map(|row| Ok(key(&row?, &places))).collect::<csv::Result<_>>()?;
    let known: HashSet<&u64> = keys.iter().collect();
    if places.is_empty() || known.len() * 10 < keys.len() * 9 {
        return Ok(None);
    }
    let rows: Vec<u64> = second.records().map(|row| Ok(key(&row?, &others))).collect::<csv::Result<_>>()?;
    Ok(Some(rows.iter().filter(|row| known.contains(row)).count()))
}

/// The one form of a cell: tables write numbers in several.
fn form(cell: &str) -> String {
    let cell = cell.trim();
    cell.parse::<f64>().map_or_else(|_| cell.to_owned(), |number| number.to_string())
}

fn is_value(cell: &str) -> bool {
    !is_missing(cell.trim(), Words::default())
}

fn is_number(cell: &str) -> bool {
    cell.trim().parse::<f64>().is_ok()
}

impl Column {
    /// The column with so many cells and these values; `None` if it says nothing about other cells.
    fn of(cells: usize, numbers: bool, mut values: BTreeSet<String>) -> Option<Self> {
        if values.len() > (if numbers { 2 } else { MOST_VALUES.min(cells / 2) }) {
            values.clear();
        }
        (numbers || !values.is_empty()).then_some(Self { numbers, values })
    }
}

/// A column while rows to predict are read.
struct Known<'a> {
    column: &'a Column,
    /// The value of each form; `None` if several have it.
    forms: HashMap<String, Option<&'a str>>,
    is_boolean: bool,
    cells: usize,
    unknown: usize,
    example: String,
}

impl<'a> Known<'a> {
    fn of(column: &'a Column) -> Self {
        let is_boolean = column.values.iter().all(|value| truth(value).is_some());
        let mut forms = HashMap::new();
        for value in &column.values {
            let known = forms.entry(spelled(value, is_boolean));
            known.and_modify(|one| *one = None).or_insert(Some(value.as_str()));
        }
        Self { column, forms, is_boolean, cells: 0, unknown: 0, example: String::new() }
    }

    /// The cell as the tables of the run have it.
    fn read<'c>(&mut self, cell: &'c str) -> &'c str
    where
        'a: 'c,
    {
        let Column { numbers, values } = self.column;
        if !is_value(cell) {
            return cell;
        }
        self.cells += 1;
        if values.contains(cell) {
            return cell;
        }
        let like = self.forms.get(&spelled(cell, self.is_boolean)).copied().flatten();
        if like.is_none() && !(*numbers && is_number(cell)) {
            self.unknown += 1;
            cell.trim().clone_into(&mut self.example);
        }
        like.unwrap_or(cell)
    }

    /// That most of its values are unknown.
    fn note(&self, name: &str) -> Option<String> {
        let what = if self.column.numbers { "are no numbers, unlike" } else { "were never seen" };
        (2 * self.unknown > self.cells)
            .then(|| format!("most values of `{name}` {what} in training, such as `{}`", self.example))
    }
}

/// The form that the spellings of a value have in common.
fn spelled(value: &str, is_boolean: bool) -> String {
    let truth = truth(value).filter(|_| is_boolean);
    truth.map_or_else(|| value.trim().to_lowercase(), |truth| truth.to_string())
}

fn truth(value: &str) -> Option<bool> {
    match value.trim().to_lowercase().as_str() {
        "true" | "1" | "1.0" => Some(true),
        "false" | "0" | "0.0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_as_the_training_table_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        let rows = |row: fn(usize) -> String| (0..20).map(row).collect::<String>();
        let train =
            rows(|row| format!("{row},{},A{},{}.5,{}\n", ["True", "False"][row % 2], row % 3, row, row % 2));
        write("train.csv", format!("id,open,grade,size,new,y\n{}", train.replace('\n', ",1\n")));
        write("test.csv", "id,open,grade,size,new\n50,True,a1,1,0\n".to_owned());
        write("sample_submission.csv", "id,y\n50,0\n".to_owned());
        let tables = TestTables::of(folder.path(), Some("id")).unwrap();
        let spellings = Spellings::of(&tables).unwrap();
        let rows = folder.path().join("rows.csv");
        let check = |cells: &str, expected: &str, note: &str| {
            fs::write(&rows, format!("id,open,grade,size,new\n7,{cells}\n")).unwrap();
            assert_eq!(spellings.apply(&rows).unwrap().join("; "), note, "{cells}");
            let written = fs::read_to_string(&rows).unwrap();
            assert_eq!(written, format!("id,open,grade,size,new\n7,{expected}\n"), "{cells}");
        };
        check("1,A0  ,3,TRUE", "True,A0,3,1", "");
        check("FALSE,a2,3,0.0", "False,A2,3,0", "");
        // The test table has it, too.
        check("True,a1,3,0", "True,a1,3,0", "");
        check(
            ",B9,18.2 m2,",
            ",B9,18.2 m2,",
            "most values of `grade` were never seen in training, such as `B9`; \
             most values of `size` are no numbers, unlike in training, such as `18.2 m2`",
        );
    }

    #[test]
    fn rows_of_the_training_table_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let check = |train: &str, rows: &str, but: Option<&str>, expected: Option<usize>| {
            let (one, other) = (folder.path().join("train.csv"), folder.path().join("rows.csv"));
            fs::write(&one, train).unwrap();
            fs::write(&other, rows).unwrap();
            let but = but.map(str::to_owned);
            assert_eq!(shared_rows(&one, &other, but.as_ref()).unwrap(), expected, "{rows}");
        };
        let train = "id,a,b,y\n1,x,1.0,5\n2,y,2,6\n";
        check(train, "id,a,b\n1,x,1\n2,x,2\n3,y,2\n", None, Some(1));
        check(train, "id,a,b\n0,x,1\n1,x,2\n2,y,2\n", Some("id"), Some(2));
        check("id,a,y\n1,x,5\n2,x,6\n", "id,a\n0,x\n", Some("id"), None);
        check(train, "id,z\n1,x\n", Some("id"), None);
    }
}
