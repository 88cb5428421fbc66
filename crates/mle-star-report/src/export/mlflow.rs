//! Exports a finished run for MLflow: a run with its settings, scores and files, and a nested run for each scored script.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mle_star::journal::Kind;
use mle_star::result::{FinalResult, ModelKind};
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use serde::Serialize;
use serde_json::Value;

use crate::run_report::RunReport;
use crate::run_view::RunView;
use crate::step_rows::StepRow;

/// What MLflow shows as the description of a run.
const NOTE: &str = "mlflow.note.content";

/// A run for MLflow. Times are in milliseconds since 1970.
#[derive(Clone, Debug, Serialize)]
pub struct MlflowExport {
    /// The name of the experiment: the task.
    pub experiment: String,
    /// The run ID.
    pub id: String,
    /// When the run was created.
    pub started: String,
    /// The run itself.
    pub run: MlflowRun,
    /// The scored scripts, in the order in which they ended.
    pub scripts: Vec<MlflowRun>,
    /// The folder with its fitted model; `None` if there is none.
    pub model: Option<PathBuf>,
}

/// What is logged of a run, or of a script.
#[derive(Clone, Debug, Serialize)]
pub struct MlflowRun {
    /// The name.
    pub name: String,
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// Words by their names.
    pub tags: BTreeMap<String, String>,
    /// Settings by their names.
    pub params: BTreeMap<String, String>,
    /// Scores, and what else was measured.
    pub metrics: Vec<MetricPoint>,
    /// Files, by absolute paths.
    pub files: Vec<PathBuf>,
}

/// A number at a time and a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricPoint {
    /// The name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// When it was known.
    pub at: i64,
    /// The number of scripts that had a score before.
    pub step: usize,
}

/// A finished run for MLflow.
pub fn mlflow(view: &RunView, result: &FinalResult, report: &RunReport) -> MlflowExport {
    let folder = std::path::absolute(&view.folder).unwrap_or_else(|_| view.folder.clone());
    let started = &view.summary.created_at;
    let start = epoch_millis(started).unwrap_or_default();
    let ends = view.snapshot.effects.iter().filter(|effect| effect.counts());
    let end = ends.filter_map(|effect| epoch_millis(effect.ended_at.as_deref()?)).fold(start, i64::max);
    let last = folder.join(layout::FINAL);
    let own = [layout::SUBMISSION, layout::SOLUTION, layout::REQUIREMENTS].map(|name| last.join(name));
    let files = own.into_iter().chain([folder.join(layout::REPORT)]);
    let parts = [layout::MODEL, layout::MODEL_RECORD, layout::PREDICT];
    let is_whole = parts.iter().all(|part| last.join(part).exists());
    let notes: String = report.score_lines().iter().map(|line| format!("- {line}\n")).collect();
    let scored = scored_scripts(view);
    let scripts: Vec<MlflowRun> =
        (0..).zip(&scored).map(|(step, row)| script(&folder, row, step, start)).collect();
    let best_scores = (0..).zip(scored.iter().zip(&scripts)).filter_map(|(step, (row, script))| {
        let ended = row.ended.filter(|_| row.counts)?;
        let so_far = report.solutions.iter().take_while(|one| one.ended <= ended);
        let value = so_far.filter(|one| one.improved).last()?.score?;
        Some(MetricPoint { name: "best_score".to_owned(), value, at: script.end, step })
    });
    MlflowExport {
        experiment: result.task.competition_id.clone(),
        id: view.snapshot.frozen.run_id.clone(),
        started: started.clone(),
        run: MlflowRun {
            name: report.summary.run.run_id.clone(),
            start,
            end,
            tags: BTreeMap::from([(NOTE.to_owned(), notes)]),
            params: params(result),
            metrics: result_metrics(result, report, end).into_iter().chain(best_scores).collect(),
            files: files.filter(|file| file.is_file()).collect(),
        },
        scripts,
        model: (result.model.kind == ModelKind::Fitted && is_whole).then_some(last),
    }
}

