//! Which runs a bench makes, and with which answers each of them is compared.

use std::path::{Path, PathBuf};

use mle_star_domain::config::Config;
use mle_star_domain::trouble::Trouble;
use mle_star_report::sanitize::first_line;
use mle_star_run::prepare::{settings_of, task_source};
use mle_star_run::provider;
use mle_star_run::runs::absolute;
use mle_star_run::runs::inputs::first_difference;
use mle_star_run::runtime::block_on;
use mle_star_run::settings::process_environment;
use mle_star_tables::digest::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answers::HiddenAnswers;
use crate::args::{BenchArgs, RunArgs};
use crate::exit::Failure;

/// Keys that a bench sets itself, with the option that does.
const OWN_KEYS: [(&str, &str); 4] =
    [("seed", "--seeds"), ("time_limit_seconds", "--budgets"), ("runs_dir", "--out"), ("run_id", "--out")];
/// The longest name of a task in the name of a run.
const MAX_NAME_CHARS: usize = 60;
/// The longest value that a message shows, in characters.
const MAX_VALUE_CHARS: usize = 100;

/// Everything that decides which runs a bench makes. It is written to its folder, so that a later call makes the same
/// ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The agents that were chosen.
    pub agents: String,
    /// The time limits, in seconds, shortest first; `None` for that of the settings.
    pub budgets: Vec<Option<u64>>,
    /// The number of seeds: runs have those from 1 to this.
    pub seeds: u32,
    /// The tasks.
    pub tasks: Vec<PlannedTask>,
}

/// A task of a bench.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedTask {
    /// Its name in the table and in the names of its runs.
    pub name: String,
    /// Task file or folder, as an absolute path.
    pub task: PathBuf,
    /// A digest of its data; `None` if the data cannot be read.
    pub data: Option<String>,
    /// The configuration of its runs, before budget and seed.
    pub config: Config,
    /// The hidden answers. They change no run.
    #[serde(skip)]
    pub answers: Option<HiddenAnswers>,
}

/// One run of a bench.
#[derive(Clone, Copy, Debug)]
pub struct PlannedRun<'a> {
    /// Its task.
    pub task: &'a PlannedTask,
    /// Its time limit in seconds; `None` for that of the settings.
    pub budget: Option<u64>,
    /// Its seed.
    pub seed: u32,
}

/// A bench as the command line describes it.
#[derive(Debug)]
pub struct PlannedBench {
    /// Its runs.
    pub plan: Plan,
    /// The options of every run.
    pub options: RunArgs,
}

/// The bench that the options describe.
///
/// # Errors
/// A mistake in the options or settings, a task that does not exist, or answers that cannot be found.
pub fn plan_of(args: &BenchArgs) -> Result<PlannedBench, Failure> {
    let mut options = options(args)?;
    let mut tasks: Vec<PlannedTask> = Vec::new();
    for task in task_source::all(&args.tasks) {
        let planned = plan_task(&task, &tasks, args.answers.as_deref(), &options)?;
        tasks.push(planned);
    }
    let Some(first) = tasks.first() else {
        return Err(Trouble::new("there are no tasks", "name a task").into());
    };
    // All runs have the same agents, also those that a later call makes.
    let chosen = block_on(provider::choose(&first.config, &process_environment))??.chosen;
    let agents = provider::name(chosen.name()).to_owned();
    options.settings.agents = Some(agents.clone());
    let mut budgets: Vec<Option<u64>> = args.budgets.iter().copied().map(Some).collect();
    // The same run twice is one run.
    budgets.sort_unstable();
    budgets.dedup();
    if budgets.is_empty() {
        budgets.push(None);
    }
    Ok(PlannedBench { plan: Plan { agents, budgets, seeds: args.seeds, tasks }, options })
}

/// The options of every run.
fn options(args: &BenchArgs) -> Result<RunArgs, Trouble> {
    for (key, option) in OWN_KEYS {
        let is_it = |setting: &&String| setting.split('=').next().is_some_and(|name| name.trim() == key);
        if let Some(setting) = args.settings.set.iter().find(is_it) {
            let message = format!("{setting}: a bench sets {key} itself");
            return Err(Trouble::new(message, format!("use {option}")));
        }
    }
    Ok(RunArgs { settings: args.settings.clone(), task: args.task.clone(), ..RunArgs::default() })
}

fn plan_task(
    task: &Path,
    others: &[PlannedTask],
    answers: Option<&Path>,
    options: &RunArgs,
) -> Result<PlannedTask, Trouble> {
    let source = task_source::find(&absolute(task)?)?;
    let (settings, _) = settings_of(&options.options()?, &source, &process_environment)?;
    let name = unique(source.file.competition_id.as_ref().unwrap_or(&source.name), others);
    let answers =
        answers.map(|given| HiddenAnswers::find(&name, task, given, &source.data_dir)).transpose()?;
    let data = digest(&source.data_dir).ok();
    Ok(PlannedTask { name, task: absolute(task)?, data, config: settings.config, answers })
}

/// A name that can be part of a folder's name, and that no other task has.
fn unique(name: &str, others: &[PlannedTask]) -> String {
    let slug: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' }).collect();
    let slug: String = slug.trim_matches(['-', '_']).chars().take(MAX_NAME_CHARS).collect();
    let slug = if slug.is_empty() { "task".to_owned() } else { slug };
    let numbered = (2..).map(|number| format!("{slug}-{number}"));
    let is_free = |name: &String| others.iter().all(|other| other.name != *name);
    std::iter::once(slug.clone()).chain(numbered).find(is_free).unwrap_or(slug)
}

impl Plan {
    /// The runs, in the order in which they are made: all tasks and seeds of the first budget come first.
    pub fn runs(&self) -> Vec<PlannedRun<'_>> {
        let of_budget = |budget: &Option<u64>| {
            let budget = *budget;
            let of_task = move |task| (1..=self.seeds).map(move |seed| PlannedRun { task, budget, seed });
            self.tasks.iter().flat_map(of_task)
        };
        self.budgets.iter().flat_map(of_budget).collect()
    }

    /// The first difference to an earlier plan of the same folder; `None` if this one makes the same runs.
    pub fn differs_from(&self, before: &Self) -> Option<String> {
        let (now, before) = (self.by_name(), before.by_name());
        let key = first_difference(&before, &now)?;
        let pointer = format!("/{}", key.replace('.', "/"));
        let [now, before] = [now, before].map(|plan| {
            first_line(&plan.pointer(&pointer).unwrap_or(&Value::Null).to_string(), MAX_VALUE_CHARS)
        });
        Some(format!("{key}: {now}, before: {before}"))
    }

    /// The plan as JSON, with its tasks by their names.
    fn by_name(&self) -> Value {
        let tasks: Map<String, Value> =
            self.tasks.iter().map(|task| (task.name.clone(), json!(task))).collect();
        json!({"agents": self.agents, "budgets": self.budgets, "seeds": self.seeds, "tasks": tasks})
    }
}

impl PlannedRun<'_> {
    /// The name of the run.
    pub fn id(&self) -> String {
        let budget = self.budget.map(|seconds| format!("-{seconds}s")).unwrap_or_default();
        format!("{}{budget}-seed-{}", self.task.name, self.seed)
    }

    /// The run in words.
    pub fn words(&self) -> String {
        let budget = self.budget.map(|seconds| format!(", {seconds} s")).unwrap_or_default();
        format!("{}{budget}, seed {}", self.task.name, self.seed)
    }
}
