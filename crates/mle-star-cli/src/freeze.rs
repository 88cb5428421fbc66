//! From what the user gave to a task and a configuration with nothing left open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mle_star::answers::RetrievedModel;
use mle_star::config::{AgentsChoice, Config, Executor};
use mle_star::metric::Direction;
use mle_star::prompts::{BUILT_IN, PromptError, Prompts};
use mle_star::search::{plain_rule, solution_pages};
use mle_star::stop::Trouble;
use mle_star::task::Task;
use mle_star_data::agreement;
use mle_star_data::infer::{Given, Guess, Inferred, infer};
use mle_star_data::metric_names::KnownMetric;
use mle_star_data::profile::{self, Profile};

use crate::agents::{self, Chosen};
use crate::args::RunArgs;
use crate::document::Document;
use crate::exit::Failure;
use crate::nearest::nearest;
use crate::retrieval;
use crate::runtime::wait_for;
use crate::settings::{self, Environment, Invocation, Setting, Settings};
use crate::task_source::{self, TaskSource};

/// A run's inputs, checked and complete.
#[derive(Debug)]
pub struct Prepared {
    /// The task, every guess made.
    pub task: Task,
    /// The configuration, every default filled in.
    pub config: Config,
    /// Where the run lives and how it is shown.
    pub invocation: Invocation,
    /// The templates.
    pub prompts: Prompts,
    /// The models given by hand; `None`: the retriever is asked.
    pub retrieved_models: Option<Vec<RetrievedModel>>,
    /// Who answers.
    pub chosen: Chosen,
    /// What the data folder holds; `None` when it has no training table that can be read.
    pub profile: Option<Profile>,
    /// What was not given but found out.
    pub guesses: Vec<Guess>,
    /// Where the task, the configuration and the agents come from, a line each.
    pub sources: Vec<String>,
}

/// What inputs are prepared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A run that follows.
    Begin,
    /// To be shown: no program that the settings name is executed, and nothing is written.
    Look,
}

/// Reads and checks everything that a new run of `task` needs.
///
/// # Errors
/// Whatever is wrong with options, config, task or data.
pub fn prepare(args: &RunArgs, task: &Path, environment: &Environment<'_>) -> Result<Prepared, Failure> {
    prepare_for(Intent::Begin, args, task, environment)
}

/// The same, for a run or to be shown.
///
/// # Errors
/// As [`prepare`]; what cannot be found out by looking is taken to be right.
pub fn prepare_for(
    intent: Intent,
    args: &RunArgs,
    task: &Path,
    environment: &Environment<'_>,
) -> Result<Prepared, Failure> {
    let source = task_source::find(task)?;
    let (settings, config_from) = layered(args, &source, environment)?;
    let Settings { mut config, invocation, given: keys } = settings;
    if config.executor == Executor::Ray {
        let message = "executor ray is not available in this version";
        return Err(Trouble::new(message, "use --executor local").into());
    }
    absolute_paths(&mut config)?;
    let retrieved_models = retrieval::given_models(&config)?;
    let prompts = prompts(config.prompts.as_deref())?;
    let choice = match (intent, &config.claude_path) {
        (Intent::Look, Some(named)) => agents::presume(&config, named, environment)?,
        _ => wait_for(agents::choose(&config, environment))??,
    };
    config.agents = choice.chosen.name();
    let (profile, unread) = match usable_profile(&source.data_dir, &choice.chosen)? {
        Ok(profile) => (Some(profile), None),
        Err(note) => (None, Some(note)),
    };
    let (description, told) = description(&source)?;
    let inferred = infer(profile.as_ref(), &description, &given(&source, &invocation))?;
    if let (Chosen::Offline, Some(profile)) = (&choice.chosen, &profile) {
        check_for_offline(&source.data_dir, profile, &inferred)?;
    }
    let mut guesses = inferred.guesses.clone();
    guesses.extend(told);
    let task = described_task(&source, inferred, description, &mut guesses)?;
    // What is only looked at or estimated leaves nothing behind.
    if let (Intent::Begin, false, Some(folder)) = (intent, args.estimate, &task.output_dir) {
        usable_output(folder)?;
    }
    let blocked = &mut config.search_blocked_domains;
    *blocked = match keys.contains("search_blocked_domains") {
        true => blocked.iter().filter_map(|rule| plain_rule(rule)).collect(),
        false => solution_pages(&task.competition_id),
    };
    outside_the_data("log_file", config.log_file.as_deref(), &task.data_dir)?;
    let mut sources =
        vec![choice.line(), format!("task: {} ({})", task.competition_id, shown_source(&source))];
    sources.extend(config_from.map(|path| format!("config: {}", path.display())));
    sources.extend(retrieval::opening(&config, retrieved_models.as_deref()));
    sources.extend(without_effect(&config, &keys));
    sources.extend(unread);
    let chosen = choice.chosen;
    Ok(Prepared { task, config, invocation, prompts, retrieved_models, chosen, profile, guesses, sources })
}

