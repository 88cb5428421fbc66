//! How the predictions of the kept model depend on the strongest columns, for the report. A run does without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use mle_star_domain::task::TaskType;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::model::ModelKeeper;
use crate::error::RunError;
use crate::model::call;
use crate::runs::inputs::write_json;

/// How long it may take after a run has ended. What takes longer is left out.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How long the model may take, by the time of its check.
const MODEL_MILLISECONDS: f64 = 8_000.0;
/// The most rows that are predicted.
const MOST_ROWS: f64 = 50_000.0;

/// Keeps the means that the model in `final/` predicts for copies of training rows with other values of single columns, or why they are
/// not known.
pub async fn keep(keeper: &ModelKeeper<'_>, result: &FinalResult, milliseconds_per_row: Option<f64>) {
    let found = timeout(TIMEOUT, ask(keeper, result, milliseconds_per_row)).await;
    let found = found.unwrap_or_else(|_| Err(format!("it takes longer than {} s", TIMEOUT.as_secs())));
    let found = found.unwrap_or_else(|why| json!({ "failure": why }));
    let file = file(&keeper.run.folder);
    let _ = file.parent().map(fs::create_dir_all);
    let _ = write_json(&file, &found);
}

async fn ask(
    keeper: &ModelKeeper<'_>,
    result: &FinalResult,
    milliseconds_per_row: Option<f64>,
) -> Result<Value, String> {
    let in_words = |error: RunError| error.trouble.message;
    let folder = tempfile::tempdir_in(keeper.folder).map_err(|error| error.to_string())?;
    let (rows, tables) = (folder.path().join("rows.csv"), &keeper.tables);
    let most = (MODEL_MILLISECONDS / milliseconds_per_row.unwrap_or(1.0)).min(MOST_ROWS);
    let strongest = result.importance.iter().flatten().filter(|one| !one.hurts());
    let files: Vec<PathBuf> = tables.train().into_iter().chain([tables.test()]).collect();
    let question = json!({
        "question": "dependence_rows",
        "files": files,
        "columns": strongest.map(|one| &one.column).collect::<Vec<_>>(),
        "layout": tables.layout,
        "most": most.round(),
    });
    let grid: Value = keeper.plane.ask_for(question, &rows).await.map_err(in_words)?;
    let run = &keeper.run.folder;
    let isolated =
        keeper.isolated(folder.path(), &[run.clone(), keeper.run.frozen.task.data_dir.clone()]).await?;
    let called = call(&isolated, &run.join(layout::FINAL), &rows, folder.path(), TIMEOUT).await;
    let (predicted, _) = called.map_err(in_words)?;
    let question = json!({
        "question": "dependence",
        "predicted": predicted,
        "grid": grid,
        "layout": tables.layout,
        "is_regression": result.task.task_type == TaskType::Regression,
    });
    keeper.plane.ask(question).await.map_err(in_words)
}

/// The file that keeps it.
pub fn file(run: &Path) -> PathBuf {
    run.join(layout::HOLDOUT).join(layout::DEPENDENCE)
}