/// Milliseconds since 1970.
fn epoch_millis(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// The scripts with a score, in the order in which they ended.
fn scored_scripts(view: &RunView) -> Vec<&StepRow> {
    let has_score = |row: &&StepRow| row.kind == Kind::Script && row.score.is_some_and(f64::is_finite);
    let mut rows: Vec<&StepRow> = view.steps.iter().filter(has_score).collect();
    rows.sort_by(|one, other| one.ended.unwrap_or(0.0).total_cmp(&other.ended.unwrap_or(0.0)));
    rows
}

/// The scores of the solution, with their intervals, and what the run cost.
fn result_metrics(result: &FinalResult, report: &RunReport, at: i64) -> Vec<MetricPoint> {
    let (score, trust) = (&report.score, report.score.trust.as_ref());
    let validated = trust.and_then(|trust| trust.validation_interval);
    let held_out = trust.and_then(|trust| trust.holdout_interval);
    let rows = trust.and_then(|trust| trust.holdout_rows);
    let values = [
        ("validation_score", score.validation_score),
        ("validation_low", validated.map(|[low, _]| low)),
        ("validation_high", validated.map(|[_, high]| high)),
        ("held_out_score", score.held_out_score()),
        ("held_out_low", held_out.map(|[low, _]| low)),
        ("held_out_high", held_out.map(|[_, high]| high)),
        ("held_out_rows", rows.map(|rows| rows as f64)),
        ("duration_seconds", Some(result.total_duration_seconds)),
        ("cost_usd", result.total_cost_usd),
        ("model_milliseconds_per_row", result.model.milliseconds_per_row),
    ];
    let known =
        values.into_iter().filter_map(|(name, value)| Some((name, value.filter(|one| one.is_finite())?)));
    known.map(|(name, value)| MetricPoint { name: name.to_owned(), value, at, step: 0 }).collect()
}

/// A scored script. The clock of the run would not tell when it ended: it stands still while no process works on the run, and
/// that of a fork goes on from its parent's.
fn script(folder: &Path, row: &StepRow, step: usize, start: i64) -> MlflowRun {
    let end = row.ended_at.as_deref().and_then(epoch_millis).unwrap_or(start);
    let seconds = row.seconds.unwrap_or(0.0);
    let measured = |name: &str, value: f64, step| MetricPoint { name: name.to_owned(), value, at: end, step };
    let script = format!("{}.py", Place::from(row.place.as_str()).file_stem());
    let script = folder.join(layout::SOLUTIONS).join(script);
    let tags = [("mle_star.place", row.place.clone()), ("mle_star.counts", row.counts.to_string())];
    MlflowRun {
        name: row.place.clone(),
        start: end - (1000.0 * seconds) as i64,
        end,
        tags: tags.map(|(name, value)| (name.to_owned(), value)).into(),
        params: BTreeMap::new(),
        metrics: vec![
            measured("score", row.score.unwrap_or_default(), step),
            measured("seconds", seconds, 0),
        ],
        files: Some(script).filter(|file| file.is_file()).into_iter().collect(),
    }
}

/// The settings of the run, and what the task asks for.
fn params(result: &FinalResult) -> BTreeMap<String, String> {
    let mut params = BTreeMap::new();
    flatten("", &serde_json::to_value(&result.config).unwrap_or_default(), &mut params);
    let task = &result.task;
    let targets = task.roles.target.as_ref().map(|targets| targets.all().join(", "));
    for (name, value) in [
        ("task.metric", Some(task.evaluation_metric.clone())),
        ("task.direction", Some(task.metric_direction.name().to_owned())),
        ("task.roles.target", targets),
        ("task.roles.id", task.roles.id.clone()),
    ] {
        params.extend(value.map(|value| (name.to_owned(), value)));
    }
    params
}

/// The leaves of an object, by their paths.
fn flatten(name: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(parts) => {
            for (part, value) in parts {
                let name = if name.is_empty() { part.clone() } else { format!("{name}.{part}") };
                flatten(&name, value, into);
            }
        }
        Value::String(text) => drop(into.insert(name.to_owned(), text.clone())),
        other => drop(into.insert(name.to_owned(), other.to_string())),
    }
}
