//! Tries the metric file of a task before anything is paid.

use mle_star_backends::script::plane::absolute;
use mle_star_domain::protocol::Protocol;
use mle_star_domain::task::{Answers, MetricFile, Task};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::profile::{ColumnKind, Profile};
use serde::Deserialize;
use serde_json::json;

use crate::data_plane::BlockingPlaneClient;
use crate::error::RunError;
use crate::protocol::{id_column, label_columns};

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct TrialResult {
    /// The columns that the file wants of the true values.
    answers: Answers,
    /// The score of predictions that are mostly right.
    score: f64,
    /// How long a score took, in seconds.
    seconds: f64,
    /// The number of rows.
    rows: usize,
    /// Whether it gives scores for resampled rows, too.
    resamples: bool,
}

/// Calls the metric file of the task, if it has one, with labelled rows. Keeps in the task which columns the file wants, and
/// returns a line about it.
///
/// # Errors
/// The file gives no score, or there are no rows to try it with.
pub fn try_own_metric(
    task: &mut Task,
    profile: Option<&Profile>,
    protocol: Option<&Protocol>,
    plane: &BlockingPlaneClient,
) -> Result<Option<String>, RunError> {
    let Some(file) = task.metric_file.clone() else { return Ok(None) };
    let tried = match protocol.and_then(|protocol| protocol.unverified.as_ref()) {
        Some(why) => return Err(untried(&file, why).into()),
        None => try_metric(task, profile, &file, plane)?,
    };
    let line = line(task, &file, &tried);
    task.metric_file = Some(MetricFile { answers: tried.answers, ..file });
    Ok(Some(line))
}

fn try_metric(
    task: &Task,
    profile: Option<&Profile>,
    file: &MetricFile,
    plane: &BlockingPlaneClient,
) -> Result<TrialResult, RunError> {
    let profile = profile.ok_or_else(|| untried(file, "there is no training table"))?;
    let columns = label_columns(task, profile, None);
    let sample = profile.sample.as_ref();
    let sample = sample.ok_or_else(|| untried(file, "there is no sample submission"))?;
    let header: Vec<String> = sample.columns.iter().map(|column| column.name.clone()).collect();
    let id_column = id_column(task, &header);
    let is_number = |kind: ColumnKind| matches!(kind, ColumnKind::Integer | ColumnKind::Float);
    let text_target = profile.train.column(&columns.target).is_some_and(|column| !is_number(column.kind));
    let predicted = sample.columns.iter().filter(|column| Some(&column.name) != id_column.as_ref());
    let with_probabilities = predicted
        .clone()
        .any(|column| column.kind == ColumnKind::Float || text_target && is_number(column.kind));
    let [train, sample] =
        [&profile.train.file, &sample.file].map(|table| absolute(&task.data_dir.join(table)));
    let question = json!({
        "question": "trial",
        "metric_file": file.to_json(),
        "train": train,
        "columns": columns,
        "header": header,
        "id_column": id_column,
        "with_probabilities": with_probabilities,
        "sample": sample,
    });
    let hint = "correct the file, or name a metric with --metric instead";
    plane.try_ask(question)?.map_err(|why| Trouble::new(why, hint).into())
}

fn untried(file: &MetricFile, why: &str) -> Trouble {
    Trouble::new(format!("{} cannot be tried: {why}", file.name), "name a metric with --metric instead")
}

fn line(task: &Task, file: &MetricFile, tried: &TrialResult) -> String {
    let better = task.metric_direction.comparative();
    let doubt =
        if tried.resamples { "" } else { "; it has no score for resampled rows, so there are no intervals" };
    format!(
        "metric: {} by {} ({better} is better; tried on {} rows, {:.2} s for a score{doubt})",
        task.evaluation_metric, file.name, tried.rows, tried.seconds
    )
}
