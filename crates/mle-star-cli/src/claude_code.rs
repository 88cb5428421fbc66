//! The `claude` executable: where it is, and whether it is new enough.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use mle_star::stop::Trouble;
use mle_star_claude as claude;
use serde::Serialize;
use tokio::process::Command;
use tokio::time::timeout;

use crate::settings::Environment;

/// The first version that can be used.
pub const OLDEST: Version = Version(claude::OLDEST[0], claude::OLDEST[1], claude::OLDEST[2]);
/// How to come by one.
pub const INSTALL: &str = "install it with `npm install -g @anthropic-ai/claude-code`";
/// It answers in well under a second; a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32, u32);

/// An executable that says its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Executable {
    /// Where it is.
    pub path: PathBuf,
    /// As `2.1.329`.
    pub version: Version,
}

/// Finds the executable that `given` names (a path, or a name to be looked up), else `MLE_STAR_CLAUDE_PATH`,
/// else `claude` on PATH, and asks it for its version. One that is too old is found all the same.
///
/// # Errors
/// There is none, or it does not say its version.
pub async fn find(given: Option<&Path>, environment: &Environment<'_>) -> Result<Executable, Trouble> {
    let name = given.map_or_else(
        || {
            environment("MLE_STAR_CLAUDE_PATH")
                .filter(|path| !path.is_empty())
                .unwrap_or_else(|| "claude".to_owned())
        },
        |path| path.display().to_string(),
    );
    let path = located(&name, environment).ok_or_else(|| missing(&name))?;
    let version = version(&path).await?;
    Ok(Executable { path, version })
}

impl Executable {
    /// Why it cannot be used, when it cannot.
    pub fn trouble(&self) -> Option<Trouble> {
        let Self { path, version } = self;
        (*version < OLDEST).then(|| {
            let message =
                format!("claude {version} is too old: {OLDEST} or newer is needed ({})", path.display());
            Trouble::new(
                message,
                "renew it with `npm install -g @anthropic-ai/claude-code` or `claude update`",
            )
        })
    }
}

impl Version {
    /// The version in what `claude --version` prints: `2.1.329 (Claude Code)`.
    fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let mut numbers = word.split(['.', '-', '+']).map(|number| number.parse().ok());
        Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn located(name: &str, environment: &Environment<'_>) -> Option<PathBuf> {
    let executable = |path: &PathBuf| {
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return std::path::absolute(name).ok().filter(executable);
    }
    let path = environment("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(executable)?;
    std::path::absolute(found).ok()
}

fn missing(name: &str) -> Trouble {
    let place = if name.contains('/') { format!("at {name}") } else { "on PATH".to_owned() };
    let name = if name.contains('/') { "claude" } else { name };
    Trouble::new(
        format!("there is no executable {name} {place}"),
        format!("{INSTALL}, or name it with claude_path"),
    )
}

async fn version(path: &Path) -> Result<Version, Trouble> {
    let silent = |what: String| {
        Trouble::new(format!("{} --version {what}", path.display()), format!("{INSTALL} anew"))
    };
    let mut command = Command::new(path);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output: Output = match timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(silent(format!("does not run: {error}"))),
        Err(_) => return Err(silent(format!("does not answer within {} s", PATIENCE.as_secs()))),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Version::parse(&text).ok_or_else(|| silent("does not say a version".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_as_numbers() {
        let check =
            |text: &str, expected: Option<Version>| assert_eq!(Version::parse(text), expected, "{text}");
        check("2.1.329 (Claude Code)\n", Some(Version(2, 1, 329)));
        check("claude 3.0.0-beta.1", Some(Version(3, 0, 0)));
        check("", None);
        check("2.1", None);
        check("no version", None);
        let usable = |version| Executable { path: PathBuf::from("claude"), version }.trouble().is_none();
        assert!(usable(Version(2, 1, 248)) && usable(Version(2, 1, 1000)) && usable(Version(10, 0, 0)));
        assert!(!usable(Version(2, 1, 247)) && !usable(Version(2, 0, 999)) && !usable(Version(1, 9, 0)));
    }
}
