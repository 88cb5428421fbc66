//! Runs as tools of other agents: a server of the Model Context Protocol on stdin and stdout.
//!
//! [`tools`] lists the tools, each with its input and output; the other modules perform them. Runs are separate processes
//! ([`crate::processes`]), so they go on when a client leaves. [`protocol`] answers requests.

mod answer;
mod caller;
mod check;
pub mod command;
mod doctor;
mod preview;
mod protocol;
mod results;
mod start;
mod steer;
mod stop;
mod tools;
mod watch;

use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_run::runs;

use crate::processes::{Interrupted, Late};

/// What clients tell their model about the server.
const INSTRUCTIONS: &str = "mle-star turns a machine-learning task on tables (train.csv, test.csv, sample_submission.csv, a \
description) into a checked submission and the script that makes it. Call `preview` to see what it infers and may cost, \
`run` to start, `watch` with until=\"end\" to wait, `result` for scores and files. A run takes minutes to hours in its own \
process and goes on when you leave; `list` finds it again, `resume` continues it. Report the held-out score if there is \
one, never a suspect one without saying so. `check` finds leaks of validation data in any Python script.";

/// Serves the runs of a directory until the client closes stdin.
///
/// # Errors
/// The client does not speak the protocol.
pub async fn serve(runs_dir: &Path) -> Result<(), Trouble> {
    protocol::serve(Hub::new(runs_dir), tools::all()).await
}

/// What all tools share.
struct Hub {
    /// Where runs are found and started; absolute.
    runs_dir: PathBuf,
    /// Processes that were asked to stop.
    interrupted: Interrupted,
    /// Starts that are in progress.
    late: Late,
}

impl Hub {
    fn new(runs_dir: &Path) -> Self {
        Self {
            runs_dir: std::path::absolute(runs_dir).unwrap_or_else(|_| runs_dir.to_owned()),
            interrupted: Interrupted::default(),
            late: Late::default(),
        }
    }

    /// The folder of a run, by ID or path.
    ///
    /// # Errors
    /// There is no such run, or it could not be started.
    fn find(&self, run: &str) -> Result<PathBuf, Trouble> {
        let wanted = self.runs_dir.join(run);
        if let Some(trouble) = self.late.failed(&wanted).filter(|_| !runs::is_run(&wanted)) {
            return Err(trouble);
        }
        let folder = runs::find(run, &self.runs_dir)?;
        Ok(std::path::absolute(&folder).unwrap_or(folder))
    }
}
