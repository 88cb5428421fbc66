//! Files of tests, and what is read from them.

use std::fs;
use std::path::PathBuf;

use mle_star_formats::{Options, Table, open, write_csv};

/// A folder that is removed at the end of a test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The table in a file of this name with these bytes: its CSV and its notes, or the message of the refusal without the
    /// path.
    pub(crate) fn read(&self, name: &str, bytes: &[u8]) -> Result<(String, Table), String> {
        self.read_with(name, bytes, &Options::default())
    }

    pub(crate) fn read_with(
        &self,
        name: &str,
        bytes: &[u8],
        options: &Options<'_>,
    ) -> Result<(String, Table), String> {
        let path = self.write(name, bytes);
        let short = |message: String| message.replace(&format!("{}/", self.0.path().display()), "");
        let table = open(&path, options).map_err(|trouble| short(trouble.message))?;
        let mut csv = Vec::new();
        write_csv(&table, &mut csv).map_err(|trouble| short(trouble.message))?;
        let rows = csv::Reader::from_reader(csv.as_slice()).into_records().count();
        assert_eq!(rows as u64, table.row_count(), "{name}");
        Ok((String::from_utf8(csv).unwrap(), table))
    }
}
