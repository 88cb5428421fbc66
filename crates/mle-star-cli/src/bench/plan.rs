//! Which runs a bench makes, and how each of them is graded.

use std::path::{Path, PathBuf};

use mle_star_domain::config::Config;
use mle_star_domain::trouble::Trouble;
use mle_star_run::prepare::{settings_of, task_source};
use mle_star_run::provider;
use mle_star_run::runs::absolute;
use mle_star_run::runs::inputs::first_difference;
use mle_star_run::runtime::wait_for;
use mle_star_run::settings::process_environment;
use mle_star_tables::digest::digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file::{self, BenchFile, Seeds, TaskEntry};
use super::grade::Grading;
use crate::args::{BenchArgs, BenchPreset, RunArgs, SettingsArgs};
use crate::exit::Failure;

/// The default folder of a bench.
const DEFAULT_DIR: &str = "bench";
/// Keys that a bench sets itself, with the option that does.
const OWN_KEYS: [(&str, &str); 4] =
    [("seed", "--seeds"), ("time_limit_seconds", "--budgets"), ("runs_dir", "--out"), ("run_id", "--out")];
/// The longest name of a task in the name of a run.
const LONGEST_NAME: usize = 60;

/// Everything that decides which runs a bench makes. It is written to its folder, so that a later call makes the same
/// ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The agents that were chosen.
    pub agents: String,
    /// The benchmark whose preset is used.
    pub preset: Option<BenchPreset>,
    /// The time limits, in seconds; `None` for that of the settings.
    pub budgets: Vec<Option<u64>>,
    /// The seeds.
    pub seeds: Vec<u32>,
    /// The tasks.
    pub tasks: Vec<PlannedTask>,
}

/// A task of a bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// Its name in the table and in the names of its runs.
    pub name: String,
    /// Task file or folder, as an absolute path.
    pub task: PathBuf,
    /// A digest of its data; `None` if the data cannot be read.
    pub data: Option<String>,
    /// The configuration of its runs, before budget and seed.
    pub config: Config,
    /// How its submissions are graded.
    pub grading: Grading,
}

/// One run of a bench.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Its task.
    pub task: &'a PlannedTask,
    /// Its time limit in seconds; `None` for that of the settings.
    pub budget: Option<u64>,
    /// Its seed.
    pub seed: u32,
}

/// A bench as the command line describes it.
#[derive(Debug)]
pub struct Described {
    /// Its folder.
    pub out: PathBuf,
    /// Its runs.
    pub plan: Plan,
    /// The options of every run.
    pub options: RunArgs,
}

/// Reads options and bench file.
///
/// # Errors
/// A mistake in options, bench file or settings, a task that does not exist, or answers that cannot be found.
pub fn described(args: &BenchArgs) -> Result<Described, Failure> {
    let file = args.file.as_deref().map(file::read).transpose()?.unwrap_or_default();
    let preset = args.preset.or(file.preset);
    let mut options = options(args, &file, preset)?;
    let entries: Vec<TaskEntry> = match args.tasks.as_slice() {
        [] => file.tasks.iter().flat_map(each).collect(),
        given => task_source::all(given).into_iter().map(entry).collect(),
    };
    let answers = args.answers.as_deref().or(file.answers.as_deref());
    let mut tasks: Vec<PlannedTask> = Vec::new();
    for entry in entries {
        let planned = planned(&entry, &tasks, answers, &file.grader, &options)?;
        tasks.push(planned);
    }
    let Some(first) = tasks.first() else {
        return Err(Trouble::new("there are no tasks", "name a task").into());
    };
    // All runs have the same agents, also those that a later call makes.
    let chosen = wait_for(provider::choose(&first.config, &process_environment))??.chosen;
    let agents = provider::name(chosen.name()).to_owned();
    options.settings.agents = Some(agents.clone());
    let plan = Plan {
        agents,
        preset,
        budgets: budgets(args, &file, preset),
        seeds: seeds(args, &file, preset),
        tasks,
    };
    distinct("seed", &plan.seeds)?;
    distinct("budget", &plan.budgets.iter().flatten().collect::<Vec<_>>())?;
    let out = args.out.clone().or(file.out).unwrap_or_else(|| PathBuf::from(DEFAULT_DIR));
    Ok(Described { out, plan, options })
}

