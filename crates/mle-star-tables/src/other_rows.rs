//! Rows of a user that a finished run predicts: they replace the rows of its test table.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use csv::{Reader, ReaderBuilder, StringRecord, Writer};
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};

use crate::folder;
use crate::walk;

/// The columns of the rows that a run predicts, and those of its predictions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The columns of the test table.
    pub columns: Vec<String>,
    /// The columns of the sample submission.
    pub header: Vec<String>,
    /// The column of the sample submission that names rows; `None` if they are in the order of the test table.
    pub id: Option<String>,
}

/// How rows are named where they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// As the rows are; by their numbers, from 0, if they have no names.
    Own,
    /// By their numbers, from 0.
    Numbers,
}

/// The tables of a data folder with the rows to predict.
#[derive(Clone, Debug)]
pub struct TestTables {
    data_dir: PathBuf,
    /// The test table and the sample submission, relative to the folder.
    test: PathBuf,
    sample: PathBuf,
    /// The training table, if there is one.
    pub train: Option<PathBuf>,
    /// What they have in common with other rows.
    pub layout: Layout,
}

impl Layout {
    /// Writes predictions for no rows.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_header(&self, into: &Path) -> Result<(), Trouble> {
        let write = || {
            let mut out = Writer::from_path(into)?;
            out.write_record(&self.header)?;
            out.flush()
        };
        write().map_err(|error: io::Error| cannot_write(into, &error))
    }

    /// Writes predictions for rows with these names, which are in their order, under these names.
    ///
    /// # Errors
    /// The predictions are for other rows, or a file cannot be read or written.
    pub fn write_named(&self, predicted: &Path, names: &[String], into: &Path) -> Result<(), Trouble> {
        let cannot = |error: &dyn std::fmt::Display| cannot_write(into, error);
        let mut reader = Reader::from_path(predicted).map_err(|error| cannot(&error))?;
        let mut out = Writer::from_path(into).map_err(|error| cannot(&error))?;
        let header = reader.headers().map_err(|error| cannot(&error))?.clone();
        let id = self.id.as_ref().and_then(|id| header.iter().position(|name| name == id));
        out.write_record(&header).map_err(|error| cannot(&error))?;
        let (mut row, mut left) = (StringRecord::new(), names.iter());
        while reader.read_record(&mut row).map_err(|error| cannot(&error))? {
            let name = left.next().ok_or_else(|| other_rows(names.len()))?;
            let cells =
                row.iter().enumerate().map(|(at, cell)| if Some(at) == id { name.as_str() } else { cell });
            out.write_record(cells).map_err(|error| cannot(&error))?;
        }
        if left.next().is_some() {
            return Err(other_rows(names.len()));
        }
        out.flush().map_err(|error| cannot(&error))
    }

    /// Writes predictions for rows with these names, in their order and under these names. `predicted` names them as `by` says.
    ///
    /// # Errors
    /// The predictions are for other rows, or a file cannot be read or written.
    pub fn write_in_order(
        &self,
        predicted: &Path,
        names: &[String],
        by: Names,
        into: &Path,
    ) -> Result<(), Trouble> {
        let cannot = |error: &dyn std::fmt::Display| cannot_write(into, error);
        let mut reader = Reader::from_path(predicted).map_err(|error| cannot(&error))?;
        let header = reader.headers().map_err(|error| cannot(&error))?.clone();
        let rows: Vec<StringRecord> =
            reader.records().collect::<Result<_, _>>().map_err(|error| cannot(&error))?;
        if rows.len() != names.len() {
            return Err(other_rows(names.len()));
        }
        let id = self.id.as_ref().and_then(|id| header.iter().position(|name| name == id));
        let wanted: Vec<String> = match by {
            Names::Own => names.to_vec(),
            Names::Numbers => (0..names.len()).map(|number| number.to_string()).collect(),
        };
        let order = id.map(|id| order_of(&wanted, &rows, id).ok_or_else(other_names)).transpose()?;
        let mut out = Writer::from_path(into).map_err(|error| cannot(&error))?;
        out.write_record(&header).map_err(|error| cannot(&error))?;
        for (at, name) in names.iter().enumerate() {
            let row = &rows[order.as_ref().map_or(at, |order| order[at])];
            let cells = row.iter().enumerate().map(|(place, cell)| match Some(place) == id {
                true => name,
                false => cell,
            });
            out.write_record(cells).map_err(|error| cannot(&error))?;
        }
        out.flush().map_err(|error| cannot(&error))
    }
}

impl TestTables {
    /// The tables of a data folder as scripts see it.
    ///
    /// # Errors
    /// It has no test table or no sample submission, or their rows are not the same.
    pub fn of(data_dir: &Path, id: Option<&str>) -> Result<Self, Trouble> {
        let listing = folder::list(data_dir)?;
        let (Some(test), Some(sample)) = (listing.test, listing.sample) else {
            let message = format!("{} has no test table with a sample submission", data_dir.display());
            return Err(Trouble::new(message, "run the script of the solution by hand"));
        };
        let (test, sample) = (test.file, sample.file);
        let train = listing.train.map(|train| data_dir.join(train.file));
        let (columns, rows) = shape(&data_dir.join(&test))?;
        let (header, sample_rows) = shape(&data_dir.join(&sample))?;
        if sample_rows > rows {
            let message = format!(
                "the sample submission has {sample_rows} rows for the {rows} rows of the test table, so nothing says which rows of a submission belong to another row"
            );
            return Err(Trouble::new(message, "run the script of the solution by hand"));
        }
        let first = header.first().filter(|name| header.len() > 1 && columns.contains(name));
        let id = id.filter(|id| header.iter().any(|name| name == id)).or(first.map(String::as_str));
        let layout = Layout { id: id.map(str::to_owned), columns, header };
        Ok(Self { data_dir: data_dir.to_owned(), test, sample, train, layout })
    }

