//! Reads the rows to predict from a table in any format, as the run read its own tables, and puts them in the place of its test
//! table. The data plane, the Python process that reads tables, does the reading.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_tables::read_options::ReadOptions;
use mle_star_tables::walk;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data_plane::PlaneClient;
use crate::error::RunError;
use crate::runs::absolute;

/// The columns of the test table of a run, and those of its predictions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSchema {
    /// The columns of the test table.
    pub columns: Vec<String>,
    /// The columns of the sample submission.
    pub header: Vec<String>,
    /// The column of the sample submission that names rows; `None` if they are in the order of the test table.
    pub id: Option<String>,
}

/// How the rows of a file are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowIdMode {
    /// By their own IDs; by their numbers, from 0, if they have none.
    Own,
    /// By their numbers, from 0.
    Numbers,
    /// By their order; the file has no IDs.
    Order,
}

/// The tables of a run: training table, test table and sample submission.
#[derive(Clone, Debug, Deserialize)]
pub struct RunTables {
    #[serde(skip)]
    data_dir: PathBuf,
    train: Option<PathBuf>,
    test: PathBuf,
    sample: PathBuf,
    /// The columns of the tables.
    pub layout: TableSchema,
    /// How their cells are spelled: for each column, its values and whether they are numbers.
    pub spellings: Value,
}

/// What was read of a table of rows to predict.
#[derive(Clone, Debug, Deserialize)]
pub struct ReadRows {
    /// The IDs of the rows.
    pub names: Vec<String>,
    /// Warnings about the rows, in sentences.
    pub notes: Vec<String>,
}

impl RunTables {
    /// The tables of a data folder as scripts see it.
    ///
    /// # Errors
    /// The folder has no test table or no sample submission, or their rows are not the same.
    pub async fn open(plane: &PlaneClient, data_dir: &Path, id: Option<&str>) -> Result<Self, RunError> {
        let folder = absolute(data_dir)?;
        let question = json!({ "question": "rows_to_predict", "folder": folder, "id": id });
        Ok(Self { data_dir: folder, ..plane.ask(question).await? })
    }

    /// The training table, if there is one.
    pub fn train(&self) -> Option<PathBuf> {
        self.train.as_ref().map(|train| self.data_dir.join(train))
    }

    /// The test table.
    pub fn test(&self) -> PathBuf {
        self.data_dir.join(&self.test)
    }

    /// Makes `into` a copy of the data folder whose test table is `rows`, which have these IDs, with a sample submission for
    /// them. Everything else is linked.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub async fn copy_with_test_rows(
        &self,
        plane: &PlaneClient,
        rows: &Path,
        names: &[String],
        into: &Path,
    ) -> Result<(), RunError> {
        let copy = || -> io::Result<()> {
            fs::create_dir_all(into)?;
            walk::link(&self.data_dir, into, |name| *name == *self.test || *name == *self.sample)?;
            fs::copy(rows, into.join(&self.test)).map(drop)
        };
        copy().map_err(|error| Trouble::io("write in", into, &error))?;
        let question = json!({
            "question": "sample_for",
            "sample": self.data_dir.join(&self.sample),
            "names": names,
            "layout": self.layout,
        });
        plane.ask_for::<Value>(question, &into.join(&self.sample)).await.map(drop)
    }
}

/// Writes the columns that the test table has of the table `source` as plain CSV, with cells as the tables of the run spell them. Further
/// columns are left out.
///
/// # Errors
/// The table cannot be read, has numbers that can be read in two ways, or lacks a column; the file cannot be written.
pub async fn read_rows(
    plane: &PlaneClient,
    (layout, spellings): (&TableSchema, &Value),
    (source, reading): (&Path, &ReadOptions),
    names: RowIdMode,
    into: &Path,
) -> Result<ReadRows, RunError> {
    let question = json!({
        "question": "read_rows",
        "file": absolute(source)?,
        "reading": reading,
        "layout": layout,
        "names": names,
        "spellings": spellings,
    });
    plane.ask_for(question, into).await
}

/// Writes the predictions in the file `predicted` in the order of these row IDs, and with them. `by` is how the file identifies
/// its rows.
///
/// # Errors
/// The predictions are for other rows, or a file cannot be read or written.
pub async fn attach_row_ids(
    plane: &PlaneClient,
    layout: &TableSchema,
    predicted: &Path,
    (names, by): (&[String], RowIdMode),
    into: &Path,
) -> Result<(), RunError> {
    let question = json!({
        "question": "name_predictions",
        "predicted": predicted,
        "names": names,
        "by": by,
        "layout": layout,
    });
    plane.ask_for::<Value>(question, into).await.map(drop)
}
