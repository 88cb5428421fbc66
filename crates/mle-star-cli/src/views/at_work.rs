//! Finds the agent calls and scripts of a running run that have a slot.
//!
//! A journal record begins when its step requests the call or script. Only the events show when it gets a slot.

use std::collections::BTreeMap;

use mle_star::place::Place;

use crate::runs::run_view::{RunView, State};
use crate::watch::{Follow, Progress};

/// Places of calls and scripts with a slot, each with the seconds into the run at which it got the slot.
pub struct AtWork(Option<BTreeMap<Place, f64>>);

impl AtWork {
    /// Reads them from the events of a run.
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
        // Events before the start or after the end of a process do not describe the current one.
        let is_known = progress.outline.is_some() && progress.exit_code.is_none();
        Self(is_known.then(|| progress.running.iter().map(began).collect()))
    }

    /// Whether there are events of the current process.
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// Seconds into the run at which this place got its slot; `None` while it waits.
    pub fn since(&self, place: &Place) -> Option<f64> {
        self.0.as_ref()?.get(place).copied()
    }
}
