//! Chooses which agents answer: a command line, an endpoint, files, or the built-in rules.
//!
//! [`choose`] decides at the start of a run; [`rules`] and [`ask_claude`] make the agents of the pipeline.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use mle_star::agents::definitions;
use mle_star_claude::{ClaudeAgents, ClaudeSetup};
use mle_star_domain::config::{AgentsChoice, Config, Preset};
use mle_star_domain::protocol::Protocol;
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_offline::OfflineAgents;
use mle_star_openai::Endpoint;
use mle_star_tables::profile::Profile;

use crate::provider::codex::{self, Codex};
use crate::provider::credentials::{self, FoundLogin};
use crate::provider::executable::{self, CLAUDE, Executable};
use crate::provider::openai;
use crate::settings::Environment;

/// The reason for agents that the user chose.
const REQUESTED: &str = "as requested";

/// The chosen agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Rules built into the program.
    Offline,
    /// The `claude` command line.
    Claude(Claude),
    /// A person or another program, through files.
    Files,
    /// An OpenAI-compatible API.
    OpenAi(Endpoint),
    /// The `codex` command line.
    Codex(Codex),
}

/// A usable `claude`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claude {
    /// The executable; its version is new enough.
    pub executable: Executable,
    /// The login that it will use.
    pub login: FoundLogin,
}

/// The chosen agents and the reason, which a run shows first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The agents.
    pub chosen: Provider,
    /// The reason.
    pub reason: String,
}

/// Chooses the agents.
///
/// # Errors
/// The user requested `claude`, `codex` or an endpoint, and it cannot be used.
pub fn choose<'run>(
    config: &'run Config,
    environment: &'run Environment<'run>,
) -> LocalBoxFuture<'run, Result<Choice, Trouble>> {
    Box::pin(choose_provider(config, environment, true))
}

/// Chooses the agents without executing the `claude` or `codex` that the settings name, assuming that it works.
///
/// # Errors
/// As [`choose`].
pub fn presume<'run>(
    config: &'run Config,
    environment: &'run Environment<'run>,
) -> LocalBoxFuture<'run, Result<Choice, Trouble>> {
    Box::pin(choose_provider(config, environment, false))
}

async fn choose_provider(
    config: &Config,
    environment: &Environment<'_>,
    executes_named: bool,
) -> Result<Choice, Trouble> {
    let version = |name: &str, named: Option<&PathBuf>, found: &Executable| match named {
        Some(named) if !executes_named => format!("{} is checked when the run starts", named.display()),
        _ => format!("{name} {}", found.version),
    };
    if config.agents == AgentsChoice::Codex {
        let codex = codex::find(config, environment, executes_named).await?;
        let version = version("codex", config.codex_path.as_ref(), &codex.executable);
        let reason = format!("{}; {version}", codex.login.reason());
        return Ok(Choice { chosen: Provider::Codex(codex), reason });
    }
    if let Some(requested) = choose_without_executable(config, environment)? {
        return Ok(requested);
    }
    match (claude(config, environment, executes_named).await, config.agents) {
        (Ok(claude), _) => {
            let version = version("claude", config.claude_path.as_ref(), &claude.executable);
            let reason = format!("{}; {version}", claude.login.reason());
            Ok(Choice { chosen: Provider::Claude(claude), reason })
        }
        (Err(trouble), AgentsChoice::Claude) => Err(trouble),
        (Err(trouble), _) => Ok(Choice::offline(&trouble.message, environment)),
    }
}

/// The agents, if they are not those of a command line. A model that costs money is not used unless it was named or a limit
/// of its cost was set.
fn choose_without_executable(
    config: &Config,
    environment: &Environment<'_>,
) -> Result<Option<Choice>, Trouble> {
    let as_requested = |chosen| Some(Choice { chosen, reason: REQUESTED.to_owned() });
    Ok(match config.agents {
        AgentsChoice::Offline => as_requested(Provider::Offline),
        AgentsChoice::Files => as_requested(Provider::Files),
        AgentsChoice::OpenAi => {
            let endpoint = openai::endpoint(config, environment)?;
            let reason = openai::reason(&endpoint, config);
            Some(Choice { chosen: Provider::OpenAi(endpoint), reason })
        }
        AgentsChoice::Auto if config.max_budget_usd.is_none() => {
            let login = credentials::login(environment);
            let found = login.map_or_else(|| no_login().message, |login| login.reason());
            Some(Choice::offline(&found, environment))
        }
        AgentsChoice::Auto | AgentsChoice::Claude | AgentsChoice::Codex => None,
    })
}

