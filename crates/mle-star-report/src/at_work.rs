//! The work in progress of a run, from its events: which agent calls and scripts have a slot, and what its runners do.
//!
//! A journal record begins when its step requests the call or script. Only the events show when it gets a slot.

use std::path::Path;

use mle_star_domain::layout;
use mle_star_domain::place::Place;

use crate::files;
use crate::follow::Follow;
use crate::progress::{Progress, RunningCall};
use crate::run_view::{RunView, State};
use crate::runners::Runners;

/// The present of a running run, and its runners.
pub struct AtWork {
    follow: Follow,
    progress: Progress,
    is_running: bool,
}

impl AtWork {
    /// The run in this folder, whose events have not been read yet.
    pub fn unread(folder: &Path) -> Self {
        Self { follow: Follow::new(folder), progress: Progress::default(), is_running: false }
    }

    /// Reads it from the events of a run.
    pub fn of(run: &RunView) -> Self {
        let mut at_work = Self::unread(&run.folder);
        at_work.read(&run.folder, run.summary.run.state);
        at_work
    }

    /// Reads the new events. Those of a run that has ended are read only if it had runners.
    pub fn read(&mut self, folder: &Path, state: State) {
        self.is_running = state == State::Running;
        if self.is_running || files::open(folder, layout::RUNNERS).is_ok() {
            for line in self.follow.new_lines().unwrap_or_default().iter().filter_map(|new| new.line.as_ref())
            {
                self.progress.take(line);
            }
        }
        if !self.is_running {
            // A process that was killed left no end. What it did is not what the next one does.
            self.progress.outline = None;
        }
    }

    /// The progress of the current process; `None` without events of it. Events before the start or after the end of a
    /// process do not describe the current one.
    pub fn progress(&self) -> Option<&Progress> {
        let is_known =
            self.is_running && self.progress.outline.is_some() && self.progress.exit_code.is_none();
        is_known.then_some(&self.progress)
    }

    /// The agent call or script with a slot at this place; `None` while it waits.
    pub fn slot(&self, place: &Place) -> Option<&RunningCall> {
        self.progress()?.running.get(place)
    }

    /// The runners.
    pub fn runners(&self) -> &Runners {
        &self.progress.runners
    }

    /// The places whose scripts run on this runner.
    pub fn places_on<'a>(&'a self, runner: &'a str) -> impl Iterator<Item = &'a Place> {
        let running = self.progress().into_iter().flat_map(|progress| &progress.running);
        running.filter(move |(_, call)| call.runner.as_deref() == Some(runner)).map(|(place, _)| place)
    }
}
