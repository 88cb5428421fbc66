//! `run`: from what the user gave to a run that is driven to its end.

use std::path::Path;

use super::{estimate, several};
use crate::args::RunArgs;
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::prepare;
use crate::prepare::task_source;
use crate::settings::process_environment;

/// Solves a task, or several.
///
/// # Errors
/// What was wrong with the input, or ended the run, with its exit code.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let tasks = task_source::all(&args.tasks);
    for folder in task_source::passed_over(&args.tasks).iter().filter(|_| !args.quiet) {
        let folder = folder.display();
        output::talk(&format!(
            "note: {folder} is passed over: it holds no task file, train.csv or description.md"
        ));
    }
    let [task] = tasks.as_slice() else { return several::run(args, &tasks) };
    let prepared = prepare::prepare(args, task, &process_environment)?;
    if args.estimate {
        return estimate::print(&prepared);
    }
    drive(prepare::freeze(prepared)?, forget_if_unusable)
}

/// Removes the folder of a run whose input turned out to be unusable: nothing was done yet, and with other input
/// it will be another run.
pub fn forget_if_unusable(folder: &Path, ended: &Result<Exit, Failure>) {
    if !matches!(ended, Err(failure) if failure.exit == Exit::Usage) {
        return;
    }
    if let Err(error) = std::fs::remove_dir_all(folder) {
        output::talk(&format!("note: {} was left behind: {error}", folder.display()));
    }
}
