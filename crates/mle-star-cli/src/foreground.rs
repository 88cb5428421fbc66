//! Runs of this process, in its terminal: signals stop them, and their events are shown and recorded.

mod screen;
pub mod signals;

use std::path::Path;

use mle_star_run::OpenRun;
use mle_star_run::runtime::{cannot_start, drive_with_threads};
use tokio::runtime::{Builder, Runtime};

use crate::exit::{Exit, Failure};
use screen::{Session, supervise};
use signals::Signals;

pub use screen::View;

/// Called when a run has ended and its journal is unlocked, with its folder and its outcome.
pub type Afterwards = fn(&Path, &Result<Exit, Failure>);

/// Executes a run until it ends or something stops it. The journal is unlocked before the last lines are printed, so that
/// a slow reader does not keep others from resuming the run.
///
/// # Errors
/// What stopped the run.
pub fn drive(run: OpenRun, view: View, afterwards: Afterwards) -> Result<Exit, Failure> {
    drive_with_threads(async { shown(run, view, signals::listen()?, afterwards).await })
}

/// Signals for several calls of [`drive_in_turn`], heard between them as well.
pub struct Listening {
    signals: Signals,
    /// Runs the task that hears them.
    _runtime: Runtime,
}

impl Listening {
    /// Starts to listen.
    ///
    /// # Errors
    /// The runtime cannot be started.
    pub fn start() -> Result<Self, Failure> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| cannot_start(&error))?;
        let signals = runtime.block_on(async { signals::listen() })?;
        Ok(Self { signals, _runtime: runtime })
    }

    /// The exit code, if a signal was received.
    pub fn stopped(&self) -> Option<Exit> {
        self.signals.stopped()
    }
}

/// As [`drive`], and can be called again for other runs.
///
/// # Errors
/// What stopped the run.
pub fn drive_in_turn(listening: &Listening, view: View, run: OpenRun) -> Result<Exit, Failure> {
    drive_with_threads(shown(run, view, listening.signals.clone(), |_, _| {}))
}

async fn shown(run: OpenRun, view: View, signals: Signals, afterwards: Afterwards) -> Result<Exit, Failure> {
    let session = Session::new(view, signals, &run);
    let folder = run.folder.clone();
    let ended = supervise(run, &session).await;
    afterwards(&folder, &ended);
    session.finish().await;
    ended
}
