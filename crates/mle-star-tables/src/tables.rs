//! The tables of a data folder, each read once.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::table::Table;

/// The tables of a data folder. Everything that looks at the rows of a task takes them from here.
#[derive(Debug, Default)]
pub struct Tables {
    pub(crate) data_dir: PathBuf,
    pub(crate) train: Option<Table>,
    pub(crate) test: Option<Table>,
    pub(crate) sample: Option<Table>,
}

impl Tables {
    /// Frees the memory of all columns. What is asked for later is read from the files again.
    pub fn forget(&self) {
        [&self.train, &self.test, &self.sample].into_iter().flatten().for_each(Table::forget);
    }

    /// How many rows each group of the test table has, by a column with its values; empty if the table or the column is
    /// missing or cannot be read.
    pub fn sizes_of_test_groups(&self, column: &str) -> Vec<u64> {
        let mut sizes: HashMap<Vec<u8>, u64> = HashMap::new();
        let count = |table: &Table| -> io::Result<()> {
            table.each(&[table.position(column)?], |row| {
                *sizes.entry(row.cell(0).to_vec()).or_default() += 1;
                true
            })
        };
        match self.test().and_then(count) {
            Ok(()) => sizes.into_values().collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Says where the data folder is now.
    pub(crate) fn move_to(&mut self, folder: &Path) {
        folder.clone_into(&mut self.data_dir);
        let tables = [&mut self.train, &mut self.test, &mut self.sample].into_iter().flatten();
        tables.for_each(|table| table.move_to(folder));
    }

    /// The training table.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn train(&self) -> io::Result<&Table> {
        self.train.as_ref().ok_or_else(missing)
    }

    /// The test table.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn test(&self) -> io::Result<&Table> {
        self.test.as_ref().ok_or_else(missing)
    }
}

fn missing() -> io::Error {
    io::Error::other("a table is missing")
}
