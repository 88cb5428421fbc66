//! Which agents answer, and why.
//!
//! [`choose`] finds out before anything is done; [`make`] gives what the pipeline asks.

use mle_star::config::{AgentsChoice, Config};
use mle_star::effects::AgentBackend;
use mle_star::stop::Trouble;
use mle_star::task::Task;
use mle_star_backends::agent::offline::OfflineAgents;
use mle_star_backends::data::profile::Profile;

use crate::claude_code::{self, Executable};
use crate::credentials::{self, Found};
use crate::settings::Environment;

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Rules built into the program.
    Offline,
    /// The `claude` command line.
    Claude(Claude),
}

/// A `claude` that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claude {
    /// The executable, new enough.
    pub executable: Executable,
    /// The login it will use.
    pub login: Found,
}

/// Who answers, and the reason as shown first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Who.
    pub chosen: Chosen,
    /// Why.
    pub reason: String,
}

/// Finds out who will answer.
///
/// # Errors
/// `claude` was asked for by name and cannot be used.
pub async fn choose(config: &Config, environment: &Environment<'_>) -> Result<Choice, Trouble> {
    if config.agents == AgentsChoice::Offline {
        return Ok(Choice { chosen: Chosen::Offline, reason: "as asked for".to_owned() });
    }
    match (claude(config, environment).await, config.agents) {
        (Ok(claude), _) => {
            let reason = format!("{}; claude {}", claude.login.reason(), claude.executable.version);
            Ok(Choice { chosen: Chosen::Claude(claude), reason })
        }
        (Err(trouble), AgentsChoice::Claude) => Err(trouble),
        (Err(trouble), _) => Ok(Choice { chosen: Chosen::Offline, reason: trouble.message }),
    }
}

/// The executable with a login, without which it is not even looked for.
///
/// # Errors
/// One of them is missing, or the executable is too old.
pub async fn claude(config: &Config, environment: &Environment<'_>) -> Result<Claude, Trouble> {
    let login = credentials::login(environment).ok_or_else(no_login)?;
    let found = claude_code::find(config.claude_path.as_deref(), environment).await;
    let executable = found.map_err(|trouble| with_login(&login, trouble))?;
    match executable.trouble() {
        Some(trouble) => Err(with_login(&login, trouble)),
        None => Ok(Claude { executable, login }),
    }
}

fn no_login() -> Trouble {
    Trouble::new(
        "no ANTHROPIC_API_KEY or other login to a language model",
        "set ANTHROPIC_API_KEY, log in with `claude`, or use --agents offline; `mle-star doctor` shows every login",
    )
}

fn with_login(login: &Found, trouble: Trouble) -> Trouble {
    Trouble::new(format!("{}, but {}", login.reason(), trouble.message), trouble.hint)
}

/// The agents of a run. `profile` is what the data folder holds; rules cannot do without.
///
/// # Errors
/// A task that rules cannot do.
pub fn make(
    chosen: &Chosen,
    task: &Task,
    config: &Config,
    profile: Option<Profile>,
) -> Result<Box<dyn AgentBackend>, Trouble> {
    match chosen {
        Chosen::Offline => {
            let profile = profile.ok_or_else(|| {
                Trouble::new(
                    "the offline agents need a training table",
                    "put a train.csv into the data folder",
                )
            })?;
            Ok(Box::new(OfflineAgents::new(task, profile, config.subsample_limit)?))
        }
        Chosen::Claude(claude) => ask_claude(claude, config),
    }
}

/// The agents that ask a model, for a run or a probe.
///
/// # Errors
/// They cannot be made ready.
pub fn ask_claude(_claude: &Claude, _config: &Config) -> Result<Box<dyn AgentBackend>, Trouble> {
    Err(Trouble::new("agents claude are not available yet", "use --agents offline"))
}

impl Chosen {
    /// What `config.json` says.
    pub fn name(&self) -> AgentsChoice {
        match self {
            Self::Offline => AgentsChoice::Offline,
            Self::Claude(_) => AgentsChoice::Claude,
        }
    }
}

impl Choice {
    /// The line shown first.
    pub fn line(&self) -> String {
        format!("agents: {} ({})", name(self.chosen.name()), self.reason)
    }
}

/// The name used on the command line.
pub fn name(agents: AgentsChoice) -> &'static str {
    match agents {
        AgentsChoice::Auto => "auto",
        AgentsChoice::Claude => "claude",
        AgentsChoice::Offline => "offline",
    }
}
