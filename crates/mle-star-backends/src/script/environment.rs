//! The Python interpreter that scripts run with, and its libraries.
//!
//! It is an interpreter that the user gives, which is used as it is, or the program's own environment, which is created
//! once from a lock file and kept in the user's cache.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};

mod build;
mod interpreter;
mod registry;

/// Variables that would make the program's own interpreter find other libraries, beside those of Python itself.
const OTHER_PYTHONS: [&str; 1] = ["VIRTUAL_ENV"];

/// Which interpreter to use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EnvironmentChoice {
    /// The program's own environment, created if it does not exist.
    Own,
    /// The part of it that the data plane needs, which is made first.
    Plane,
    /// This interpreter, a path or a name on PATH.
    Given(PathBuf),
}

/// Where an environment comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The program's own environment, which it created.
    Own,
    /// Given by the user.
    #[default]
    Given,
}

/// An interpreter with its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Its origin.
    pub origin: Origin,
    /// The interpreter's absolute path.
    pub python: PathBuf,
    /// Its version, for example `3.11.7`.
    pub version: String,
    /// Every installed distribution with its exact version, sorted by name.
    pub libraries: Vec<(String, String)>,
}

impl Environment {
    /// The variables that scripts must not inherit.
    pub(super) fn removed_variables(&self) -> &'static [&'static str] {
        match self.origin {
            Origin::Own => &OTHER_PYTHONS,
            Origin::Given => &[],
        }
    }
}

/// Finds or creates the environment; `progress` is called with a line for each slow step.
///
/// # Errors
/// There is no Python, it is older than 3.11, or the environment cannot be created.
pub fn python_environment(
    choice: EnvironmentChoice,
    progress: &(dyn Fn(&str) + Sync),
) -> BoxFuture<'_, Result<Environment, Trouble>> {
    // On the heap, so that it is compiled here, and not again in each crate that waits for it.
    Box::pin(async move {
        match choice {
            EnvironmentChoice::Given(python) => interpreter::inspect(&python).await,
            EnvironmentChoice::Own => build::ensure(build::Part::All, progress).await,
            EnvironmentChoice::Plane => build::ensure(build::Part::Plane, progress).await,
        }
    })
}

/// Checks that a Python exists that the program's own environment can be created with.
///
/// # Errors
/// There is none on PATH, or only older ones than 3.11.
pub async fn check_python() -> Result<(), Trouble> {
    interpreter::on_path().await.map(drop)
}

/// The version of the first Python on PATH that is new enough; `None` without one.
pub async fn python_on_path() -> Option<String> {
    interpreter::on_path().await.ok().map(|found| found.version())
}

/// The folder for what is made once for a user: `MLE_STAR_CACHE`, or else `mle-star` in the user's cache folder.
///
/// # Errors
/// There is no HOME.
pub fn cache_folder() -> Result<PathBuf, Trouble> {
    build::cache()
}

/// The program's own environment if it exists.
pub async fn made_environment() -> Option<Environment> {
    build::existing().await
}

/// The libraries as a `requirements.txt` that pins each of them, with the interpreter's version in a comment.
pub fn requirements_txt(environment: &Environment) -> String {
    let header = format!("# Python {}\n", environment.version);
    let lines = environment.libraries.iter().map(|(name, version)| format!("{name}=={version}\n"));
    std::iter::once(header).chain(lines).collect()
}