/// The options of every run. Those of the preset come first, then those of the file, then those of the command line.
fn options(args: &BenchArgs, file: &BenchFile, preset: Option<BenchPreset>) -> Result<RunArgs, Trouble> {
    let of_preset: &[&str] = match preset {
        Some(BenchPreset::TmlBench) => &["network=off", "search=off"],
        None => &[],
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let given = &args.settings;
    let mut set: Vec<String> = of_preset.iter().map(|&setting| setting.to_owned()).collect();
    set.extend(file.options.iter().map(|(key, value)| format!("{key}={}", text(value))));
    set.extend(given.set.iter().cloned());
    for (key, option) in OWN_KEYS {
        let is_it = |setting: &&String| setting.split('=').next().is_some_and(|name| name.trim() == key);
        if let Some(setting) = set.iter().find(is_it) {
            let message = format!("{setting}: a bench sets {key} itself");
            return Err(Trouble::new(message, format!("use {option}")));
        }
    }
    let config = given.config.clone().or_else(|| file.config.clone());
    let settings = SettingsArgs { config, set, ..given.clone() };
    Ok(RunArgs { settings, task: args.task.clone(), estimate: args.estimate, ..RunArgs::default() })
}

fn budgets(args: &BenchArgs, file: &BenchFile, preset: Option<BenchPreset>) -> Vec<Option<u64>> {
    let of_preset = || match preset {
        Some(BenchPreset::TmlBench) => vec![240, 600, 1200],
        None => Vec::new(),
    };
    let given = [&args.budgets, &file.budgets].into_iter().find(|budgets| !budgets.is_empty());
    match given.cloned().unwrap_or_else(of_preset) {
        none if none.is_empty() => vec![None],
        given => given.into_iter().map(Some).collect(),
    }
}

fn seeds(args: &BenchArgs, file: &BenchFile, preset: Option<BenchPreset>) -> Vec<u32> {
    let of_preset = match preset {
        Some(BenchPreset::TmlBench) => 5,
        None => 1,
    };
    let given = args.seeds.map(Seeds::Number).or_else(|| file.seeds.clone());
    given.unwrap_or(Seeds::Number(of_preset)).all()
}

fn distinct<T: PartialEq + std::fmt::Display>(what: &str, values: &[T]) -> Result<(), Trouble> {
    let is_repeated = |(at, value): &(usize, &T)| values[..*at].contains(value);
    match values.iter().enumerate().find(is_repeated) {
        Some((_, value)) => {
            Err(Trouble::new(format!("the {what} {value} is given twice"), format!("give each {what} once")))
        }
        None => Ok(()),
    }
}

fn entry(task: PathBuf) -> TaskEntry {
    TaskEntry { task, ..TaskEntry::default() }
}

/// An entry for each task of a folder of tasks.
fn each(entry: &TaskEntry) -> Vec<TaskEntry> {
    let tasks = task_source::all(std::slice::from_ref(&entry.task));
    tasks.into_iter().map(|task| TaskEntry { task, ..entry.clone() }).collect()
}

fn planned(
    entry: &TaskEntry,
    others: &[PlannedTask],
    answers: Option<&Path>,
    grader: &[String],
    options: &RunArgs,
) -> Result<PlannedTask, Trouble> {
    let task = absolute(&entry.task)?;
    let source = task_source::find(&task)?;
    let (settings, _) = settings_of(&options.options()?, &source, &process_environment)?;
    let given = entry.name.clone().or_else(|| source.file.competition_id.clone());
    let name = unique(&given.unwrap_or_else(|| source.name.clone()), others);
    let grading = Grading::find(&name, entry, answers, grader, &source.data_dir)?;
    let data = digest(&source.data_dir).ok();
    Ok(PlannedTask { name, task, data, config: settings.config, grading })
}

/// A name that can be part of a folder's name, and that no other task has.
fn unique(name: &str, others: &[PlannedTask]) -> String {
    let slug: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' }).collect();
    let slug: String = slug.trim_matches(['-', '_']).chars().take(LONGEST_NAME).collect();
    let slug = if slug.is_empty() { "task".to_owned() } else { slug };
    let numbered = (2..).map(|number| format!("{slug}-{number}"));
    let is_free = |name: &String| others.iter().all(|other| other.name != *name);
    std::iter::once(slug.clone()).chain(numbered).find(is_free).unwrap_or(slug)
}

impl Plan {
    /// The runs, in the order in which they are made: all tasks and seeds of the first budget come first.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        let of_budget = |budget: &Option<u64>| {
            let budget = *budget;
            let of_task = move |task| self.seeds.iter().map(move |seed| Cell { task, budget, seed: *seed });
            self.tasks.iter().flat_map(of_task)
        };
        self.budgets.iter().flat_map(of_budget).collect()
    }

    /// How this plan differs from an earlier one of the same folder, in words; `None` if it makes the same runs and
    /// grades them in the same way. Grading may be added to a bench without any.
    pub fn differs_from(&self, before: &Self) -> Option<String> {
        let budget = |budget: &Option<u64>| budget.map_or_else(|| "none".to_owned(), |it| it.to_string());
        let lists = |plan: &Self| {
            [
                ("tasks", listed(&plan.tasks, |task| task.name.clone())),
                ("budgets", listed(&plan.budgets, budget)),
                ("seeds", listed(&plan.seeds, u32::to_string)),
                ("agents", plan.agents.clone()),
            ]
        };
        let other = lists(self).into_iter().zip(lists(before)).find(|(now, before)| now != before);
        if let Some(((what, now), (_, before))) = other {
            return Some(format!("{what}: {now}, before: {before}"));
        }
        self.tasks.iter().zip(&before.tasks).find_map(|(now, before)| now.differs_from(before))
    }
}

fn listed<T>(values: &[T], word: impl Fn(&T) -> String) -> String {
    values.iter().map(word).collect::<Vec<_>>().join(", ")
}

impl PlannedTask {
    fn differs_from(&self, before: &Self) -> Option<String> {
        let name = &self.name;
        if self.task != before.task {
            let (now, before) = (self.task.display(), before.task.display());
            return Some(format!("the task {name} is {now}, before: {before}"));
        }
        if self.data != before.data {
            return Some(format!("the data of the task {name} has changed"));
        }
        let json = |config: &Config| serde_json::to_value(config).unwrap_or_default();
        let (now, then) = (json(&self.config), json(&before.config));
        if let Some(key) = first_difference(&then, &now) {
            let of = |config: &Value| config.pointer(&format!("/{}", key.replace('.', "/"))).cloned();
            let (now, then) = (of(&now).unwrap_or_default(), of(&then).unwrap_or_default());
            return Some(format!("{key}: {now}, before: {then}"));
        }
        let is_added = before.grading == Grading::default();
        (!is_added && self.grading != before.grading)
            .then(|| format!("the task {name} is graded in another way"))
    }
}

impl Cell<'_> {
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
