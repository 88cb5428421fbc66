//! Executes several runs side by side.

use std::path::PathBuf;
use std::sync::Arc;

use mle_star::stop::Trouble;
use tokio::task::JoinSet;

use super::{Afterwards, Around, Start, View, supervise, with_runtime};
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
/// the others. Returns the runs in the order of `starts`.
///
/// # Errors
/// The runtime cannot be started.
pub fn drive_all(
    view: View,
    starts: Vec<(String, Start)>,
    afterwards: Afterwards,
) -> Result<Vec<Ended>, Failure> {
    let names: Vec<String> = starts.iter().map(|(name, _)| name.clone()).collect();
    let mut ended = with_runtime(all(view, starts, afterwards))?;
    let mut of_run = |(index, name)| {
        let position = ended.iter().position(|(of, _)| *of == index);
        position.map_or_else(|| broken(name), |position| ended.swap_remove(position).1)
    };
    Ok(names.into_iter().enumerate().map(&mut of_run).collect())
}

/// The runs with their indices, in the order in which they ended.
async fn all(
    view: View,
    starts: Vec<(String, Start)>,
    afterwards: Afterwards,
) -> Result<Vec<(usize, Ended)>, Failure> {
    let all: Vec<&Start> = starts.iter().map(|(_, start)| start).collect();
    let around = Arc::new(Around::new(view, &all)?);
    let mut runs = JoinSet::new();
    for (index, (name, start)) in starts.into_iter().enumerate() {
        let around = Arc::clone(&around);
        runs.spawn(async move { (index, one(name, start, &around, afterwards).await) });
    }
    let mut ended = Vec::new();
    while let Some(next) = runs.join_next().await {
        // A run is missing only after a panic, which the hook has printed.
        ended.extend(next.ok());
    }
    around.finish().await;
    Ok(ended)
}

async fn one(name: String, start: Start, around: &Around, afterwards: Afterwards) -> Ended {
    let exit = called(&name, &start, around).await;
    if let Err(failure) = &exit {
        around.terminal.error(&failure.trouble.clone().of(&name));
    }
    let folder = start.folder.clone();
    drop(start);
    afterwards(&folder, &exit);
    Ended { name, folder: Some(folder), exit }
}

async fn called(name: &str, start: &Start, around: &Around) -> Result<Exit, Failure> {
    supervise(start, around, &around.terminal.run_called(name)).await
}

fn broken(name: String) -> Ended {
    let trouble = Trouble::new("internal error", "this is a bug in mle-star, please report it");
    Ended { name, folder: None, exit: Err(Failure::failed(trouble)) }
}
