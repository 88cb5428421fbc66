//! Rows to predict, from a table in any format: they are read like the tables of the run, and replace the rows of its test table.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_tables::reading::Reading;
use mle_star_tables::walk;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data_plane::PlaneClient;
use crate::error::RunError;
use crate::runs::absolute;

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

/// The names of rows in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowNames {
    /// As the rows are; by their numbers, from 0, if they have no names.
    Own,
    /// By their numbers, from 0.
    Numbers,
    /// Not at all: they are in their order.
    Order,
}

/// The tables of a run with the rows to predict.
#[derive(Clone, Debug, Deserialize)]
pub struct TestTables {
    #[serde(skip)]
    data_dir: PathBuf,
    train: Option<PathBuf>,
    test: PathBuf,
    sample: PathBuf,
    /// The columns of the tables.
    pub layout: Layout,
    /// The spellings of their cells.
    pub spellings: Value,
}

/// Rows that were read.
#[derive(Clone, Debug, Deserialize)]
pub struct Rows {
    /// The names of the rows.
    pub names: Vec<String>,
    /// What is odd about them, in sentences.
    pub notes: Vec<String>,
}

impl TestTables {
    /// The tables of a data folder as scripts see it.
    ///
    /// # Errors
    /// The folder has no test table or no sample submission, or their rows are not the same.
    pub async fn of(plane: &PlaneClient, data_dir: &Path, id: Option<&str>) -> Result<Self, RunError> {
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

    /// Makes `into` a copy of the data folder whose test table is `rows`, which have these names, with a sample submission for
    /// them. Everything else is linked.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub async fn replace(
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

/// Writes the columns of the test table of the table `given` as plain CSV, with cells as the tables of the run spell them. Further
/// columns are left out.
///
/// # Errors
/// The table cannot be read, has numbers that can be read in two ways, or lacks a column; the file cannot be written.
pub async fn read_rows(
    plane: &PlaneClient,
    (layout, spellings): (&Layout, &Value),
    (given, reading): (&Path, &Reading),
    names: RowNames,
    into: &Path,
) -> Result<Rows, RunError> {
    let question = json!({
        "question": "read_rows",
        "file": absolute(given)?,
        "reading": reading,
        "layout": layout,
        "names": names,
        "spellings": spellings,
    });
    plane.ask_for(question, into).await
}

/// Writes predictions for rows with these names, in their order and under these names. `predicted` names them as `by` says.
///
/// # Errors
/// The predictions are for other rows, or a file cannot be read or written.
pub async fn name_predictions(
    plane: &PlaneClient,
    layout: &Layout,
    predicted: &Path,
    (names, by): (&[String], RowNames),
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
