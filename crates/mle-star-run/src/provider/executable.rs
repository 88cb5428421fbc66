//! The executables of command lines that answer agents: their paths and versions.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mle_star_claude as claude;
use mle_star_domain::trouble::Trouble;
use semver::Version;
use serde::Serialize;
use tokio::process::Command;
use tokio::time::timeout;

use crate::settings::Environment;

/// The oldest version that can be used.
const MIN_VERSION: Version = Version::new(
    claude::MIN_CLAUDE_VERSION[0] as u64,
    claude::MIN_CLAUDE_VERSION[1] as u64,
    claude::MIN_CLAUDE_VERSION[2] as u64,
);
/// The `claude` command line.
pub const CLAUDE: Program = Program {
    name: "claude",
    variable: "MLE_STAR_CLAUDE_PATH",
    key: "claude_path",
    package: "@anthropic-ai/claude-code",
    oldest: Some(MIN_VERSION),
};
/// The `codex` command line. One that lacks an option says so when it is asked.
pub const CODEX: Program = Program {
    name: "codex",
    variable: "MLE_STAR_CODEX_PATH",
    key: "codex_path",
    package: "@openai/codex",
    oldest: None,
};
/// The most time that `--version` may take: it takes well under a second, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A command line that answers agents.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the program on PATH.
    pub name: &'static str,
    /// The variable with its path.
    pub variable: &'static str,
    /// The configuration key with its path.
    pub key: &'static str,
    /// The package of the program on npm.
    pub package: &'static str,
    /// The oldest version that can be used, if it is known.
    pub oldest: Option<Version>,
}

/// An executable and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Executable {
    /// The path of the executable.
    pub path: PathBuf,
    /// As `2.1.329`.
    pub version: Version,
}

/// Finds the executable that `given` names (a path, or a name on PATH), else the program's variable, else its name on
/// PATH, and asks it for its version, which may be too old. A given one is assumed to work unless `executes_given`.
///
/// # Errors
/// There is none, or it prints no version.
pub async fn find(
    program: &Program,
    given: Option<&Path>,
    environment: &Environment<'_>,
    executes_given: bool,
) -> Result<Executable, Trouble> {
    if let Some(given) = given.filter(|_| !executes_given) {
        let version = program.oldest.clone().unwrap_or(Version::new(0, 0, 0));
        return Ok(Executable { path: given.to_owned(), version });
    }
    let from_environment =
        || environment(program.variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let name =
        given.map(Path::to_owned).or_else(from_environment).unwrap_or_else(|| PathBuf::from(program.name));
    let path = located(&name, environment).ok_or_else(|| program.missing(&name))?;
    let version = version(&path, program).await?;
    Ok(Executable { path, version })
}

impl Program {
    fn install(&self) -> String {
        format!("install it with `npm install -g {}`", self.package)
    }

    fn missing(&self, name: &Path) -> Trouble {
        let is_path = name.components().count() > 1;
        let message = match name.display() {
            path if is_path => format!("no executable {} at {path}", self.name),
            name => format!("no executable {name} on PATH"),
        };
        Trouble::new(message, format!("{}, or set {}", self.install(), self.key))
    }
}

impl Executable {
    /// Why it cannot be used, if so.
    pub fn trouble(&self, program: &Program) -> Option<Trouble> {
        let (Self { path, version }, Program { name, package, .. }) = (self, program);
        let oldest = program.oldest.as_ref().filter(|oldest| version < oldest)?;
        let message =
            format!("{name} {version} is too old: {oldest} or newer is required ({})", path.display());
        Some(Trouble::new(message, format!("update it with `npm install -g {package}` or `{name} update`")))
    }
}

fn located(name: &Path, environment: &Environment<'_>) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    which::which_in(name, environment("PATH"), here).ok()
}

/// The version in the output of `--version`: `2.1.329 (Claude Code)`, `codex-cli 0.169.0`.
fn parse(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| Version::parse(word).ok())
}

async fn version(path: &Path, program: &Program) -> Result<Version, Trouble> {
    let silent = |what: String| {
        Trouble::new(format!("{} --version {what}", path.display()), format!("re{}", program.install()))
    };
    let mut command = Command::new(path);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(TIMEOUT, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(silent(format!("does not run: {error}"))),
        Err(_) => return Err(silent(format!("does not answer within {} s", TIMEOUT.as_secs()))),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text).ok_or_else(|| silent("does not print a version".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_as_numbers() {
        let check = |text: &str, expected: Option<&str>, is_usable: bool| {
            let version = parse(text);
            assert_eq!(version.as_ref().map(Version::to_string).as_deref(), expected, "{text}");
            let executable = version.map(|version| Executable { path: PathBuf::from("claude"), version });
            assert_eq!(executable.is_some_and(|found| found.trouble(&CLAUDE).is_none()), is_usable, "{text}");
        };
        check("2.1.248 (Claude Code)\n", Some("2.1.248"), true);
        check("2.1.1000 (Claude Code)", Some("2.1.1000"), true);
        check("10.0.0", Some("10.0.0"), true);
        check("codex-cli 0.169.0\n", Some("0.169.0"), false);
        check("claude 3.0.0-beta.1", Some("3.0.0-beta.1"), true);
        check("2.1.247", Some("2.1.247"), false);
        check("2.0.999", Some("2.0.999"), false);
        check("1.9.0", Some("1.9.0"), false);
        check("2.1", None, false);
        check("no version", None, false);
        check("", None, false);
    }
}
