//! From a TASK argument to the complete inputs of a run.
//!
//! [`prepare()`] goes through the stages in order, one module each: [`task_source`] finds the task and its data,
//! [`configure`] resolves the settings and reads the files that they name, [`provider`] chooses the
//! agents, [`mod@profile_data`] profiles the data and [`infer_task`] fills in what the task leaves open. [`mod@freeze`]
//! then writes everything into a new run folder.

mod configure;
mod earlier_runs;
mod freeze;
pub mod given_models;
pub(crate) mod infer_task;
pub mod intake;
pub mod metric_file;
mod metric_trial;
mod profile_data;
mod task_file;
pub mod task_source;

use std::path::{Path, PathBuf};

use mle_star::journal::Opening;
use mle_star_domain::config::Config;
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::Protocol;
use mle_star_domain::search::{plain_rule, solution_pages};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_offline::OfflineAgents;
use mle_star_tables::metrics::Metric;
use mle_star_tables::task_inference::{InferredTask, InferredValue};

use crate::columns;
use crate::error::RunError;
use crate::open_run::OpenRun;
use crate::protocol;
use crate::provider::{self, Choice, Provider};
use crate::python_environment::Say;
use crate::runs::DEFAULT_DIR;
use crate::runtime::block_on;
use crate::settings::{Environment, Invocation, Setting, process_environment};
use infer_task::infer_for_run;
use intake::{Intake, Location, Reader};
use metric_file::own_metric;
use task_source::TaskSource;

pub use configure::{RunSettings, settings_of};
pub(crate) use configure::{absolute_paths, fix_agents};
pub(crate) use infer_task::check_outputs;
pub use infer_task::{InferredFolder, infer_folder, infer_without_metric};
pub use profile_data::Data;

/// What the caller of a run says about it. Everything else is inferred or has a default.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Settings, which override the config file; later ones win.
    pub settings: Vec<Setting>,
    /// The config file; `None` for the one beside the task, if there is one.
    pub config: Option<PathBuf>,
    /// Earlier runs whose changes the agents are told, by run ID or path.
    pub learn_from: Vec<String>,
    /// Who is told that a Python environment is being created; nobody without.
    pub say: Option<fn(&str)>,
}

impl RunOptions {
    fn say(&self) -> Say<'_> {
        self.say.as_ref().map_or(&|_: &str| (), |say| say)
    }

    /// Adds a setting, written `KEY=VALUE`.
    ///
    /// # Errors
    /// There is no `=`.
    pub fn set(mut self, setting: &str) -> Result<Self, RunError> {
        self.settings.push(Setting::from_pair(setting, "setting")?);
        Ok(self)
    }

    /// Adds settings, each written `KEY=VALUE`.
    ///
    /// # Errors
    /// One has no `=`.
    pub fn set_all(self, settings: &[impl AsRef<str>]) -> Result<Self, RunError> {
        settings.iter().try_fold(self, |options, setting| options.set(setting.as_ref()))
    }
}

/// A run's inputs, checked and complete.
#[derive(Debug)]
pub struct Prepared {
    /// The task, with everything inferred.
    pub task: Task,
    /// The settings, with every default filled in, and the files that they name.
    pub configured: RunSettings,
    /// The agents.
    pub chosen: Provider,
    /// The facts about the data.
    pub data: Data,
    /// How solutions are evaluated; `None` for the paper's way.
    pub protocol: Option<Protocol>,
    /// The data as scripts see it.
    pub intake: Intake,
    /// What was inferred, with reasons.
    pub guesses: Vec<InferredValue>,
    /// The first lines that a run shows, and those that only its log has.
    pub opening: Opening,
}

impl Prepared {
    /// Writes the inputs into a new run folder and creates its journal. If a Python environment has to be created first, `say` is
    /// told.
    ///
    /// # Errors
    /// A task that the offline agents cannot solve, unreadable data, no usable Python, a run ID that exists, or a
    /// folder that cannot be written.
    pub fn freeze(self, say: Say<'_>) -> Result<OpenRun, RunError> {
        freeze::freeze(self, say)
    }

    /// The first lines of the run, and those that only its log has.
    pub fn lines(&self) -> Vec<String> {
        self.opening.said.iter().chain(&self.opening.details).cloned().collect()
    }

    /// The rules of the offline agents; `None` for other agents.
    ///
    /// # Errors
    /// The rules cannot solve the task.
    pub fn rules(&self) -> Result<Option<OfflineAgents>, Trouble> {
        let (config, profile) = (&self.configured.config, self.data.profile.as_ref());
        provider::rules(&self.chosen, &self.task, config, profile, self.protocol.as_ref())
    }
}

/// The purpose that inputs are prepared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A run that follows.
    Begin,
    /// An estimate: makes no folder but a temporary one, and asks no agents.
    Estimate,
    /// A preview: as an estimate, and executes no program that the settings name.
    Preview,
}

/// Prepares the inputs of a new run of `task`: a task file, a folder with one, a data folder, or one table. Must not be called
/// from asynchronous code.
///
/// # Errors
/// A mistake in options, config file, task or data.
pub fn prepare(options: &RunOptions, task: &Path) -> Result<Prepared, RunError> {
    prepare_for(Intent::Begin, options, task, &process_environment)
}

