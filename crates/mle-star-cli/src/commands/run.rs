//! `run`: solves a task.

use std::path::Path;

use mle_star_run::prepare::{Intent, prepare_for, task_source};
use mle_star_run::settings::process_environment;

use crate::args::RunArgs;
use crate::estimate;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};
use crate::output;

/// Solves a task.
///
/// # Errors
/// A mistake in the input, or what stopped the run.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let task = task_source::one(&args.path)?;
    let intent = if args.estimate { Intent::Estimate } else { Intent::Begin };
    let prepared = prepare_for(intent, &args.options()?, &task, &process_environment)?;
    if args.estimate {
        return estimate::print(&prepared);
    }
    let view = View::of(&prepared.invocation);
    drive(prepared.freeze()?, view, forget_if_unusable)
}

/// Removes the folder of a run that stopped with a usage error: it has done nothing, and corrected input makes another
/// run.
fn forget_if_unusable(folder: &Path, ended: &Result<Exit, Failure>) {
    if !matches!(ended, Err(failure) if failure.exit == Exit::Usage) {
        return;
    }
    if let Err(error) = std::fs::remove_dir_all(folder) {
        output::talk(&format!("note: could not remove {}: {error}", folder.display()));
    }
}
