//! The tool `stop`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view;
use mle_star_run::runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Hub;
use super::answer::Answer;
use super::caller::Caller;
use crate::processes::{Stopping, working};

pub const ABOUT: &str = "Stop a run, as Ctrl-C does. What was done is recorded: resume continues it, and result names the best \
answer so far. Waits up to 10 seconds for its end.";

/// How long the end of a run is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

/// A run to stop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopInput {
    /// Run ID, or path of the run folder
    run: String,
    /// End a process at once that was asked to stop before and did not
    #[serde(default)]
    at_once: bool,
}

/// A run that was asked to stop.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stopped {
    run_id: String,
    /// Whether its process has ended; if not, it is still stopping.
    has_ended: bool,
}

/// Stops a run.
pub async fn stop(hub: Arc<Hub>, input: StopInput, caller: Caller) -> Result<Answer<Stopped>, Trouble> {
    let folder = hub.find(&input.run)?;
    let worker = working(&folder)?;
    let stopping = if input.at_once { Stopping::AtOnce } else { Stopping::InOrder };
    hub.interrupted.interrupt(&worker, stopping)?;
    let has_ended = ended(&folder, &caller).await;
    let run_id = runs::name(&folder).unwrap_or(input.run);
    let what = match has_ended {
        // It may have ended by itself before it was asked.
        true if run_view::is_finished(&folder) => "has finished",
        true => "has stopped; resume continues it",
        false => "is still stopping",
    };
    let lines = [format!("run {run_id} {what}")];
    Ok(Answer::new(&lines, Stopped { run_id, has_ended }))
}

/// Waits for the end of the process that works on a run; `false` if it takes too long.
async fn ended(folder: &Path, caller: &Caller) -> bool {
    let until = Instant::now() + PATIENCE;
    loop {
        if !run_view::is_held(folder) {
            return true;
        }
        if Instant::now() >= until || !caller.pause(LOOK).await {
            return false;
        }
    }
}