/// Prepares the inputs of a new run, an estimate or a preview, with the variables of `environment`.
///
/// # Errors
/// As [`prepare()`]. A preview assumes that values it cannot check are valid.
pub fn prepare_for(
    intent: Intent,
    options: &RunOptions,
    task: &Path,
    environment: &Environment<'_>,
) -> Result<Prepared, RunError> {
    let mut source = task_source::find(task)?;
    let mut configured = configure::configure(options, &source, environment)?;
    source = source.with(std::mem::take(&mut configured.task));
    let choice = choose_agents(intent, &configured.config, environment)?;
    let (agents, chosen) = (choice.line(), choice.chosen);
    configured.answered_by(&chosen)?;
    let own = own_metric(&source)?;
    let is_offline = matches!(chosen, Provider::Offline);
    // A preview starts no interpreter that the settings name: they may come from anyone who can reach the page.
    let reading = match intent {
        Intent::Preview => Config { python: None, ..configured.config.clone() },
        Intent::Begin | Intent::Estimate => configured.config.clone(),
    };
    let reader = Reader { config: &reading, say: options.say() };
    let location = location(intent, &configured.invocation);
    let mut folder = infer_for_run(&source, own.as_ref(), location, reader, is_offline)?;
    configured.config.search_blocked_domains = blocked_domains(&configured, &folder.task);
    let config = &configured.config;
    check_outputs(&source.data_dir, folder.task.output_dir.as_deref(), config, intent == Intent::Begin)?;
    let unmatched = match folder.check_rows() {
        Err(error) if is_offline => return Err(error),
        checked => checked.err().map(|error| format!("note: {}", error.trouble.message)),
    };
    let protocol = folder.protocol(config)?;
    let split = protocol.as_ref().and_then(|protocol| protocol.split.as_ref());
    if intent != Intent::Preview {
        folder.relate(split)?;
    }
    let profile = folder.data.profile.as_ref();
    folder.task.columns = profile
        .map_or_else(Vec::new, |profile| columns::table(&folder.task, profile, split, &folder.inferred));
    let found = folder.lines().into_iter().chain(columns::data_notes(&folder.task, profile));
    let found: Vec<String> = found.map(|line| line.trim_start_matches("data: ").to_owned()).collect();
    let mut said = vec![agents, task_line(&source, &folder.task, &folder.inferred)];
    said.extend(notes(&configured, &folder.data));
    said.extend(unmatched);
    said.extend((!found.is_empty()).then(|| format!("data: {}", found.join("; "))));
    said.extend(protocol.iter().flat_map(|protocol| protocol::opening(protocol, config)));
    let file = configured.file.iter().map(|path| format!("config: {}", path.display()));
    let details = file.chain(protocol.iter().flat_map(protocol::details)).collect();
    let opening = Opening { said, details };
    let InferredFolder { task, data, intake, inferred, .. } = folder;
    Ok(Prepared { task, configured, chosen, data, protocol, intake, guesses: inferred.guesses, opening })
}

/// Where the folder of plain tables is made, if one is needed.
fn location(intent: Intent, invocation: &Invocation) -> Location<'_> {
    match intent {
        Intent::Begin => Location::Runs(invocation.runs_dir.as_deref().unwrap_or(Path::new(DEFAULT_DIR))),
        Intent::Estimate | Intent::Preview => Location::Temporary,
    }
}

/// A preview does not execute the `claude` or `codex` that the settings name: they may come from anyone who can reach
/// the page.
fn choose_agents(intent: Intent, config: &Config, environment: &Environment<'_>) -> Result<Choice, RunError> {
    Ok(match intent {
        Intent::Preview => block_on(provider::presume(config, environment))??,
        Intent::Begin | Intent::Estimate => block_on(provider::choose(config, environment))??,
    })
}

/// The domains as configured, else the competition's own discussion and code pages.
fn blocked_domains(configured: &RunSettings, task: &Task) -> Vec<String> {
    if configured.given.contains("search_blocked_domains") {
        configured.config.search_blocked_domains.iter().filter_map(|rule| plain_rule(rule)).collect()
    } else {
        solution_pages(&task.competition_id)
    }
}

/// The task, what it predicts, and by which metric, with the reasons for what was inferred.
fn task_line(source: &TaskSource, task: &Task, inferred: &InferredTask) -> String {
    let path = source.path.as_ref().unwrap_or(&source.data_dir);
    let why = |field: &str| inferred.reason(field).map_or_else(String::new, |why| format!(" ({why})"));
    let better = match task.metric_direction {
        Direction::Maximize => "higher",
        Direction::Minimize => "lower",
    };
    let mut line = format!("task: {} ({})", task.competition_id, path.display());
    if let Some(target) = &task.roles.target {
        line += &format!("; target: {target}{}", why("target_column"));
    }
    line += &format!("; metric: {}{}", task.evaluation_metric, why("evaluation_metric"));
    line += &format!(", {better} is better");
    if Metric::parse(&task.evaluation_metric).is_none() {
        line += &why("metric_direction");
    }
    match (inferred.reason("positive_class"), &task.roles.positive) {
        (Some(told), _) => line += &format!("; {told}"),
        (None, Some(label)) => line += &format!("; higher means \"{label}\""),
        (None, None) => {}
    }
    line
}

/// Notes about consequences of the settings that a user may not expect.
fn notes(configured: &RunSettings, data: &Data) -> Vec<String> {
    let models = configured.retrieved_models.as_deref();
    let mut lines: Vec<String> = given_models::opening(&configured.config, models).into_iter().collect();
    lines.extend(earlier_runs::opening(&configured.learned, &configured.config));
    lines.extend(configured.without_effect());
    lines.extend(data.note());
    lines
}
