//! The Python interpreter that scripts run with, and its libraries.
//!
//! Two choices: an interpreter the user gives, which is used as it is, or the program's own environment,
//! made once from a lock file and kept in the user's cache.

use std::path::PathBuf;

use mle_star::stop::Trouble;
use serde::{Deserialize, Serialize};

mod build;
mod interpreter;

/// Which interpreter is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentChoice {
    /// The program's own environment, made when it is not there.
    Own,
    /// This interpreter, a path or a name on PATH, as it is.
    Given(PathBuf),
}

/// Where an environment comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Made by this program.
    Own,
    /// Given by the user.
    #[default]
    Given,
}

/// An interpreter with its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Where it comes from.
    pub origin: Origin,
    /// The interpreter's absolute path.
    pub python: PathBuf,
    /// Its version, for example `3.11.7`.
    pub version: String,
    /// Every installed distribution with its exact version, in the order of names.
    pub libraries: Vec<(String, String)>,
}

/// Finds or makes the environment that is wanted; `progress` hears what takes time.
///
/// # Errors
/// No Python, a Python older than 3.11, or an environment that cannot be made.
pub async fn python_environment(
    choice: EnvironmentChoice,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Environment, Trouble> {
    match choice {
        EnvironmentChoice::Given(python) => interpreter::given(&python).await,
        EnvironmentChoice::Own => build::own(progress).await,
    }
}

/// Is there a Python that the program's own environment can be made with?
///
/// # Errors
/// None on PATH, or only ones older than 3.11.
pub async fn check_python() -> Result<(), Trouble> {
    interpreter::on_path().await.map(drop)
}

/// The program's own environment when it was made before; makes nothing.
pub async fn made_environment() -> Option<Environment> {
    build::made().await
}

/// The libraries as a `requirements.txt` that pins each of them, the interpreter's version in a comment.
pub fn requirements_txt(environment: &Environment) -> String {
    let header = format!("# Python {}\n", environment.version);
    let lines = environment.libraries.iter().map(|(name, version)| format!("{name}=={version}\n"));
    std::iter::once(header).chain(lines).collect()
}
