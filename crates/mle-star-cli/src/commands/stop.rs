//! `stop`: stops a run of another process.

use std::thread::sleep;
use std::time::Duration;

use mle_star_report::run_view::{State, is_finished, is_running};
use mle_star_run::runs::{self, resume_command};
use serde_json::json;

use crate::args::StopArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::processes::working;

/// How often to look whether the run has stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Does what Ctrl-C does, and waits until the run has stopped.
///
/// # Errors
/// There is no such run, no process works on it, or the process belongs to another user or program.
pub fn stop(args: &StopArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    working(&folder).and_then(|worker| worker.interrupt()).map_err(Failure::failed)?;
    while is_running(&folder) {
        sleep(POLL_INTERVAL);
    }
    let name = runs::name(&folder).unwrap_or_default();
    // It may have ended by itself before it was asked.
    let state = State::of(false, is_finished(&folder));
    if args.json {
        output::json(&json!({"run_id": name, "state": state}))?;
    } else {
        output::talk(&match state {
            State::Finished => format!("run {name} has finished"),
            _ => format!("run {name} has stopped; continue with: {}", resume_command(&folder)),
        });
    }
    Ok(Exit::Done)
}
