//! Executes several runs side by side.

use std::path::PathBuf;
use std::sync::Arc;

use mle_star_domain::trouble::Trouble;
use mle_star_run::OpenRun;
use mle_star_run::runtime::{cannot_start, drive_with_threads};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::Afterwards;
use super::screen::{Around, Seen, View, supervise};
use super::signals::{self, Signals};
use crate::exit::{Exit, Failure};

/// A run that has ended.
pub struct Ended {
    /// Its name among the runs.
    pub name: String,
    /// Its folder; `None` after a panic.
    pub folder: Option<PathBuf>,
    /// Its outcome.
    pub exit: Result<Exit, Failure>,
}

/// Executes every run until it ends or something stops it. An error of one run is printed at once and does not affect
/// the others. Returns the runs in the order of `runs`.
///
/// # Errors
/// The runtime cannot be started.
pub fn drive_all(
    view: View,
    runs: Vec<(String, OpenRun)>,
    afterwards: Afterwards,
) -> Result<Vec<Ended>, Failure> {
    let names = names_of(&runs);
    let ended =
        drive_with_threads(async { all(Seen::of(view), signals::listen()?, runs, afterwards).await })?;
    Ok(in_order(names, ended))
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

/// As [`drive_all`], and can be called again for other runs.
///
/// # Errors
/// The runtime cannot be started.
pub fn drive_in_turn(
    listening: &Listening,
    seen: Seen,
    runs: Vec<(String, OpenRun)>,
    afterwards: Afterwards,
) -> Result<Vec<Ended>, Failure> {
    let names = names_of(&runs);
    let ended = drive_with_threads(all(seen, listening.signals.clone(), runs, afterwards))?;
    Ok(in_order(names, ended))
}

fn names_of(runs: &[(String, OpenRun)]) -> Vec<String> {
    runs.iter().map(|(name, _)| name.clone()).collect()
}

/// The runs in the order in which they were named.
fn in_order(names: Vec<String>, mut ended: Vec<(usize, Ended)>) -> Vec<Ended> {
    let mut of_run = |(index, name)| {
        let position = ended.iter().position(|(of, _)| *of == index);
        position.map_or_else(|| broken(name), |position| ended.swap_remove(position).1)
    };
    names.into_iter().enumerate().map(&mut of_run).collect()
}

/// The runs with their indices, in the order in which they ended.
async fn all(
    seen: Seen,
    signals: Signals,
    runs: Vec<(String, OpenRun)>,
    afterwards: Afterwards,
) -> Result<Vec<(usize, Ended)>, Failure> {
    let all: Vec<&OpenRun> = runs.iter().map(|(_, run)| run).collect();
    let around = Arc::new(Around::new(seen, signals, &all)?);
    let mut driven = JoinSet::new();
    for (index, (name, run)) in runs.into_iter().enumerate() {
        let around = Arc::clone(&around);
        driven.spawn(async move { (index, one(name, run, &around, afterwards).await) });
    }
    let mut ended = Vec::new();
    while let Some(next) = driven.join_next().await {
        // A run is missing only after a panic, which the hook has printed.
        ended.extend(next.ok());
    }
    around.finish().await;
    Ok(ended)
}

async fn one(name: String, run: OpenRun, around: &Around, afterwards: Afterwards) -> Ended {
    let folder = run.folder.clone();
    let exit = supervise(run, around, &around.terminal.run_called(&name)).await;
    if let Err(failure) = &exit {
        around.terminal.error(&failure.trouble.clone().of(&name));
    }
    afterwards(&folder, &exit);
    Ended { name, folder: Some(folder), exit }
}

fn broken(name: String) -> Ended {
    let trouble = Trouble::new("internal error", "this is a bug in mle-star, please report it");
    Ended { name, folder: None, exit: Err(Failure::failed(trouble)) }
}
