//! The Python environment of a run.

use std::path::PathBuf;

use mle_star_backends::script::environment::{
    Environment, EnvironmentChoice, check_python, python_environment,
};

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