/// What the data folder holds, or why that is not known. Rules cannot do without; a model looks for itself.
///
/// # Errors
/// Tables that cannot be read, for rules.
pub fn usable_profile(data_dir: &Path, chosen: &Chosen) -> Result<Result<Profile, String>, Trouble> {
    match (profile::read(data_dir), chosen) {
        (Ok(profile), _) => Ok(Ok(profile)),
        (Err(trouble), Chosen::Offline) => Err(trouble),
        (Err(trouble), Chosen::Claude(_)) => {
            Ok(Err(format!("note: nothing is known of the tables: {}", trouble.message)))
        }
    }
}

/// The sample submission, relative to the data folder.
pub fn sample(profile: Option<&Profile>) -> Option<PathBuf> {
    Some(profile?.sample.as_ref()?.file.clone())
}

/// Looks at a data folder the way `run` does, for `init`.
///
/// # Errors
/// As [`prepare`], for the data alone.
pub fn look(source: &TaskSource, given: &Given) -> Result<(Profile, Inferred, String), Trouble> {
    let profile = profile::read(&source.data_dir)?;
    let (description, _) = description(source)?;
    let inferred = infer(Some(&profile), &description, given)?;
    Ok((profile, inferred, description))
}

/// The templates, those of `folder` replacing built-in ones.
///
/// # Errors
/// A folder that cannot be read, a file that replaces nothing, a template that does not compile.
pub fn prompts(folder: Option<&Path>) -> Result<Prompts, Trouble> {
    let mut replacements = BTreeMap::new();
    if let Some(folder) = folder {
        let unreadable = |error: std::io::Error| {
            let message = format!("cannot read the prompts folder {}: {error}", folder.display());
            Trouble::new(message, "give a folder with templates; `mle-star prompts export DIR` writes one")
        };
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let name =
                    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                replacements.insert(name, fs::read_to_string(&path).map_err(unreadable)?);
            }
        }
    }
    Prompts::new(replacements).map_err(|error| match &error {
        PromptError::Unknown(name) => {
            let nearest = nearest(name, BUILT_IN.iter().map(|(name, _)| *name)).unwrap_or_default();
            Trouble::new(error.to_string(), format!("did you mean {nearest}? rename or remove the file"))
        }
        PromptError::Template { .. } => Trouble::new(error.to_string(), "mend the template"),
    })
}

fn layered(
    args: &RunArgs,
    source: &TaskSource,
    environment: &Environment<'_>,
) -> Result<(Settings, Option<PathBuf>), Trouble> {
    let mut layers: Vec<Setting> = settings::from_environment(environment);
    let path = args.config.as_ref().or(source.config.as_ref());
    if let Some(path) = path {
        layers.extend(settings::from_file(&Document::read(path)?));
    }
    layers.extend(settings::from_run_options(args)?);
    Ok((settings::resolve(layers)?, path.cloned()))
}

/// Keys that only agents with a model behind them follow.
const OF_MODELS: [&str; 8] = [
    "agent_models",
    "blocked_commands",
    "claude_path",
    "model",
    "overload_patience_seconds",
    "permission_mode",
    "search",
    "search_blocked_domains",
];

/// Names the keys that were given and change nothing.
fn without_effect(config: &Config, given: &BTreeSet<String>) -> Vec<String> {
    let json = |config: &Config| serde_json::to_value(config).unwrap_or_default();
    let (values, default) = (json(config), json(&Config::default()));
    let is_idle = |key: &&str| given.contains(*key) && values.get(key) != default.get(key);
    let of_models: &[&str] = if config.agents == AgentsChoice::Offline { &OF_MODELS } else { &[] };
    let idle: Vec<&str> = of_models.iter().copied().filter(is_idle).collect();
    let note = format!("note: no effect with the offline agents: {}", idle.join(", "));
    Vec::from_iter((!idle.is_empty()).then_some(note))
}

/// A resume may start elsewhere: files are named in full.
fn absolute_paths(config: &mut Config) -> Result<(), Trouble> {
    if let Some(file) = config.retrieved_models.as_ref().filter(|file| !file.is_file()) {
        let message = format!("retrieved_models names no file: {}", file.display());
        return Err(Trouble::new(message, "check the path"));
    }
    let paths = [&mut config.retrieved_models, &mut config.prompts, &mut config.log_file];
    for path in paths.into_iter().flatten() {
        *path = absolute(path)?;
    }
    for command in [&mut config.python, &mut config.claude_path].into_iter().flatten() {
        if command.components().count() > 1 {
            *command = absolute(command)?;
        }
    }
    Ok(())
}

fn absolute(path: &Path) -> Result<PathBuf, Trouble> {
    std::path::absolute(path).map_err(|error| {
        Trouble::new(format!("cannot use the path {}: {error}", path.display()), "check the path")
    })
}

