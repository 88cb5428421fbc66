//! What commands share that make runs of tasks.

use std::path::{Path, PathBuf};

use mle_star_run::prepare::{Intent, task_source};

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::output;

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
