//! Cells of the rows that scripts predict, to divide them by and to show them.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use crate::dates::calendar::Unit;
use crate::dates::{Reading, seconds};
use crate::folder;
use crate::missing::Words;
use crate::records::{self, normal, value};

/// The longest cell that is kept, in characters.
const CELL: usize = 40;

/// A table of a data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The training table.
    Train,
    /// The test table.
    Test,
}

/// The rows of a table of a data folder.
#[derive(Clone, Copy, Debug)]
pub struct RowsIn<'a> {
    /// The folder.
    pub data_dir: &'a Path,
    /// The table.
    pub table: Which,
    /// The column that names the rows; `None` if the row's number does, from 0.
    pub id: Option<&'a str>,
}

impl RowsIn<'_> {
    /// The value of each row in a column, by the row's ID. Rows without one are left out; all words that look missing are none.
    ///
    /// # Errors
    /// The table cannot be read, or lacks a column.
    pub fn values(&self, column: &str) -> io::Result<Vec<(String, String)>> {
        let mut values = Vec::new();
        self.each(|table, id| {
            let at = table.position(column)?;
            if let Some(value) = value(table.row(), at, Words::default()) {
                values.push((id, value.to_owned()));
            }
            Ok(())
        })?;
        Ok(values)
    }

    /// Some cells of these rows, each with its column, by the row's ID. IDs are as [`own_id`] has them.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn cells(
        &self,
        rows: &HashSet<String>,
        left_out: &[String],
        most: usize,
    ) -> io::Result<HashMap<String, Vec<[String; 2]>>> {
        let mut cells = HashMap::new();
        self.each(|table, id| {
            if rows.contains(&id) {
                let names = table.names();
                let own = names
                    .into_iter()
                    .zip(table.row())
                    .filter(|(name, _)| !left_out.contains(name) && Some(name.as_str()) != self.id);
                let cell = |(name, cell): (String, &[u8])| {
                    [name, String::from_utf8_lossy(cell).chars().take(CELL).collect()]
                };
                cells.insert(id, own.take(most).map(cell).collect());
            }
            Ok(())
        })?;
        Ok(cells)
    }

    fn each(&self, mut see: impl FnMut(&records::Records<'_>, String) -> io::Result<()>) -> io::Result<()> {
        let listing = folder::list(self.data_dir).map_err(|trouble| io::Error::other(trouble.message))?;
        let source = if self.table == Which::Train { listing.train } else { listing.test };
        let source = source.ok_or_else(|| io::Error::other("the data has no such table"))?;
        records::read(self.data_dir, &source, |mut table| {
            let at = self.id.map(|id| table.position(id)).transpose()?;
            while table.next()? {
                let id = match at {
                    Some(at) => value(table.row(), at, Words::ALL).map(str::to_owned),
                    None => Some(table.number().to_string()),
                };
                if let Some(id) = id {
                    see(&table, id)?;
                }
            }
            Ok(())
        })
    }
}

/// An ID as [`RowsIn`] has it.
pub fn own_id(id: &str) -> String {
    normal(id.as_bytes(), Words::ALL).unwrap_or_default().to_owned()
}

/// These values as numbers, or as seconds; `None` if they are neither.
pub fn moments(values: &[&str]) -> Option<Vec<f64>> {
    let all = |read: &dyn Fn(&str) -> Option<f64>| {
        values.iter().map(|value| read(value)).collect::<Option<Vec<f64>>>()
    };
    let number = |value: &str| value.parse().ok().filter(|number: &f64| number.is_finite());
    all(&number)
        .or_else(|| all(&|value| seconds(value, Reading::MonthFirst)))
        .or_else(|| all(&|value| seconds(value, Reading::DayFirst)))
        .or_else(|| Unit::ALL.iter().find_map(|unit| all(&|value| unit.seconds(value))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn rows_are_found_by_their_id_or_number() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("train.csv"), "id,a,b,y\n7,x,1,0\n8.0,,2,1\n").unwrap();
        fs::write(dir.path().join("test.csv"), "id,a,b\n9,z,3\n").unwrap();
        let check = |table, id, wanted: &str, values: &[[&str; 2]], cells: &[[&str; 2]]| {
            let rows = RowsIn { data_dir: dir.path(), table, id };
            let pairs: Vec<[String; 2]> =
                rows.values("a").unwrap().into_iter().map(|(id, value)| [id, value]).collect();
            assert_eq!(pairs, values);
            let found = rows.cells(&HashSet::from([own_id(wanted)]), &["y".to_owned()], 2).unwrap();
            assert_eq!(found[&own_id(wanted)], cells);
        };
        check(Which::Train, Some("id"), "8.0", &[["7", "x"]], &[["a", ""], ["b", "2"]]);
        check(Which::Train, None, "0", &[["0", "x"]], &[["id", "7"], ["a", "x"]]);
        check(Which::Test, Some("id"), "9", &[["9", "z"]], &[["a", "z"], ["b", "3"]]);
    }
}
