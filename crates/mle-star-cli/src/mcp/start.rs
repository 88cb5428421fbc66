//! The tools `run` and `resume`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mle_star_domain::metric::Direction;
use mle_star_domain::trouble::Trouble;
use mle_star_run::provider;
use mle_star_run::runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Hub;
use super::answer::Answer;
use crate::args::{ResumeArgs, RunArgs, SettingsArgs, TaskArgs};
use crate::processes::{self, Begun, Launched, expanded};

pub const ABOUT: &str = "Start a run that solves a machine-learning task. Returns at once with the run's ID and folder; the \
run works for minutes to hours in its own process and goes on when this session ends. Then call watch. The agents are \
built-in rules, free and without network, unless you set agents or max_budget_usd: language models cost money. Call preview \
first to see what is inferred and expected.";

pub const ABOUT_RESUME: &str = "Continue a run that was stopped or interrupted, or that used its time or its money. \
Finished steps are not repeated. Raise the limit that cut it short.";

/// What to solve, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInput {
    /// Path of the task: a folder with train.csv, test.csv, sample_submission.csv and description.md, one table, or a
    /// task file
    pub task: String,
    /// Evaluation metric, such as RMSE or ROC-AUC, if the task does not say it
    pub metric: Option<String>,
    /// Which scores of the metric are better, if the program does not know it
    pub direction: Option<Direction>,
    /// Column to predict
    pub target: Option<String>,
    /// Column that identifies rows
    pub id_column: Option<String>,
    /// Column with groups of dependent rows
    pub group_column: Option<String>,
    /// Column with the time of each row
    pub time_column: Option<String>,
    /// Column with row weights
    pub weight_column: Option<String>,
    /// Folds of the validation: a column of the training table, or a CSV file with row IDs and `fold`
    pub folds: Option<String>,
    /// Columns that are no features
    #[serde(default)]
    pub ignore_columns: Vec<String>,
    /// The label, of two, whose probability is predicted
    pub positive_class: Option<String>,
    /// Path of a Python file that computes the metric
    pub metric_file: Option<String>,
    /// Share of a single table that is predicted, 0.2 by default
    pub test_share: Option<f64>,
    /// Sheet of Excel files, the first by default
    pub sheet: Option<String>,
    /// auto (default; claude only with max_budget_usd, else offline), claude, codex, openai, offline or files
    pub agents: Option<String>,
    /// Model of the agents
    pub model: Option<String>,
    /// Stop after this time; default 86400
    pub time_limit_seconds: Option<u64>,
    /// Most US dollars for agent calls; no limit by default
    pub max_budget_usd: Option<f64>,
    /// Further config keys, such as {"num_retrieved_models": 2, "num_parallel_solutions": 1, "holdout": 0.2}
    #[serde(default)]
    pub settings: BTreeMap<String, Value>,
    /// Path of a config file (YAML or TOML)
    pub config: Option<String>,
    /// Earlier runs, by ID or path, whose experience the agents get
    #[serde(default)]
    pub learn_from: Vec<String>,
    /// ID of the run; made from task and time by default
    pub run_id: Option<String>,
}

/// A run in progress.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Started {
    /// For the other tools.
    run_id: String,
    folder: PathBuf,
    /// `running`, or `preparing` if it takes over a minute.
    state: &'static str,
    task: String,
    metric: String,
    direction: Direction,
    target: Option<String>,
    agents: String,
    time_limit_seconds: u64,
    max_budget_usd: Option<f64>,
    /// Where the task, its settings and agents come from, and how solutions are evaluated.
    notes: Vec<String>,
}

/// Starts a run.
pub fn run(hub: &Hub, input: RunInput) -> Result<Answer<Started>, Trouble> {
    let launched = processes::launch(&input.into_arguments(hub), &hub.runs_dir, &hub.late)?;
    let Launched { id, folder, begun, prepared } = launched;
    let state = match begun {
        Begun::Going => "running",
        Begun::Preparing => "preparing",
    };
    let mut lines = vec![format!("started run {id} ({state}) in {}", folder.display())];
    let notes = prepared.lines();
    lines.extend(notes.iter().cloned());
    lines.push("next: watch with this run".to_owned());
    let started = Started {
        run_id: id,
        folder,
        state,
        task: prepared.task.competition_id,
        metric: prepared.task.evaluation_metric,
        direction: prepared.task.metric_direction,
        target: prepared.task.roles.target.map(|targets| targets.to_string()),
        agents: provider::name(prepared.config.agents).to_owned(),
        time_limit_seconds: prepared.config.time_limit_seconds,
        max_budget_usd: prepared.config.max_budget_usd,
        notes,
    };
    Ok(Answer::new(&lines, started))
}

/// A run to continue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeInput {
    /// Run ID, or path of the run folder
    run: String,
    /// A larger time limit, earlier time included
    time_limit_seconds: Option<u64>,
    /// A larger cost limit in US dollars, earlier cost included
    max_budget_usd: Option<f64>,
}

/// A run that goes on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Resumed {
    run_id: String,
    folder: PathBuf,
    /// `running` or `preparing`.
    state: &'static str,
}

/// Resumes a run.
pub fn resume(hub: &Hub, input: ResumeInput) -> Result<Answer<Resumed>, Trouble> {
    let folder = hub.find(&input.run)?;
    let args = ResumeArgs {
        time_limit: input.time_limit_seconds.map(|limit| limit.to_string()),
        max_budget_usd: input.max_budget_usd.map(|limit| limit.to_string()),
        ..ResumeArgs::default()
    };
    let state = match processes::resume(&folder, &args, &hub.late)? {
        Begun::Going => "running",
        Begun::Preparing => "preparing",
    };
    let run_id = runs::name(&folder).unwrap_or(input.run);
    let lines = [format!("run {run_id} goes on ({state}) in {}", folder.display())];
    Ok(Answer::new(&lines, Resumed { run_id, folder, state }))
}

impl RunInput {
    /// As the command line would have it.
    pub fn into_arguments(self, hub: &Hub) -> RunArgs {
        RunArgs {
            path: expanded(&self.task),
            settings: SettingsArgs {
                agents: self.agents,
                config: self.config.as_deref().map(expanded),
                set: self.settings.iter().map(|(key, value)| format!("{key}={}", setting(value))).collect(),
                model: self.model,
                max_budget_usd: self.max_budget_usd.map(|limit| limit.to_string()),
                ..SettingsArgs::default()
            },
            time_limit: self.time_limit_seconds.map(|limit| limit.to_string()),
            learn_from: self.learn_from,
            runs_dir: Some(hub.runs_dir.clone()),
            run_id: self.run_id,
            task: TaskArgs::of(
                [
                    ("metric", self.metric),
                    ("direction", self.direction.map(|direction| direction.name().to_owned())),
                    ("target", self.target),
                    ("id_column", self.id_column),
                    ("group_column", self.group_column),
                    ("time_column", self.time_column),
                    ("weight_column", self.weight_column),
                    ("folds", self.folds.map(|folds| expanded(&folds).display().to_string())),
                    ("ignore_columns", Some(self.ignore_columns.join(",")).filter(|names| !names.is_empty())),
                    ("positive_class", self.positive_class),
                    (
                        "metric_file",
                        self.metric_file.as_deref().map(|file| expanded(file).display().to_string()),
                    ),
                    ("test_share", self.test_share.map(|share| share.to_string())),
                    ("sheet", self.sheet),
                ]
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
            ),
            ..RunArgs::default()
        }
    }
}

/// A value as `--set` has it: a text as it is, anything else as JSON, which is YAML.
pub fn setting(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