/// The executable and the login. Without a login the executable is not looked for. One that the settings name is only executed
/// if `executes_named`.
///
/// # Errors
/// Either is missing, or the executable is too old.
pub async fn claude(
    config: &Config,
    environment: &Environment<'_>,
    executes_named: bool,
) -> Result<Claude, Trouble> {
    let login = credentials::login(environment).ok_or_else(no_login)?;
    let named = config.claude_path.as_deref();
    let found = executable::find(&CLAUDE, named, environment, executes_named).await;
    let executable = found.map_err(|trouble| with_login(&login, trouble))?;
    match executable.trouble(&CLAUDE) {
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

fn with_login(login: &FoundLogin, trouble: Trouble) -> Trouble {
    Trouble::new(format!("{}, but {}", login.reason(), trouble.message), trouble.hint)
}

/// The offline agents for a task; `None` if others were chosen.
///
/// # Errors
/// A task that the offline agents cannot solve.
pub fn rules(
    chosen: &Provider,
    task: &Task,
    config: &Config,
    profile: Option<&Profile>,
    protocol: Option<&Protocol>,
) -> Result<Option<OfflineAgents>, Trouble> {
    match (chosen, profile) {
        (Provider::Claude(_) | Provider::Files | Provider::OpenAi(_) | Provider::Codex(_), _) => Ok(None),
        (Provider::Offline, Some(profile)) => offline(task, config, profile, protocol).map(Some),
        (Provider::Offline, None) => Err(Trouble::new(
            "the offline agents need a training table",
            "add a train.csv to the data folder",
        )),
    }
}

/// Who writes the program's own solutions, whoever the agents are: nobody with the preset `paper`, and for a task that the
/// rules cannot solve.
pub fn baseline_agents(
    task: &Task,
    config: &Config,
    profile: Option<&Profile>,
    protocol: Option<&Protocol>,
) -> Option<OfflineAgents> {
    let protocol = protocol.filter(|protocol| config.preset != Preset::Paper && !protocol.is_papers)?;
    offline(task, config, profile?, Some(protocol)).ok()
}

fn offline(
    task: &Task,
    config: &Config,
    profile: &Profile,
    protocol: Option<&Protocol>,
) -> Result<OfflineAgents, Trouble> {
    let split = protocol.and_then(|protocol| protocol.split.as_ref());
    let agents = OfflineAgents::new(task, profile, config.subsample_limit, split)?.with_seed(config.seed);
    let gap = |protocol: &Protocol| protocol.periods.as_ref().map_or(0.0, |periods| periods.gap_size);
    let folds = protocol.filter(|protocol| protocol.has_folds_file).map(gap);
    let averages = protocol.is_some_and(|protocol| protocol.mean_over_periods);
    let agents = match protocol.and_then(|protocol| protocol.own_folds.as_ref()) {
        Some(given) => agents.with_folds(usize::from(given.count)),
        None => agents,
    };
    Ok(match folds {
        Some(gap) if averages => agents.with_folds_file(gap).averaging_periods(),
        Some(gap) => agents.with_folds_file(gap),
        None => agents,
    })
}

/// Where agents of `claude` work.
#[derive(Clone, Copy, Debug)]
pub struct Workplace<'a> {
    /// The run ID.
    pub run_id: &'a str,
    /// A folder for temporary files; created and removed.
    pub folder: &'a Path,
    /// The data as scripts see it.
    pub data_dir: &'a Path,
}

/// The agents of `claude`, for a run or a probe.
///
/// # Errors
/// The data cannot be read, or the folder cannot be created.
pub fn ask_claude(
    claude: &Claude,
    config: &Config,
    prompts: &BTreeMap<String, String>,
    at: Workplace<'_>,
) -> Result<ClaudeAgents, Trouble> {
    ClaudeAgents::new(ClaudeSetup {
        executable: claude.executable.path.clone(),
        bare: claude.login.login.survives_bare(),
        run_id: at.run_id.to_owned(),
        folder: at.folder.to_owned(),
        data_dir: at.data_dir.to_owned(),
        permission_mode: config.permission_mode.clone(),
        max_wait: Duration::from_secs(config.overload_patience_seconds),
        blocked_domains: config.search_blocked_domains.clone(),
        blocked_commands: config.blocked_commands.clone(),
        definitions: definitions(config, prompts),
    })
}

impl Provider {
    /// The value of the `agents` key in `config.json`.
    pub fn name(&self) -> AgentsChoice {
        match self {
            Self::Offline => AgentsChoice::Offline,
            Self::Claude(_) => AgentsChoice::Claude,
            Self::Files => AgentsChoice::Files,
            Self::OpenAi(_) => AgentsChoice::OpenAi,
            Self::Codex(_) => AgentsChoice::Codex,
        }
    }
}

impl Choice {
    /// What `auto` chooses without a model, and how to get one.
    fn offline(why: &str, environment: &Environment<'_>) -> Self {
        let codex = codex::login(environment).map_or("", |_| " or codex");
        let reason = format!("{why}; for a model, use --agents claude{codex}");
        Self { chosen: Provider::Offline, reason }
    }

    /// The line that a run shows first.
    pub fn line(&self) -> String {
        format!("agents: {} ({})", name(self.chosen.name()), self.reason)
    }
}

/// The value of `--agents`.
pub fn name(agents: AgentsChoice) -> &'static str {
    match agents {
        AgentsChoice::Auto => "auto",
        AgentsChoice::Claude => "claude",
        AgentsChoice::Offline => "offline",
        AgentsChoice::Files => "files",
        AgentsChoice::OpenAi => "openai",
        AgentsChoice::Codex => "codex",
    }
}
