//! What only the events of a run tell: which agent calls and scripts have a slot, and what its runners do.
//!
//! A journal record begins when its step requests the call or script. Only the events show when it gets a slot.

use std::collections::BTreeMap;

use mle_star_domain::layout;
use mle_star_domain::place::Place;

use crate::files;
use crate::follow::Follow;
use crate::progress::Progress;
use crate::run_view::{RunView, State};
use crate::runners::Runners;

/// The present of a running run, and its runners.
#[derive(Default)]
pub struct AtWork {
    /// Calls and scripts with a slot; `None` without events of the current process.
    running: Option<BTreeMap<Place, Slot>>,
    /// The runners.
    pub runners: Runners,
}

/// An agent call or a script with a slot.
pub struct Slot {
    /// Seconds into the run at which it got the slot.
    pub since: f64,
    /// The runner of a script; `None`: this machine.
    pub runner: Option<String>,
}

impl AtWork {
    /// Reads them from the events of a run. Those of a run that has ended are read only if it had runners.
    pub fn of(run: &RunView) -> Self {
        let is_running = run.summary.run.state == State::Running;
        if !is_running && files::open(&run.folder, layout::RUNNERS).is_err() {
            return Self::default();
        }
        let mut progress = Progress::default();
        let lines = Follow::new(&run.folder).new_lines().unwrap_or_default();
        for line in lines.iter().filter_map(|found| found.line.as_ref()) {
            progress.take(line);
        }
        let slot = |(place, effect): (&Place, &crate::progress::RunningCall)| {
            let (since, runner) = (progress.elapsed(effect.began), effect.runner.clone());
            (place.clone(), Slot { since, runner })
        };
        // Events before the start or after the end of a process do not describe the current one.
        let is_known = is_running && progress.outline.is_some() && progress.exit_code.is_none();
        let running = is_known.then(|| progress.running.iter().map(slot).collect());
        Self { running, runners: progress.runners }
    }

    /// Whether there are events of the current process.
    pub fn is_known(&self) -> bool {
        self.running.is_some()
    }

    /// The slot of this place; `None` while it waits.
    pub fn slot(&self, place: &Place) -> Option<&Slot> {
        self.running.as_ref()?.get(place)
    }

    /// The places whose scripts run on this runner.
    pub fn places_on<'a>(&'a self, runner: &'a str) -> impl Iterator<Item = &'a Place> {
        let running = self.running.iter().flatten();
        running.filter(move |(_, slot)| slot.runner.as_deref() == Some(runner)).map(|(place, _)| place)
    }
}
