//! The versions of programs that made a run, for each process that worked on it, with what scripts were kept from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Versions of the programs that one process used, and what it kept scripts from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeWith {
    /// When the process started work on the run, RFC 3339.
    pub at: String,
    /// The version of `mle-star`.
    pub mle_star: String,
    /// The version of the Python that runs the scripts.
    pub python: String,
    /// Operating system and architecture, for example `linux x86_64`.
    pub platform: String,
    /// The version of the `claude` CLI, if it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude: Option<String>,
    /// The version of the `codex` CLI, if it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codex: Option<String>,
    /// What scripts could not do, if the process knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<KeptFrom>,
    /// Whether an earlier process did part of the run. The journal sets this.
    pub resumed: bool,
}

/// What scripts could not do, whatever they tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptFrom {
    /// Use the network in any way; `false` also if only TCP was closed.
    pub network: bool,
    /// Read files that they were not given.
    pub other_files: bool,
}

impl MadeWith {
    /// Whether the versions are the same and scripts could do the same, regardless of the start time.
    pub fn is_like(&self, other: &Self) -> bool {
        // What one of them does not know is no difference.
        let kept_from = self.kept_from.and(other.kept_from).or(self.kept_from);
        let (at, resumed) = (self.at.clone(), self.resumed);
        *self == Self { at, resumed, kept_from, ..other.clone() }
    }
}

impl fmt::Display for MadeWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mle-star {}, Python {}", self.mle_star, self.python)?;
        for (name, version) in [("claude", &self.claude), ("codex", &self.codex)] {
            if let Some(version) = version {
                write!(f, ", {name} {version}")?;
            }
        }
        write!(f, ", {}", self.platform)
    }
}

/// The program versions of a run in one line.
pub fn in_words(made_with: &[MadeWith]) -> String {
    let begun = made_with.first().filter(|first| !first.resumed).map(MadeWith::to_string);
    let later = made_with.iter().skip(usize::from(begun.is_some()));
    let begun = begun.unwrap_or_else(|| "not recorded".to_owned());
    later.fold(begun, |line, next| format!("{line}; resumed with {next}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_versions_of_a_run_are_listed_in_order() {
        let with = |mle_star: &str, claude: Option<&str>, resumed| MadeWith {
            mle_star: mle_star.to_owned(),
            python: "3.11.7".to_owned(),
            platform: "linux x86_64".to_owned(),
            claude: claude.map(str::to_owned),
            resumed,
            ..MadeWith::default()
        };
        let check = |made_with: &[MadeWith], expected: &str| assert_eq!(in_words(made_with), expected);
        check(&[], "not recorded");
        check(&[with("1", None, false)], "mle-star 1, Python 3.11.7, linux x86_64");
        check(
            &[with("1", None, false), with("2", Some("2.1.329"), true)],
            "mle-star 1, Python 3.11.7, linux x86_64; resumed with mle-star 2, Python 3.11.7, claude 2.1.329, linux x86_64",
        );
        check(&[with("2", None, true)], "not recorded; resumed with mle-star 2, Python 3.11.7, linux x86_64");
    }
}
