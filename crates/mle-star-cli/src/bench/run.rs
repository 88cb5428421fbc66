//! One run of a bench: started, resumed or finished.

use mle_star_run::resume::{ReopenedRun, ResumeOptions, reopen};
use mle_star_run::runs;
use mle_star_run::{OpenRun, prepare};

use super::folder::Folder;
use super::plan::PlannedRun;
use crate::args::{RunArgs, ViewArgs};
use crate::exit::Failure;

/// Starts a run, or goes on with it; `None` if it is finished.
///
/// # Errors
/// A mistake in task or data, or a run that cannot be resumed.
pub fn start_or_resume(
    folder: &Folder,
    planned: &PlannedRun<'_>,
    options: &RunArgs,
) -> Result<Option<OpenRun>, Failure> {
    let run = folder.run(planned);
    if run.exists() && !runs::holds_only_beginnings(&run) {
        let run = runs::find(&run.display().to_string(), &folder.runs())?;
        return Ok(match reopen(&run, &ResumeOptions::default())? {
            ReopenedRun::Finished(_) => None,
            ReopenedRun::Unfinished(run) => Some(*run),
        });
    }
    let mut prepared = prepare(&options_of(folder, planned, options).options()?, &planned.task.task)?;
    // The runs of a task would overwrite each other's submissions there.
    prepared.task.output_dir = None;
    Ok(Some(prepared.freeze(&|_| ())?))
}

/// The options of one run.
pub fn options_of(folder: &Folder, planned: &PlannedRun<'_>, options: &RunArgs) -> RunArgs {
    let mut settings = options.settings.clone();
    settings.set.push(format!("seed={}", planned.seed));
    RunArgs {
        path: planned.task.task.clone(),
        runs_dir: Some(folder.runs()),
        run_id: Some(planned.id()),
        time_limit: planned.budget.map(|seconds| seconds.to_string()),
        settings,
        view: ViewArgs { quiet: true, ..ViewArgs::default() },
        ..options.clone()
    }
}
