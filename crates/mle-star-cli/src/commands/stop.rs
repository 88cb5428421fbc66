//! `stop`: stops a run of another process.

use std::thread::sleep;
use std::time::Duration;

use mle_star_report::run_view::{is_finished, is_held};
use mle_star_run::runs::{self, resume_command};

use super::runs_dir;
use crate::args::StopArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::processes::{Interrupted, Stopping, working};

/// How often to look whether the run has stopped.
const LOOK: Duration = Duration::from_millis(50);

/// Does what Ctrl-C does, and waits until the run has stopped.
///
/// # Errors
/// There is no such run, no process works on it, or the process belongs to another user or program.
pub fn stop(args: &StopArgs) -> Result<Exit, Failure> {
    let folder = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    let worker = working(&folder).map_err(Failure::failed)?;
    Interrupted::default().interrupt(&worker, Stopping::InOrder).map_err(Failure::failed)?;
    while is_held(&folder) {
        sleep(LOOK);
    }
    let name = runs::name(&folder).unwrap_or_default();
    output::talk(&match is_finished(&folder) {
        // It may have ended by itself before it was asked.
        true => format!("run {name} has finished"),
        false => format!("run {name} has stopped; continue with: {}", resume_command(&folder)),
    });
    Ok(Exit::Done)
}
