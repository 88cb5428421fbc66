//! The Python environment of a run.

use std::path::PathBuf;

use mle_star_backends::script::environment::{
    Environment, EnvironmentChoice, check_python, python_environment,
};
use mle_star_backends::script::plane;

use crate::error::RunError;

/// Who is told that an environment is being created.
pub(crate) type Say<'a> = &'a (dyn Fn(&str) + Sync);

/// The environment of the given interpreter, or the program's own; reports its creation to `say`.
///
/// # Errors
/// An unusable interpreter is a usage error; failing to create the program's own environment is not.
pub(crate) async fn environment(given: Option<&PathBuf>, say: Say<'_>) -> Result<Environment, RunError> {
    if let Some(python) = given {
        return Ok(python_environment(EnvironmentChoice::Given(python.clone()), say).await?);
    }
    check_python().await?;
    python_environment(EnvironmentChoice::Own, say).await.map_err(RunError::failed)
}

/// The environment in which tables are read: the given interpreter, or the part of the program's own environment that is made
/// first; reports its creation to `say`. That a given interpreter cannot be used is said when scripts are to run.
///
/// # Errors
/// The program's own environment cannot be created.
pub(crate) async fn environment_of_plane(
    given: Option<&PathBuf>,
    say: Say<'_>,
) -> Result<Environment, RunError> {
    if let Some(python) = plane::interpreter() {
        return Ok(Environment { python, ..Environment::default() });
    }
    if let Some(python) = given
        && let Ok(found) = python_environment(EnvironmentChoice::Given(python.clone()), say).await
    {
        return Ok(found);
    }
    check_python().await?;
    python_environment(EnvironmentChoice::Plane, say).await.map_err(RunError::failed)
}
