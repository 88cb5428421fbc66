//! `delete`: deletes runs.

use std::collections::HashSet;
use std::path::PathBuf;

use mle_star::shell::quoted;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::is_running;
use mle_star_report::sanitize::one_line;
use mle_star_run::runs;

use super::{agreed, can_ask, runs_dir};
use crate::args::DeleteArgs;
use crate::deletion;
use crate::exit::{Exit, Failure};
use crate::output;

/// Deletes runs, after a yes on the terminal or with `--yes`.
///
/// # Errors
/// A run does not exist or a process works on it, or no one can answer the question: then nothing is deleted. A run that was
/// taken or removed since the question ends the deletion; those before it are gone.
pub fn delete(args: &DeleteArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let folders: Result<Vec<PathBuf>, Trouble> = args.runs.iter().map(|run| runs::find(run, &dir)).collect();
    // One that is named twice is deleted once.
    let mut known = HashSet::new();
    let mut folders = folders?;
    folders.retain(|folder| known.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())));
    if let Some(running) = folders.iter().find(|folder| is_running(folder)) {
        let message = format!("a process works on {}", running.display());
        let hint = format!("stop it first: mle-star stop {}", quoted(running));
        return Err(Failure::failed(Trouble::new(message, hint)));
    }
    if !args.yes && !is_agreed(&folders)? {
        output::talk("nothing was deleted");
        return Ok(Exit::Done);
    }
    for folder in &folders {
        deletion::delete(folder).map_err(Failure::failed)?;
        output::talk(&format!("deleted {}", one_line(&folder.display().to_string())));
    }
    Ok(Exit::Done)
}

fn is_agreed(folders: &[PathBuf]) -> Result<bool, Trouble> {
    for folder in folders {
        output::talk(&one_line(&folder.display().to_string()));
    }
    if !can_ask() {
        return Err(Trouble::new("nobody can be asked whether to delete these runs", "repeat it with --yes"));
    }
    Ok(agreed("delete these runs with their submissions, scripts and logs?"))
}
