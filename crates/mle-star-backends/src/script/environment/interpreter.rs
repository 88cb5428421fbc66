//! Finds Python interpreters, and asks them for their versions and libraries.
//!
//! A candidate is started rather than looked up on PATH: one that is there may still not work, and it reports its own
//! version as numbers.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mle_star_domain::trouble::Trouble;
use mle_star_process::variables::{ASKED_PYTHONPATH, is_of_python};
use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

use super::{Environment, Origin};

/// The oldest version that works.
const MIN_VERSION: (u32, u32) = (3, 11);
/// Names looked for on PATH, best first: what the user calls Python, then versions. 3.14 is late: fewer libraries support it.
const NAMES: [&str; 6] = ["python3", "python3.13", "python3.12", "python3.11", "python3.14", "python"];
/// How long an interpreter may take to answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(60);

/// The reason why an interpreter does not answer if it does not exist.
const NO_FILE: &str = "there is no such file";

/// Prints executable, version and platform. The syntax works back to Python 2.7, so that an old one can answer.
const PROBE_PROGRAM: &str = "import json, platform, sys, sysconfig\n\
    print(json.dumps([sys.executable, list(sys.version_info[:3]), sysconfig.get_platform()]))";
/// Prints the installed distributions, without unreadable ones.
const LIBRARIES: &str = "import importlib.metadata, json\n\
    found = {}\n\
    for d in importlib.metadata.distributions():\n\
    \x20   name = d.metadata['Name']\n\
    \x20   if name and d.version: found.setdefault(name, d.version)\n\
    print(json.dumps(sorted(found.items(), key=lambda pair: pair[0].lower())))";

/// An interpreter's answer.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Interpreter {
    /// Its absolute path: that of the interpreter itself, not of a launcher such as pyenv's.
    pub(super) python: PathBuf,
    version: (u32, u32, u32),
    /// For example `linux-x86_64`.
    pub(super) platform: String,
}

impl Interpreter {
    /// The version as text.
    pub(super) fn version(&self) -> String {
        let (major, minor, micro) = self.version;
        format!("{major}.{minor}.{micro}")
    }

    fn is_new_enough(&self) -> bool {
        (self.version.0, self.version.1) >= MIN_VERSION
    }
}

/// The user's interpreter as an environment.
pub(super) async fn inspect(python: &Path) -> Result<Environment, Trouble> {
    let (major, minor) = MIN_VERSION;
    let hint = format!(
        "set `python` to a working Python {major}.{minor} or newer, or leave it out to use the program's own"
    );
    let found = about(python).await.map_err(|reason| {
        Trouble::new(format!("the interpreter {} does not work: {reason}", python.display()), &*hint)
    })?;
    if !found.is_new_enough() {
        let message = format!("{} is Python {}, too old for scripts", python.display(), found.version());
        return Err(Trouble::new(message, hint));
    }
    let libraries = libraries(&found.python).await?;
    Ok(Environment { origin: Origin::Given, version: found.version(), python: found.python, libraries })
}

/// The first interpreter on PATH that is new enough.
pub(super) async fn on_path() -> Result<Interpreter, Trouble> {
    let (mut old, mut broken) = (Vec::new(), None);
    for name in NAMES {
        match about(Path::new(name)).await {
            Ok(found) if found.is_new_enough() => return Ok(found),
            Ok(found) => old.push(format!("{name} is {}", found.version())),
            Err(reason) if reason == NO_FILE => {}
            Err(reason) => broken = broken.or(Some(format!("{name} does not work: {reason}"))),
        }
    }
    let (major, minor) = MIN_VERSION;
    let hint = format!(
        "install Python {major}.{minor} or newer (with its venv module), or set `python` to an interpreter"
    );
    let message = match (old.as_slice(), broken) {
        (_, Some(broken)) => broken,
        ([], None) => "no Python was found on PATH".to_owned(),
        (found, None) => format!("no Python on PATH is new enough: {}", found.join(", ")),
    };
    Err(Trouble::new(message, hint))
}

/// The name and version of every installed distribution of an interpreter.
pub(super) async fn libraries(python: &Path) -> Result<Vec<(String, String)>, Trouble> {
    answer(python, LIBRARIES).await.map_err(|reason| {
        let message = format!("{} cannot list its libraries: {reason}", python.display());
        Trouble::new(message, "set `python` to another interpreter")
    })
}

async fn about(python: &Path) -> Result<Interpreter, String> {
    answer(python, PROBE_PROGRAM).await
}

/// Runs a few lines of Python and reads the JSON on the last line they print.
async fn answer<T: for<'de> Deserialize<'de>>(python: &Path, code: &str) -> Result<T, String> {
    let mut command = Command::new(python);
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_python(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    if let Some(path) = env::var_os(ASKED_PYTHONPATH).filter(|path| !path.is_empty()) {
        command.env("PYTHONPATH", path);
    }
    command.args(["-c", code]).stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(PROBE_TIMEOUT, command.output()).await {
        Err(_) => return Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs())),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Err(NO_FILE.to_owned());
        }
        Ok(Err(error)) => return Err(error.to_string()),
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(stderr.lines().last().map_or_else(|| output.status.to_string(), str::to_owned));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let last = stdout.trim_end().lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| format!("it does not answer as Python does: {last:?}"))
}