fn given(source: &TaskSource, invocation: &Invocation) -> Given {
    let file = &source.file;
    // A metric from the command line makes the file's direction void.
    let of_file = || if invocation.metric.is_some() { None } else { file.metric_direction };
    let or = |first: &Option<String>, second: &Option<String>| first.clone().or_else(|| second.clone());
    Given {
        task_type: file.task_type,
        data_modality: file.data_modality,
        metric: or(&invocation.metric, &file.evaluation_metric),
        direction: invocation.direction.or_else(of_file),
        target: or(&invocation.target, &file.target_column),
        id: or(&invocation.id_column, &file.id_column),
    }
}

/// The task in words: as given, else `description.md` beside the task or the data.
fn description(source: &TaskSource) -> Result<(String, Option<Guess>), Trouble> {
    if let Some(text) = &source.file.description {
        return Ok((text.clone(), None));
    }
    let beside = source.path.as_ref().and_then(|path| path.parent());
    let above = source
        .data_dir
        .parent()
        .and_then(Path::parent)
        .filter(|_| source.data_dir.ends_with("prepared/public"));
    for folder in [Some(source.data_dir.as_path()), beside, above].into_iter().flatten() {
        let path = folder.join("description.md");
        if path.is_file() {
            let text = fs::read_to_string(&path).map_err(|error| {
                let hint = "save it as UTF-8 text";
                Trouble::new(format!("cannot read {}: {error}", path.display()), hint)
            })?;
            let reason = "found beside the data".to_owned();
            return Ok((
                text,
                Some(Guess { field: "description", value: path.display().to_string(), reason }),
            ));
        }
    }
    Ok((String::new(), None))
}

fn described_task(
    source: &TaskSource,
    inferred: Inferred,
    description: String,
    guesses: &mut Vec<Guess>,
) -> Result<Task, Trouble> {
    let file = source.file.clone();
    let description = if description.trim().is_empty() {
        let made = described(&inferred);
        let reason = "there is no description.md".to_owned();
        guesses.push(Guess { field: "description", value: made.clone(), reason });
        made
    } else {
        description
    };
    let data_dir = source.data_dir.canonicalize().map_or_else(|_| absolute(&source.data_dir), Ok)?;
    outside_the_data("output_dir", file.output_dir.as_deref(), &data_dir)?;
    if let Some(path) = file.output_dir.iter().chain([&data_dir]).find(|path| path.to_str().is_none()) {
        let message = format!("the path {} is no UTF-8, which the records of a run are", path.display());
        return Err(Trouble::new(message, "rename the folder, or give a link to it"));
    }
    Ok(Task {
        competition_id: file.competition_id.unwrap_or_else(|| source.name.clone()),
        task_type: inferred.task_type,
        data_modality: inferred.data_modality,
        evaluation_metric: inferred.metric,
        metric_direction: inferred.direction,
        description,
        data_dir,
        output_dir: file.output_dir.as_deref().map(absolute).transpose()?,
        target_column: inferred.target,
        id_column: inferred.id,
        reference_discussions: file.reference_discussions,
        baseline_solution: file.baseline_solution,
    })
}

/// What a run writes must not change what it reads.
fn outside_the_data(key: &str, path: Option<&Path>, data_dir: &Path) -> Result<(), Trouble> {
    let Some(path) = path else { return Ok(()) };
    let whole = absolute(path)?;
    // What does not exist yet lies where its nearest folder that exists lies.
    let real = whole.ancestors().find_map(|above| above.canonicalize().ok());
    if !real.unwrap_or(whole).starts_with(data_dir) {
        return Ok(());
    }
    let message = format!("{key} lies inside the data folder: {}", path.display());
    Err(Trouble::new(message, format!("give a {key} outside {}", data_dir.display())))
}

fn described(inferred: &Inferred) -> String {
    let target = inferred.target.as_deref().unwrap_or("the target");
    let better = match inferred.direction {
        Direction::Maximize => "larger",
        Direction::Minimize => "smaller",
    };
    format!(
        "Predict `{target}` for every row of the test data. Submissions are evaluated by {} ({better} is better).",
        inferred.metric
    )
}

/// Found out now, not after hours: can the folder be written?
fn usable_output(folder: &Path) -> Result<(), Trouble> {
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("cannot make the output folder {}: {error}", folder.display());
        Trouble::new(message, "give another output_dir, or leave it out")
    })
}

/// What rules cannot do without; a model could.
fn check_for_offline(data_dir: &Path, profile: &Profile, inferred: &Inferred) -> Result<(), Trouble> {
    if KnownMetric::parse(&inferred.metric).is_none() {
        let names: Vec<&str> = KnownMetric::ALL.iter().map(|metric| metric.name()).collect();
        let message = format!("the offline agents do not know the metric \"{}\"", inferred.metric);
        return Err(Trouble::new(message, format!("give one of these with --metric: {}", names.join(", "))));
    }
    if let Some(trouble) = &inferred.target_unknown {
        return Err(trouble.clone());
    }
    agreement::check(data_dir, profile, inferred.id.as_deref())
}

fn shown_source(source: &TaskSource) -> String {
    let path = source.path.as_ref().unwrap_or(&source.data_dir);
    path.display().to_string()
}
