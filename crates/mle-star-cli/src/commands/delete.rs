//! `delete`: deletes runs.

use std::io::IsTerminal;
use std::path::PathBuf;

use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::is_held;
use mle_star_report::sanitize::one_line;
use mle_star_run::runs;

use super::runs_dir;
use crate::args::DeleteArgs;
use crate::deletion;
use crate::exit::{Exit, Failure};
use crate::output;

/// Deletes runs, after a yes on the terminal or with `--yes`.
///
/// # Errors
/// A run does not exist or a process works on it: then nothing is deleted. No one can answer the question.
pub fn delete(args: &DeleteArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let folders: Result<Vec<PathBuf>, Trouble> = args.runs.iter().map(|run| runs::find(run, &dir)).collect();
    let folders = folders?;
    if let Some(running) = folders.iter().find(|folder| is_held(folder)) {
        let message = format!("a process works on {}", running.display());
        return Err(Failure::failed(Trouble::new(
            message,
            "stop it first, with Ctrl-C where it was started",
        )));
    }
    if !args.yes && !agreed(&folders)? {
        output::talk("nothing was deleted");
        return Ok(Exit::Done);
    }
    for folder in &folders {
        deletion::delete(folder).map_err(Failure::failed)?;
        output::talk(&format!("deleted {}", one_line(&folder.display().to_string())));
    }
    Ok(Exit::Done)
}

fn agreed(folders: &[PathBuf]) -> Result<bool, Trouble> {
    for folder in folders {
        output::talk(&one_line(&folder.display().to_string()));
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Trouble::new("nobody can be asked whether to delete these runs", "repeat it with --yes"));
    }
    output::talk("delete these runs with their submissions, scripts and logs? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    Ok(read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
