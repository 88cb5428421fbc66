//! The evaluation protocol: how the test rows differ, and which rows no script sees before the final choice. The data plane
//! decides on it.

mod in_words;

use mle_star_domain::config::{Acceptance, Config, HoldoutShare, Preset};
use mle_star_domain::protocol::{GivenFolds, Holdout, LabelColumns, Periods, Protocol, Split};
use mle_star_domain::task::{Task, TextColumn};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::comparison;
use mle_star_tables::metrics::{Kind, Metric};
use mle_star_tables::profile::{Column, Profile};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::RunError;
use crate::prepare::Data;
use crate::prepare::intake::Intake;

pub use in_words::{details, lines, opening};

/// How a task is evaluated, as the data plane decides.
#[derive(Deserialize)]
struct Plan {
    split: Option<Split>,
    holdout: Holdout,
    periods: Option<Periods>,
    rows: u64,
    targets: Vec<String>,
    unverified: Option<String>,
    /// The rows that the training table of the search lacks.
    removed: usize,
    has_folds_file: bool,
    own_folds: Option<GivenFolds>,
}

/// The evaluation protocol of a new run; `None` if the run evaluates as in the paper.
///
/// # Errors
/// The user's folds do not fit the labelled rows, or another setting contradicts them; there is no answer.
pub fn decide(
    task: &Task,
    config: &Config,
    data: &Data,
    intake: &Intake,
) -> Result<Option<Protocol>, RunError> {
    check_folds(task, config, data.profile.is_some())?;
    // Only the program calls a metric file.
    let is_papers = is_papers(config) && task.metric_file.is_none() && !names_columns(task);
    let drawn = intake.drawn.as_ref();
    if is_papers && drawn.is_none() {
        return Ok(None);
    }
    let Some(profile) = &data.profile else {
        return Ok(Some(without_scores("there is no training table")));
    };
    let drawn = drawn.map(|drawn| json!({ "split": drawn.split, "holdout": drawn.holdout }));
    let is_drawn = drawn.is_some();
    let plan: Plan = intake.plane.ask(question_of_rows("plan", task, config, &data.facts, drawn.as_ref()))?;
    Ok(Some(if is_papers { papers(plan) } else { protocol(task, (profile, is_drawn), plan) }))
}

/// A question about how a task is evaluated; `drawn` says so of test rows that the program took from a single table.
pub fn question_of_rows(
    name: &str,
    task: &Task,
    config: &Config,
    facts: &Value,
    drawn: Option<&Value>,
) -> Value {
    let mut facts = facts.clone();
    facts["folds"] = json!(task.folds);
    let Config { holdout, holdout_rows, seed, preset, .. } = config;
    json!({
        "question": name,
        "folder": task.data_dir,
        "facts": facts,
        "config": { "holdout": holdout, "holdout_rows": holdout_rows, "seed": seed, "preset": preset },
        "drawn": drawn,
    })
}

/// Checks that no other setting says which rows are validated than folds that the user gives.
fn check_folds(task: &Task, config: &Config, has_tables: bool) -> Result<(), Trouble> {
    let [message, hint] = match task.folds {
        None => return Ok(()),
        Some(_) if task.roles.time.is_some() => [
            "`folds` and `time_column` both say which rows are validated",
            "leave out one of them (--folds, --time-column)",
        ],
        Some(_) if config.preset == Preset::Paper => [
            "`preset: paper` leaves the choice of validation rows to agents, so `folds` has no effect",
            "leave out one of them (--folds, preset)",
        ],
        Some(_) if !has_tables || task.target().is_none() => [
            "`folds` needs a training table, and the column to predict",
            "name the column with --target, or leave `folds` (--folds) out",
        ],
        Some(_) => return Ok(()),
    };
    Err(Trouble::new(message, hint))
}

/// Whether the run evaluates as in the paper: with its preset, unless a key that was given needs more.
fn is_papers(config: &Config) -> bool {
    config.preset == Preset::Paper
        && config.holdout == HoldoutShare::Off
        && config.acceptance == Acceptance::Paper
}

/// Whether the user named a column by which rows are validated or weighted.
fn names_columns(task: &Task) -> bool {
    [&task.roles.group, &task.roles.time, &task.roles.weight].into_iter().any(Option::is_some)
}

