//! Predicts rows of the user with a run that has a solution.
//!
//! Its fitted model predicts them. Without one, the script of the run's solution fits again, with these rows in place of those of
//! the test table. Both are isolated as the run's scripts were.

mod rows;
mod score;

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use mle_star_backends::script::environment::Environment;
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_report::model::kept_model_note;
use mle_star_report::run_view;
use mle_star_tables::read_options::ReadOptions;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tempfile::TempDir;

use crate::data_plane::{PlaneClient, readable};
use crate::drive::delivery::write_submission;
use crate::error::RunError;
use crate::isolated::{IsolatedScripts, MAX_TIMEOUT};
use crate::model::{self, ModelManifest};
use crate::prepare::intake::MadeData;
use crate::python_environment::environment;
use crate::runs::{self, name};

pub(crate) use rows::{RowIdMode, RunTables, TableSchema, attach_row_ids, read_rows};
pub use score::TableScore;

/// Predicted rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// How many there are.
    pub rows: u64,
    /// How well they are predicted, if that was asked for.
    pub score: Option<TableScore>,
    /// What was odd about the rows, in sentences.
    pub notes: Vec<String>,
}

/// A run with a solution, which may be that of the answer so far.
struct SolvedRun {
    folder: PathBuf,
    task: Task,
    config: Config,
    solution: String,
}

/// Writes the predictions of a run for the rows of a table in any format, in their order: the columns of the run's submission.
/// With `scores`, also compares them with the target in the table.
///
/// # Errors
/// The table cannot be read or lacks a column; the run has no solution, or that does not predict these rows.
pub fn predict<'run>(
    run: &'run Path,
    given: &'run Path,
    into: &'run Path,
    scores: bool,
    say: &'run (dyn Fn(&str) + Sync),
) -> BoxFuture<'run, Result<Predictions, RunError>> {
    Box::pin(predict_rows(run, given, into, scores, say))
}

