//! The Python environment that some tests need: the program's own, made when it is not there.

use std::path::PathBuf;

use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use tokio::runtime::Builder;

use crate::command::say;

/// Its interpreter.
///
/// # Errors
/// It cannot be made; in words.
pub fn prepare() -> Result<PathBuf, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let environment = runtime.block_on(python_environment(EnvironmentChoice::Own, &|line: &str| say(line)));
    environment
        .map(|environment| environment.python)
        .map_err(|trouble| format!("{trouble}; {}", trouble.hint))
}
