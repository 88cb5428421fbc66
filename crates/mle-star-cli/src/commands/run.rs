//! `run`: solves one task, or hands several to [`several`].

use std::path::{Path, PathBuf};

use mle_star_run::prepare::{Intent, prepare_for, task_source};
use mle_star_run::settings::process_environment;

use super::several;
use crate::args::RunArgs;
use crate::estimate;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};
use crate::output;

/// Solves one or more tasks.
///
/// # Errors
/// A mistake in the input, or what stopped the run.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let tasks = task_source::all(&args.tasks);
    if !args.quiet {
        say_skipped(&args.tasks);
    }
    let [task] = tasks.as_slice() else { return several::run(args, &tasks) };
    let prepared = prepare_for(intent(args), &args.options()?, task, &process_environment)?;
    if args.estimate {
        return estimate::print(&prepared);
    }
    let view = View::of(&prepared.invocation);
    drive(prepared.freeze()?, view, forget_if_unusable)
}

/// What inputs are prepared for.
pub fn intent(args: &RunArgs) -> Intent {
    if args.estimate { Intent::Estimate } else { Intent::Begin }
}

/// Names the folders beside tasks that are no tasks.
pub fn say_skipped(tasks: &[PathBuf]) {
    for folder in task_source::skipped(tasks) {
        let folder = folder.display();
        output::talk(&format!("note: skipped {folder}: it has no task file, train.csv or description.md"));
    }
}

/// Removes the folder of a run that stopped with a usage error: it has done nothing, and corrected input makes another
/// run.
pub fn forget_if_unusable(folder: &Path, ended: &Result<Exit, Failure>) {
    if !matches!(ended, Err(failure) if failure.exit == Exit::Usage) {
        return;
    }
    if let Err(error) = std::fs::remove_dir_all(folder) {
        output::talk(&format!("note: could not remove {}: {error}", folder.display()));
    }
}