async fn predict_rows(
    run: &Path,
    given: &Path,
    into: &Path,
    scores: bool,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Predictions, RunError> {
    let run = SolvedRun::read(run)?;
    if !run_view::is_finished(&run.folder) {
        say("note: the run is not finished; its answer so far predicts");
    }
    let folder = TempDir::new().map_err(|error| Trouble::io("write in", &std::env::temp_dir(), &error))?;
    let (rows, predicted) = (folder.path().join("rows.csv"), folder.path().join("predicted.csv"));
    let model = run.fitted(say).await?;
    let data = run.data_folder();
    let files = [given, &data].into_iter().flat_map(|path| readable(path).unwrap_or_default());
    let plane = PlaneClient::open(&run.config, folder.path(), files, say).await?;
    let tables = match (&model, scores) {
        (Some(_), false) => None,
        (Some(_), true) => run.tables(&plane).await.ok(),
        (None, _) => Some(run.tables(&plane).await?),
    };
    let (layout, spellings) = match (&model, &tables) {
        (Some((record, _)), _) => (record.layout.clone(), record.spellings.clone()),
        (None, tables) => tables.clone().map(|tables| (tables.layout, tables.spellings)).unwrap_or_default(),
    };
    let reading = run.reading();
    let read = read_rows(&plane, (&layout, &spellings), (given, &reading), RowIdMode::Own, &rows).await?;
    let (names, mut notes) = (read.names, read.notes);
    let labels = match scores {
        true => Some(score::labels(&run.task, &layout, (given, &reading), folder.path(), &plane).await?),
        false => None,
    };
    match (&model, &tables) {
        _ if names.is_empty() => {
            let written = fs::write(&predicted, format!("{}\n", layout.header.join(",")));
            written.map_err(|error| Trouble::io("write", &predicted, &error))?;
        }
        (Some((_, environment)), _) => {
            let written = run.predict_with_model(environment.clone(), &rows, folder.path()).await?;
            attach_row_ids(&plane, &layout, &written, (&names, RowIdMode::Order), &predicted).await?;
        }
        (None, Some(tables)) => {
            run.fit_again(&plane, tables, given, (&rows, &names), &predicted, (folder.path(), say)).await?;
        }
        (None, None) => {}
    }
    let train = tables.and_then(|tables| tables.train());
    if let Some(train) = train.as_ref().filter(|_| scores) {
        let is_numbered = names.iter().enumerate().all(|(at, name)| *name == at.to_string());
        let but = layout.id.as_ref().filter(|_| is_numbered);
        let question = json!({ "question": "shared_rows", "train": train, "rows": rows, "but": but });
        let shared: Shared = plane.ask(question).await?;
        let shared = shared.shared.filter(|shared| *shared > 0);
        notes.extend(shared.map(|shared| training_rows_note(shared, names.len())));
    }
    notes.iter().for_each(|note| say(&format!("note: {note}")));
    let score = match labels {
        Some(labels) => Some(labels.score(&predicted, &layout, train.as_deref(), &plane).await?),
        None => None,
    };
    let delivered = write_submission(&run.folder, &predicted, into);
    delivered.map_err(|error| Trouble::new(format!("cannot write {}: {error}", into.display()), OUTPUT))?;
    Ok(Predictions { rows: names.len() as u64, score, notes })
}

/// The note that rows with a score are rows that the solution was fitted on.
fn training_rows_note(shared: usize, rows: usize) -> String {
    format!(
        "{shared} of these {rows} rows are rows of the training table; their score says little about new rows"
    )
}

/// How many rows are rows of the training table; `None` if that says nothing.
#[derive(Deserialize)]
struct Shared {
    shared: Option<usize>,
}

const OUTPUT: &str = "choose another file with --output";

impl SolvedRun {
    fn read(folder: &Path) -> Result<Self, RunError> {
        let solution = folder.join(layout::FINAL).join(layout::SOLUTION);
        let solution = fs::read_to_string(&solution).map_err(|_| {
            let run = name(folder).unwrap_or_else(|| folder.display().to_string());
            let message = format!("the run {run} has no solution that could predict");
            RunError::failed(Trouble::resumable(message, "wait for it, or resume it"))
        })?;
        let (task, config) = (frozen(&folder.join(layout::TASK))?, frozen(&folder.join(layout::CONFIG))?);
        Ok(Self { folder: folder.to_owned(), task, config, solution })
    }

    /// How rows to predict are read.
    fn reading(&self) -> ReadOptions {
        MadeData::of_run(&self.folder).map(|record| record.reading).unwrap_or_default()
    }

    /// The fitted model and the interpreter that it was made with; `None` if it is to be fitted again.
    async fn fitted(
        &self,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Option<(ModelManifest, Environment)>, RunError> {
        let Some(record) = ModelManifest::read(&self.folder.join(layout::FINAL))? else { return Ok(None) };
        let environment = environment(self.config.python.as_ref(), say).await?;
        if let Some(why) = record.other_versions(&environment) {
            say(&format!("note: the fitted model is not used: {why}; the solution fits again"));
            return Ok(None);
        }
        let other = run_view::read_result(&self.folder).and_then(|result| kept_model_note(&result.model));
        other.iter().for_each(|whose| say(&format!("note: the fitted model is {whose}")));
        Ok(Some((record, environment)))
    }

    /// Predicts with the fitted model, which can read nothing else of the run.
    async fn predict_with_model(
        &self,
        environment: Environment,
        rows: &Path,
        folder: &Path,
    ) -> Result<PathBuf, RunError> {
        let closed = [self.folder.clone(), self.task.data_dir.clone()];
        let isolated = IsolatedScripts::new(folder, &self.config, &closed, environment).await?;
        let model = self.folder.join(layout::FINAL);
        let (written, _) = model::call(&isolated, &model, rows, folder, MAX_TIMEOUT).await?;
        Ok(written)
    }

    /// The data of the run with all its rows.
    fn data_folder(&self) -> PathBuf {
        let linked = self.folder.join(layout::INPUT);
        if linked.is_dir() { linked } else { runs::data_dir(&self.folder, &self.task) }
    }

    async fn tables(&self, plane: &PlaneClient) -> Result<RunTables, RunError> {
        let data = self.data_folder();
        RunTables::open(plane, &data, self.task.roles.id.as_deref()).await.map_err(|error| {
            let made = MadeData::of_run(&self.folder).map(|record| record.given);
            let given = made.unwrap_or_else(|| self.task.data_dir.clone());
            let message = format!("the data of the run is no longer at {}", given.display());
            let hint =
                "put it back there: the solution fits again; or predict with a run that has a fitted model";
            if is_gone(&data) { RunError::failed(Trouble::new(message, hint)) } else { error }
        })
    }

    /// Runs the script of the solution with these rows as its test table.
    async fn fit_again(
        &self,
        plane: &PlaneClient,
        tables: &RunTables,
        given: &Path,
        (rows, names): (&Path, &[String]),
        predicted: &Path,
        (folder, say): (&Path, &(dyn Fn(&str) + Sync)),
    ) -> Result<(), RunError> {
        let by = if are_unique(names) { RowIdMode::Own } else { RowIdMode::Numbers };
        let numbered = match by {
            // Scripts look rows up by their names.
            RowIdMode::Numbers => {
                let like = (&tables.layout, &tables.spellings);
                read_rows(plane, like, (given, &self.reading()), by, rows).await?.names
            }
            _ => names.to_vec(),
        };
        let data = folder.join("data");
        tables.copy_with_test_rows(plane, rows, &numbered, &data).await?;
        self.keep_folds(&data).map_err(|error| RunError::failed(Trouble::io("write", &data, &error)))?;
        let environment = environment(self.config.python.as_ref(), say).await?;
        let isolated = IsolatedScripts::new(folder, &self.config, &[], environment).await?;
        let (written, _) = isolated.submission(&self.solution, &data, MAX_TIMEOUT, true).await?;
        attach_row_ids(plane, &tables.layout, &written, (names, by), predicted).await
    }

    /// The folds of a run whose data moved lie beside its solution.
    fn keep_folds(&self, data: &Path) -> std::io::Result<()> {
        let (folds, kept) = (data.join(layout::FOLDS), self.folder.join(layout::FINAL).join(layout::FOLDS));
        if folds.exists() || !kept.exists() {
            return Ok(());
        }
        fs::copy(kept, folds).map(drop)
    }
}

fn frozen<T: DeserializeOwned>(file: &Path) -> Result<T, RunError> {
    let read = || -> Result<T, String> {
        let text = fs::read(file).map_err(|error| error.to_string())?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    };
    read().map_err(|why| {
        let message = format!("cannot read {}: {why}", file.display());
        RunError::failed(Trouble::new(message, "restore the folder of the run from a copy"))
    })
}

/// Whether a data folder, or what it links to, is not there.
fn is_gone(data: &Path) -> bool {
    fs::read_dir(data).map_or(true, |entries| entries.flatten().any(|entry| !entry.path().exists()))
}

fn are_unique(names: &[String]) -> bool {
    let mut seen = std::collections::HashSet::with_capacity(names.len());
    names.iter().all(|name| !name.trim().is_empty() && seen.insert(name.trim()))
}