    /// The test table.
    pub fn test(&self) -> PathBuf {
        self.data_dir.join(&self.test)
    }

    /// Makes `into` a copy of the data folder whose test table is `rows`, which have these names, with a sample submission for
    /// them. Everything else is linked.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn replace(&self, rows: &Path, names: &[String], into: &Path) -> Result<(), Trouble> {
        let replace = || {
            fs::create_dir_all(into)?;
            walk::link(&self.data_dir, into, |name| *name == *self.test || *name == *self.sample)?;
            fs::copy(rows, into.join(&self.test))?;
            self.write_sample(names, &into.join(&self.sample))
        };
        replace().map_err(|error| cannot_write(into, &error))
    }

    /// The first row of the sample submission, for each name.
    fn write_sample(&self, names: &[String], into: &Path) -> io::Result<()> {
        let layout = &self.layout;
        let first = Reader::from_path(self.data_dir.join(&self.sample))?.records().next();
        let first = first.transpose()?.unwrap_or_else(|| layout.header.iter().map(|_| "0").collect());
        let mut out = Writer::from_path(into)?;
        out.write_record(&layout.header)?;
        for name in names {
            let cells = layout.header.iter().zip(first.iter());
            let cells =
                cells.map(|(column, cell)| if Some(column) == layout.id.as_ref() { name } else { cell });
            out.write_record(cells)?;
        }
        out.flush()
    }
}

/// The columns of a plain table, and the number of its rows.
fn shape(file: &Path) -> Result<(Vec<String>, u64), Trouble> {
    let read = || -> csv::Result<(Vec<String>, u64)> {
        let mut reader = ReaderBuilder::new().flexible(true).from_path(file)?;
        let columns = reader.headers()?.iter().map(str::to_owned).collect();
        let (mut row, mut rows) = (csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut row)? {
            rows += 1;
        }
        Ok((columns, rows))
    };
    read().map_err(|error| Trouble::new(format!("cannot read {}: {error}", file.display()), "check the file"))
}

/// The place of a column: the one with this name or, without one, the only one with this name but for case and blanks around it.
fn other_rows(rows: usize) -> Trouble {
    let message = format!("the solution predicted more or fewer rows than the {rows} of the table");
    Trouble::new(message, "it may predict rows of the test table only: look at its script")
}

/// For each wanted name the place of its row; `None` if names are missing, or repeat and have another order. A script may write the
/// name `007` as 7.
fn order_of(wanted: &[String], rows: &[StringRecord], id: usize) -> Option<Vec<usize>> {
    let names: Vec<&str> = rows.iter().map(|row| row.get(id)).collect::<Option<_>>()?;
    let as_written = |name: &str| name.trim().to_owned();
    let as_number =
        |name: &str| name.trim().parse::<f64>().map_or(as_written(name), |number| number.to_string());
    places_of(wanted, &names, as_written).or_else(|| places_of(wanted, &names, as_number))
}

fn places_of(wanted: &[String], names: &[&str], by: impl Fn(&str) -> String) -> Option<Vec<usize>> {
    if wanted.iter().map(|name| by(name)).eq(names.iter().map(|name| by(name))) {
        return Some((0..names.len()).collect());
    }
    let mut places = HashMap::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        if places.insert(by(name), place).is_some() {
            return None;
        }
    }
    wanted.iter().map(|name| places.get(&by(name)).copied()).collect()
}

fn other_names() -> Trouble {
    Trouble::new(
        "the solution predicted rows with other names than those of the table",
        "it may predict rows of the test table only: look at its script",
    )
}

fn cannot_write(into: &Path, error: &dyn std::fmt::Display) -> Trouble {
    Trouble::new(format!("cannot write {}: {error}", into.display()), "check that the disk is not full")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Layout { columns: names(&["id", "a", "b"]), header: names(&["id", "y"]), id: Some("id".to_owned()) }
    }

    #[test]
    fn predictions_are_in_the_order_of_the_rows() {
        let check = |predicted: &str, by: Names, expected: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            let (from, into) = (folder.path().join("submission.csv"), folder.path().join("out.csv"));
            fs::write(&from, predicted).unwrap();
            let names = ["k".to_owned(), "l".to_owned()];
            let written = layout().write_in_order(&from, &names, by, &into);
            assert_eq!(written.ok().map(|()| fs::read_to_string(into).unwrap()).as_deref(), expected);
        };
        let row = |name: &str| StringRecord::from(vec![name, "1"]);
        let wanted = ["007".to_owned(), "8".to_owned()];
        assert_eq!(order_of(&wanted, &[row("8"), row("7")], 0), Some(vec![1, 0]));
        let repeated = ["k", "l", "k"].map(str::to_owned);
        assert_eq!(order_of(&repeated, &["k", "l", "k"].map(row), 0), Some(vec![0, 1, 2]));
        assert_eq!(order_of(&repeated, &["k", "k", "l"].map(row), 0), None);
        check("id,y\nl,2\nk,1\n", Names::Own, Some("id,y\nk,1\nl,2\n"));
        check("id,y\n1,2\n0,1\n", Names::Numbers, Some("id,y\nk,1\nl,2\n"));
        check("y\n1\n2\n", Names::Own, Some("y\n1\n2\n"));
        check("id,y\nk,1\nm,2\n", Names::Own, None);
        check("id,y\nk,1\nk,2\n", Names::Own, None);
    }
}
