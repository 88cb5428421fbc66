//! The settings of a run, and the files that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mle_star::lessons::EarlierRun;
use mle_star::prompts::{BUILT_IN, PromptError, Prompts};
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::{AgentsChoice, Config, Switch};
use mle_star_domain::trouble::Trouble;

use super::task_source::TaskSource;
use super::{RunOptions, earlier_runs, given_models};
use crate::nearest::nearest;
use crate::provider::{self, Chosen};
use crate::runs::absolute;
use crate::settings::{self, Environment, Invocation, Settings};

/// The settings of a run, resolved, with the files that they name.
#[derive(Debug)]
pub struct Configured {
    /// The configuration.
    pub config: Config,
    /// Where the run is kept, how it is shown, and what replaces fields of the task.
    pub invocation: Invocation,
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

/// Keys that the offline agents do not use.
const NOT_OFFLINE: [&str; 13] = [
    "agent_models",
    "agents_dir",
    "blocked_commands",
    "claude_path",
    "codex_path",
    "model",
    "openai",
    "overload_patience_seconds",
    "permission_mode",
    "prices",
    "search",
    "search_blocked_domains",
    "search_command",
];

/// Keys that agents behind files do not use.
const NOT_FILES: [&str; 10] = [
    "agent_timeout_seconds",
    "blocked_commands",
    "claude_path",
    "codex_path",
    "openai",
    "overload_patience_seconds",
    "permission_mode",
    "prices",
    "search_blocked_domains",
    "search_command",
];

/// Keys that `claude` does not use.
const NOT_CLAUDE: [&str; 5] = ["agents_dir", "codex_path", "openai", "prices", "search_command"];

/// Keys that agents behind an endpoint do not use.
const NOT_OPENAI: [&str; 5] =
    ["agents_dir", "blocked_commands", "claude_path", "codex_path", "permission_mode"];

/// Keys that `codex` does not use.
const NOT_CODEX: [&str; 6] =
    ["agents_dir", "blocked_commands", "claude_path", "openai", "permission_mode", "search_command"];

/// Resolves environment, config file and options, and reads the files that they name.
///
/// # Errors
/// A mistake in a setting, or a file that cannot be used.
pub fn configure(
    options: &RunOptions,
    source: &TaskSource,
    environment: &Environment<'_>,
) -> Result<Configured, Trouble> {
    let (Settings { mut config, invocation, given }, file) = settings_of(options, source, environment)?;
    absolute_paths(&mut config)?;
    let retrieved_models = given_models::given_models(&config)?;
    let prompts = prompts(config.prompts.as_deref())?;
    let learned = earlier_runs::read(&options.learn_from, invocation.runs_dir.as_deref())?;
    Ok(Configured { config, invocation, given, file, prompts, retrieved_models, learned })
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

impl Configured {
    /// Fixes the agents, and what follows from them: people may take as long as the run has time, and behind an endpoint
    /// only a search command can search.
    ///
    /// # Errors
    /// The agents need a model, and none is named.
    pub fn answered_by(&mut self, chosen: &Chosen) -> Result<(), Trouble> {
        self.config.agents = chosen.name();
        match chosen {
            Chosen::Files => self.config.agent_timeout_seconds = self.config.time_limit_seconds,
            Chosen::OpenAi(endpoint) => {
                provider::openai::check_model(&self.given)?;
                self.config.openai.url = Some(endpoint.address().to_owned());
                if self.config.search_command.is_empty() {
                    self.config.search = Switch::Off;
                }
            }
            Chosen::Codex(_) => provider::codex::check_model(&self.given)?,
            Chosen::Offline | Chosen::Claude(_) => {}
        }
        Ok(())
    }

    /// A note that names the keys which were set but have no effect with these agents.
    pub fn without_effect(&self) -> Option<String> {
        let (keys, agents): (&[&str], _) = match self.config.agents {
            AgentsChoice::Offline => (&NOT_OFFLINE, "the offline agents"),
            AgentsChoice::Files => (&NOT_FILES, "agents behind files"),
            AgentsChoice::OpenAi => (&NOT_OPENAI, "agents behind an endpoint"),
            AgentsChoice::Codex => (&NOT_CODEX, "codex"),
            AgentsChoice::Auto | AgentsChoice::Claude => (&NOT_CLAUDE, "claude"),
        };
        let json = |config: &Config| serde_json::to_value(config).unwrap_or_default();
        let (values, default) = (json(&self.config), json(&Config::default()));
        let is_idle = |key: &&str| self.given.contains(*key) && values.get(key) != default.get(key);
        let idle: Vec<&str> = keys.iter().copied().filter(is_idle).collect();
        (!idle.is_empty()).then(|| format!("note: no effect with {agents}: {}", idle.join(", ")))
    }
}

/// Makes paths absolute: a resume may start in another directory.
fn absolute_paths(config: &mut Config) -> Result<(), Trouble> {
    if let Some(file) = config.retrieved_models.as_ref().filter(|file| !file.is_file()) {
        let message = format!("retrieved_models: no such file: {}", file.display());
        return Err(Trouble::new(message, "check the path"));
    }
    let paths =
        [&mut config.retrieved_models, &mut config.prompts, &mut config.log_file, &mut config.agents_dir];
    for path in paths.into_iter().flatten() {
        *path = absolute(path)?;
    }
    let commands = [&mut config.python, &mut config.claude_path, &mut config.codex_path];
    for command in commands.into_iter().flatten() {
        // A bare name such as `python3` is looked up on PATH when the run starts.
        if command.components().count() > 1 {
            *command = absolute(command)?;
        }
    }
    Ok(())
}

/// The prompt templates; files of `folder` replace built-in ones.
fn prompts(folder: Option<&Path>) -> Result<Prompts, Trouble> {
    let replacements = folder.map(replacements).transpose()?.unwrap_or_default();
    Prompts::new(replacements).map_err(|error| match &error {
        PromptError::Unknown(name) => {
            let nearest = nearest(name, BUILT_IN.iter().map(|(name, _)| *name)).unwrap_or_default();
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
