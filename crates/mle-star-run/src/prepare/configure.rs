//! The settings of a run, and the files that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mle_star::lessons::EarlierRun;
use mle_star::prompts::{self, PromptError, Prompts};
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::{AgentsChoice, Config, Context, Form, Key, Switch};
use mle_star_domain::task::TaskKeys;
use mle_star_domain::trouble::Trouble;
use serde_json::Value;

use super::task_source::TaskSource;
use super::{RunOptions, earlier_runs, given_models};
use crate::provider::Provider;
use crate::runs::absolute;
use crate::settings::{self, Environment, Invocation, Settings};
use mle_star_domain::nearest::nearest;

/// The settings of a run, resolved, with the files that they name.
#[derive(Debug)]
pub struct RunSettings {
    /// The configuration.
    pub config: Config,
    /// Where the run is kept, and how it is shown.
    pub invocation: Invocation,
    /// The task keys that options give, which replace fields of the task.
    pub task: TaskKeys,
    /// The top-level keys that the user set, in any source.
    pub given: BTreeSet<String>,
    /// The config file.
    pub file: Option<PathBuf>,
    /// The prompt templates.
    pub prompts: Prompts,
    /// The models of the `retrieved_models` file.
    pub retrieved_models: Option<Vec<RetrievedModel>>,
    /// What the runs of `--learn-from` tried.
    pub learned: Vec<EarlierRun>,
}

/// Resolves environment, config file and options, and reads the files that they name.
///
/// # Errors
/// A mistake in a setting, or a file that cannot be used.
pub fn configure(
    options: &RunOptions,
    source: &TaskSource,
    environment: &Environment<'_>,
) -> Result<RunSettings, Trouble> {
    let (Settings { mut config, invocation, task, given }, file) = settings_of(options, source, environment)?;
    if let Some(file) = config.retrieved_models.as_ref().filter(|file| !file.is_file()) {
        let message = format!("retrieved_models: no such file: {}", file.display());
        return Err(Trouble::new(message, "check the path"));
    }
    absolute_paths(&mut config)?;
    let retrieved_models = given_models::given_models(&config)?;
    let prompts = prompts(config.context, config.prompts.as_deref())?;
    let learned = earlier_runs::read(&options.learn_from, invocation.runs_dir.as_deref())?;
    Ok(RunSettings { config, invocation, task, given, file, prompts, retrieved_models, learned })
}

/// The resolved settings, and the config file.
///
/// # Errors
/// A mistake in a setting, or an unreadable config file.
pub fn settings_of(
    options: &RunOptions,
    source: &TaskSource,
    environment: &Environment<'_>,
) -> Result<(Settings, Option<PathBuf>), Trouble> {
    let file = options.config.clone().or_else(|| source.config.clone());
    Ok((settings::layered(environment, file.as_deref(), &options.settings)?, file))
}

impl RunSettings {
    /// Fixes the agents, and what follows from them.
    ///
    /// # Errors
    /// The agents need a model, and none is named.
    pub fn answered_by(&mut self, chosen: &Provider) -> Result<(), Trouble> {
        fix_agents(&mut self.config, &self.given, chosen)
    }

    /// A note that names the keys which were set but have no effect with these agents.
    pub fn without_effect(&self) -> Option<String> {
        let agents = match self.config.agents {
            AgentsChoice::Offline => "the offline agents",
            AgentsChoice::Files => "agents behind files",
            AgentsChoice::OpenAi => "agents behind an endpoint",
            AgentsChoice::Codex => "codex",
            AgentsChoice::Auto | AgentsChoice::Claude => "claude",
        };
        let json = |config: &Config| serde_json::to_value(config).unwrap_or_default();
        let (values, default) = (json(&self.config), json(&Config::default()));
        let is_idle =
            |key: &Key| !key.is_for(self.config.agents) && values.get(key.name) != default.get(key.name);
        let named = |name: &&String| Config::KEYS.iter().any(|key| key.name == **name && is_idle(key));
        let idle: Vec<&str> = self.given.iter().filter(named).map(String::as_str).collect();
        (!idle.is_empty()).then(|| format!("note: no effect with {agents}: {}", idle.join(", ")))
    }
}

/// Fixes the agents, and what follows from them: people may take as long as the run has time, and behind an endpoint only a
/// search command can search. `given` are the top-level keys that the user set.
///
/// # Errors
/// The agents need a model, and none is named.
pub fn fix_agents(config: &mut Config, given: &BTreeSet<String>, chosen: &Provider) -> Result<(), Trouble> {
    config.agents = chosen.name();
    match chosen {
        Provider::Files => config.agent_timeout_seconds = config.time_limit_seconds,
        Provider::OpenAi(endpoint) => {
            let endpoint_lists = "set --model to a name that the endpoint knows; `mle-star doctor --set agents=openai` lists them";
            check_model(given, "openai", endpoint_lists)?;
            config.openai.url = Some(endpoint.address().to_owned());
            if config.search_command.is_empty() {
                config.search = Switch::Off;
            }
        }
        Provider::Codex(_) => {
            check_model(given, "codex", "set --model to a model that codex can use with this login")?;
        }
        Provider::Offline | Provider::Claude(_) => {}
    }
    Ok(())
}

/// Checks that the settings, whose keys are `given`, name a model: the default is one of `claude`.
fn check_model(given: &BTreeSet<String>, agents: &str, hint: &str) -> Result<(), Trouble> {
    if given.contains("model") {
        return Ok(());
    }
    Err(Trouble::new(format!("agents: {agents} needs a model"), hint))
}

/// Makes the paths of single values absolute: a resume may start in another directory.
///
/// # Errors
/// The working directory is gone.
pub fn absolute_paths(config: &mut Config) -> Result<(), Trouble> {
    let mut values = serde_json::to_value(&*config).unwrap_or_default();
    for key in Config::KEYS {
        let Some(path) = values.get(key.name).and_then(Value::as_str).map(PathBuf::from) else { continue };
        let is_path = match key.form {
            Form::Path => true,
            // A bare name such as `python3` is looked up on PATH when the run starts.
            Form::Command => path.components().count() > 1,
            _ => false,
        };
        if is_path {
            values[key.name] = Value::from(absolute(&path)?.display().to_string());
        }
    }
    *config = serde_json::from_value(values).map_err(|error| {
        Trouble::new(format!("cannot use the settings: {error}"), "check the paths among them")
    })?;
    Ok(())
}

/// The prompt templates; files of `folder` replace built-in ones. Those that are as exported, maybe from another set, do not.
fn prompts(context: Context, folder: Option<&Path>) -> Result<Prompts, Trouble> {
    let mut replacements = folder.map(replacements).transpose()?.unwrap_or_default();
    replacements.retain(|name, text| !prompts::is_built_in(name, text));
    Prompts::new(context, replacements).map_err(|error| match &error {
        PromptError::Unknown(name) => {
            let nearest = nearest(name, prompts::names()).unwrap_or_default();
            Trouble::new(error.to_string(), format!("did you mean {nearest}? rename or remove the file"))
        }
        PromptError::Template { .. } => Trouble::new(error.to_string(), "fix the template"),
    })
}

fn replacements(folder: &Path) -> Result<BTreeMap<String, String>, Trouble> {
    let unreadable = |error: std::io::Error| {
        let message = format!("cannot read the prompts folder {}: {error}", folder.display());
        Trouble::new(message, "give a folder with templates; `mle-star prompts export DIR` writes one")
    };
    let mut replacements = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            replacements.insert(name, fs::read_to_string(&path).map_err(unreadable)?);
        }
    }
    Ok(replacements)
}