fn protocol(task: &Task, (profile, is_drawn): (&Profile, bool), plan: Plan) -> Protocol {
    let Plan { split, holdout, periods, rows, targets, unverified, has_folds_file, own_folds, .. } = plan;
    let (metric, verifies) = (built_in(task), unverified.is_none());
    let comparison = split.as_ref().filter(|_| !is_drawn).and_then(|split| {
        let mut compared = profile.clone();
        compared.train.rows = compared.train.rows.saturating_sub(plan.removed);
        let classes = is_classification(task, profile);
        let left_out: Vec<&str> =
            task.roles.ignored.iter().chain(&task.roles.weight).map(String::as_str).collect();
        comparison::script(&compared, task.target()?, task.roles.id.as_deref(), split, (classes, &left_out))
    });
    Protocol {
        mean_over_periods: depends_on_all(metric) && verifies && has_folds_file && periods.is_some(),
        class_scores: verifies && has_class_scores(metric, targets.len(), profile),
        formula: metric.map_or_else(String::new, |metric| metric.formula().to_owned()),
        by_order: metric.is_some_and(Metric::is_by_order),
        comparison: comparison.unwrap_or_default(),
        like_rows: has_folds_file,
        split,
        holdout,
        rows,
        verifies,
        unverified,
        periods,
        has_folds_file,
        own_folds,
        targets,
        ..Protocol::default()
    }
}

/// The protocol of a run that evaluates as in the paper. Only the test rows of a single table are scored by the program.
fn papers(plan: Plan) -> Protocol {
    let own = without_scores("solutions are evaluated as in the paper");
    Protocol { split: plan.split, holdout: plan.holdout, is_papers: true, ..own }
}

/// The protocol of a run whose scores the program does not compute, for the reason `why`.
fn without_scores(why: &str) -> Protocol {
    let holdout = Holdout::Off { why: why.to_owned() };
    Protocol { holdout, unverified: Some(why.to_owned()), ..Protocol::default() }
}

/// The metric of a task, if the program has its formula.
fn built_in(task: &Task) -> Option<Metric> {
    Metric::parse(&task.evaluation_metric).filter(|_| task.metric_file.is_none())
}

/// Whether the target has classes, by the metric or, without its formula, by the values.
fn is_classification(task: &Task, profile: &Profile) -> bool {
    match built_in(task) {
        Some(metric) => !metric.is_for_regression(),
        None => task.target().and_then(|target| profile.train.column(target)).is_some_and(has_classes),
    }
}

/// Whether a column may hold classes, rather than amounts.
fn has_classes(column: &Column) -> bool {
    const MAX_CLASSES: usize = 20;
    !column.kind.is_number() || column.distinct <= MAX_CLASSES
}

/// Whether the score depends on all rows together, as ROC-AUC does, and is no mean of a value for each row. A metric file may do
/// anything, so it counts as such.
fn depends_on_all(metric: Option<Metric>) -> bool {
    metric.is_none_or(|metric| !metric.is_mean_over_rows())
}

/// Whether scripts can leave the scores of classes beside the labels that they predict.
fn has_class_scores(metric: Option<Metric>, targets: usize, profile: &Profile) -> bool {
    let predicted = profile.sample.as_ref().map_or(0, |sample| sample.columns.len());
    let is_of_labels = metric.is_some_and(|metric| metric.kind() == Kind::Labels);
    is_of_labels && targets <= 1 && predicted <= 2
}

/// The columns by which the program computes scores itself.
pub fn label_columns(task: &Task, profile: &Profile, cluster: Option<&str>) -> LabelColumns {
    let target = task.target().unwrap_or_default();
    let targets = profile.targets(target, task.roles.id.as_deref());
    let further: Vec<String> =
        targets.into_iter().filter(|name| *name != target).map(str::to_owned).collect();
    LabelColumns {
        id: task.roles.id.clone().filter(|id| profile.train.column(id).is_some()),
        target: target.to_owned(),
        cluster: cluster.map(str::to_owned),
        weight: task.roles.weight.clone(),
        positive: task.roles.positive.clone().filter(|_| further.is_empty()),
        words: TextColumn::words_of(&profile.text_columns, |name| {
            name == target || further.iter().any(|other| other == name)
        }),
        further,
    }
}

/// The column of a submission with the row IDs: without a named one, the first of several columns.
pub fn id_column(task: &Task, header: &[String]) -> Option<String> {
    let named = task.roles.id.clone().filter(|id| header.contains(id));
    named.or_else(|| header.first().filter(|_| header.len() > 1).cloned())
}
