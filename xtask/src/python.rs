//! The Python environment that some tests need: the program's own, created if it does not exist.

use std::path::PathBuf;

use crate::command::{say, watched};
use crate::programs::{Programs, ignored_test};

/// The test that creates the environment and prints it. It is compiled with all others, so xtask does not have to
/// depend on the program.
const MAKER: &str = "program_environment_maker";

/// Its interpreter.
///
/// # Errors
/// It cannot be created.
pub fn prepare(programs: &Programs) -> Result<PathBuf, String> {
    say("--- Python environment for tests");
    let maker = ignored_test(programs.with_test(MAKER)?, MAKER);
    let (_, text) = watched(maker).map_err(|error| format!("{MAKER}: {error}"))?;
    let found = text.lines().find_map(|line| line.split_once("found: "));
    let found: serde_json::Value =
        found.and_then(|(_, json)| serde_json::from_str(json).ok()).unwrap_or_default();
    match found["Ok"]["python"].as_str() {
        Some(python) => Ok(python.into()),
        None => Err(format!("the Python environment cannot be created: {}", found["Err"])),
    }
}
