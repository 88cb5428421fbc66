//! The `codex` command line: its login, and the agents behind it. Names of variables are shown, values never.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star_codex::{CodexAgents, CodexSettings};
use mle_star_domain::config::Config;
use mle_star_domain::trouble::Trouble;

use crate::provider::executable::{self, CODEX, Executable};
use crate::settings::{Environment, process_environment};

/// The variable with the key.
const KEY: &str = "CODEX_API_KEY";

/// A usable `codex`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codex {
    /// The executable.
    pub executable: Executable,
    /// The login that it will use.
    pub login: Login,
}

/// A login of `codex`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The name of the variable, or the path of the file.
    pub by: String,
    /// Whether it is a key in the environment.
    is_key: bool,
}

impl Login {
    /// The reason for using it: `CODEX_API_KEY is set`.
    pub fn reason(&self) -> String {
        if self.is_key { format!("{} is set", self.by) } else { "a stored login".to_owned() }
    }
}

/// The login that `codex` uses: the key, else the one that it has stored in a file.
pub fn login(environment: &Environment<'_>) -> Option<Login> {
    let set = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    if set(KEY).is_some() {
        return Some(Login { by: KEY.to_owned(), is_key: true });
    }
    let home = set("CODEX_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&set("HOME")?).join(".codex")))?;
    let file = Some(home.join("auth.json")).filter(|file| file.is_file())?;
    Some(Login { by: file.display().to_string(), is_key: false })
}

/// The executable and the login. Without a login the executable is not looked for. One that the settings name is only executed
/// if `executes_named`.
///
/// # Errors
/// Either is missing.
pub async fn find(
    config: &Config,
    environment: &Environment<'_>,
    executes_named: bool,
) -> Result<Codex, Trouble> {
    let login = login(environment).ok_or_else(no_login)?;
    let named = config.codex_path.as_deref();
    let executable = executable::find(&CODEX, named, environment, executes_named).await?;
    Ok(Codex { executable, login })
}

/// The agents behind `codex`, for a run or a probe. `folder` is for temporary files; created and removed.
///
/// # Errors
/// The folder cannot be created.
pub fn ask_codex(codex: &Codex, config: &Config, folder: &Path) -> Result<CodexAgents, Trouble> {
    CodexAgents::new(CodexSettings {
        executable: codex.executable.path.clone(),
        key: if codex.login.is_key { process_environment(KEY) } else { None },
        folder: folder.to_owned(),
        max_wait: Duration::from_secs(config.overload_patience_seconds),
        prices: config.prices.clone(),
        blocked_domains: config.search_blocked_domains.clone(),
    })
}

fn no_login() -> Trouble {
    Trouble::new(
        "no CODEX_API_KEY and no stored login of codex",
        "set CODEX_API_KEY, or log in with `codex login`; `mle-star doctor` shows the login",
    )
}
