//! Runs of this process, in its terminal: signals stop them, and their events are shown and recorded.
//!
//! [`drive`] executes one run, [`drive_all`] and [`drive_in_turn`] several side by side.

mod screen;
pub mod signals;
mod together;

use std::path::Path;

use mle_star_run::OpenRun;
use mle_star_run::runtime::drive_with_threads;

use crate::exit::{Exit, Failure};
use screen::{Around, supervise};

pub use screen::{Seen, View};
pub use together::{Ended, Listening, drive_all, drive_in_turn};

/// Called when a run has ended and its journal is unlocked, with its folder and its outcome.
pub type Afterwards = fn(&Path, &Result<Exit, Failure>);

/// Executes a run until it ends or something stops it. The journal is unlocked before the last lines are printed, so that
/// a slow reader does not keep others from resuming the run.
///
/// # Errors
/// What stopped the run.
pub fn drive(run: OpenRun, view: View, afterwards: Afterwards) -> Result<Exit, Failure> {
    drive_with_threads(async {
        let around = Around::new(Seen::of(view), signals::listen()?, &[&run])?;
        let folder = run.folder.clone();
        let ended = supervise(run, &around, &around.terminal.only_run()).await;
        afterwards(&folder, &ended);
        around.finish().await;
        ended
    })
}
