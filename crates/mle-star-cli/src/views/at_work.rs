//! Which agent calls and scripts of a running run have their slot.
//!
//! A record of the journal begins when its step asks for the call or script. Only the events tell when it has its slot.

use std::collections::BTreeMap;

use mle_star::place::Place;

use crate::runs::run_view::{RunView, State};
use crate::watch::{Follow, Progress};

/// What is at work, each with the seconds into the run at which it began to be.
pub struct AtWork(Option<BTreeMap<Place, f64>>);

impl AtWork {
    /// Of a run, as its events tell.
    pub fn of(run: &RunView) -> Self {
        if run.summary.state != State::Running {
            return Self(None);
        }
        let mut progress = Progress::default();
        let lines = Follow::new(&run.folder).new_lines().unwrap_or_default();
        for line in lines.iter().filter_map(|found| found.line.as_ref()) {
            progress.take(line);
        }
        let began = |(place, effect): (&Place, &crate::watch::Effect)| {
            (place.clone(), progress.elapsed(effect.began))
        };
        // A process that has not begun, or has ended, tells nothing of this one.
        let is_told = progress.outline.is_some() && progress.exit_code.is_none();
        Self(is_told.then(|| progress.running.iter().map(began).collect()))
    }

    /// Do the events of the process tell? Without them nothing can be said.
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// Seconds into the run at which this began to work; `None` while it waits for its slot.
    pub fn since(&self, place: &Place) -> Option<f64> {
        self.0.as_ref()?.get(place).copied()
    }
}
