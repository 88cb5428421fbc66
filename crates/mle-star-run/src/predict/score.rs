//! Compares predictions with the target in the same table.

use std::path::{Path, PathBuf};

use mle_star_backends::script::plane::absolute;
use mle_star_domain::measure::Measurement;
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::task::{Targets, Task, TextColumn};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::metrics::Metric;
use mle_star_tables::read_options::ReadOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::rows::{RowIdMode, TableSchema, read_rows};
use crate::data_plane::PlaneClient;
use crate::error::RunError;

/// Bootstrap replicates.
const REPLICATES: usize = 1000;

/// The score of predicted rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableScore {
    /// The rows with a target.
    pub rows: u64,
    /// The metric of the run.
    pub metric: String,
    /// The score of the rows.
    pub score: f64,
    /// The 95 % interval of the score, if it is known.
    pub interval: Option<[f64; 2]>,
}

/// The target of the rows to predict.
pub struct RowLabels {
    file: PathBuf,
    columns: LabelColumns,
    metric: Metric,
    name: String,
    has_interval: bool,
}

/// The target in a table of rows to predict.
///
/// # Errors
/// The program cannot compute the metric of the run, or the table lacks the target.
pub async fn labels(
    task: &Task,
    layout: &TableSchema,
    (given, reading): (&Path, &ReadOptions),
    folder: &Path,
    plane: &PlaneClient,
) -> Result<RowLabels, RunError> {
    let metric = Metric::parse(&task.evaluation_metric).filter(|_| task.metric_file.is_none());
    let metric = metric.ok_or_else(|| {
        let message = format!("the program cannot compute the metric {} here", task.evaluation_metric);
        Trouble::new(message, "leave --score out, and score the predictions by hand")
    })?;
    let targets = targets(task, layout)?;
    let wanted: Vec<String> = targets.iter().chain(&task.roles.weight).cloned().collect();
    let file = folder.join("labels.csv");
    let write = async |group: Option<&String>| {
        let columns = wanted.iter().chain(group).cloned().collect();
        let layout = TableSchema { columns, header: Vec::new(), id: None };
        read_rows(plane, (&layout, &Value::Null), (given, reading), RowIdMode::Numbers, &file).await
    };
    let group = task.roles.group.as_ref().filter(|group| !wanted.contains(group));
    let cluster = match group {
        Some(group) => write(Some(group)).await.is_ok().then(|| group.clone()),
        None => None,
    };
    if cluster.is_none() {
        write(None).await.map_err(|RunError { kind, trouble }| {
            let hint = "--score needs the column to predict; leave it out to predict only".to_owned();
            RunError { kind, trouble: Trouble { hint, ..trouble } }
        })?;
    }
    // Rows of a group are not independent.
    let has_interval = task.roles.group.is_none() || cluster.is_some();
    let words = TextColumn::words_of(&task.text_columns, |name| targets.iter().any(|other| other == name));
    let mut targets = targets.into_iter();
    let columns = LabelColumns {
        target: targets.next().unwrap_or_default(),
        further: targets.collect(),
        weight: task.roles.weight.clone(),
        positive: task.roles.positive.clone(),
        words,
        cluster,
        ..LabelColumns::default()
    };
    Ok(RowLabels { file, columns, metric, name: task.evaluation_metric.clone(), has_interval })
}

/// The columns to predict: those that the task names; if it names one of several columns of the submission, all of these.
fn targets(task: &Task, layout: &TableSchema) -> Result<Vec<String>, Trouble> {
    let named = task.roles.target.as_ref().map(Targets::all).unwrap_or_default();
    let lacks = || Trouble::new("the column to predict is not known", "leave --score out");
    let first = named.first().ok_or_else(lacks)?;
    let several: Vec<String> =
        layout.header.iter().filter(|name| layout.id.as_ref() != Some(name)).cloned().collect();
    let is_among = named.len() > 1 || several.len() > 1 && several.contains(first);
    Ok(if is_among && named.len() == 1 { several } else { named.to_vec() })
}

impl RowLabels {
    /// The score of predictions in the order of the rows.
    ///
    /// # Errors
    /// The predictions cannot be scored.
    pub async fn score(
        &self,
        predicted: &Path,
        layout: &TableSchema,
        train: Option<&Path>,
        plane: &PlaneClient,
    ) -> Result<TableScore, RunError> {
        let cannot = |why: String| {
            let message = format!("the predictions cannot be scored: {why}");
            RunError::from(Trouble::new(message, "check the target in the table, or leave --score out"))
        };
        let id = layout.id.as_ref();
        let header: Vec<&String> = layout.header.iter().filter(|name| Some(*name) != id).collect();
        let question = json!({
            "question": "score",
            "metric": self.metric.name(),
            "answers": self.file,
            "columns": self.columns,
            "layout": { "header": header },
            "submission": predicted,
            "training": train.map(absolute),
            "replicates": REPLICATES,
        });
        let found: Reply = plane.try_ask(question).await?.map_err(cannot)?;
        let measured = match found {
            Reply { measured: Some(measured), .. } => measured,
            Reply { failure, unusable, .. } => return Err(cannot(unusable.or(failure).unwrap_or_default())),
        };
        let interval = measured.interval.filter(|_| self.has_interval);
        Ok(TableScore { rows: measured.rows, metric: self.name.clone(), score: measured.score, interval })
    }
}

/// The answer of the data plane: the score, or what is wrong with the predictions or with the labels.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reply {
    measured: Option<Measurement>,
    failure: Option<String>,
    unusable: Option<String>,
}
