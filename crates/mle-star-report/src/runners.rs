//! The runners of a run after the events so far.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mle_star::event::{Event, Line, RunnerState, RunnerStatus};

use crate::pace::seconds;

/// The runners of a run by name, those of earlier processes included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runners {
    by_name: BTreeMap<String, Runner>,
    /// The reasons for which runners could not be used so far.
    failures: BTreeSet<String>,
}

/// One runner.
#[derive(Clone, Debug, PartialEq)]
pub struct Runner {
    /// The runner's last state, with its machine.
    pub status: RunnerStatus,
    /// Whether the current process has it. Processes that ended have none.
    pub is_current: bool,
    /// When it got its state.
    pub since: Timestamp,
    /// How often it was lost.
    pub losses: u64,
    /// Seconds from its starts until it was ready, or could not be used.
    pub waited: f64,
}

impl Runners {
    /// Processes a line. Returns whether it repeats the reason of an earlier failure.
    pub fn take(&mut self, line: &Line) -> bool {
        match &line.event {
            Event::RunStarted(_) | Event::RunEnded { .. } => {
                self.by_name.values_mut().for_each(|runner| runner.is_current = false);
                self.failures.clear();
                false
            }
            Event::Runner { runner } => {
                self.change(runner, line.time);
                runner.state == RunnerState::Failed && !self.failures.insert(runner.detail.clone())
            }
            _ => false,
        }
    }

    fn change(&mut self, status: &RunnerStatus, time: Timestamp) {
        let known = self.by_name.entry(status.runner.clone()).or_insert_with(|| Runner {
            // What is not current is no state to compare with.
            status: status.clone(),
            is_current: false,
            since: time,
            losses: 0,
            waited: 0.0,
        });
        let was = known.is_current.then_some(known.status.state);
        let is_new = was != Some(status.state);
        if is_new && was == Some(RunnerState::Waiting) {
            known.waited += status.waited.unwrap_or_else(|| seconds(known.since, time));
        }
        known.losses += u64::from(is_new && status.state == RunnerState::Lost);
        known.since = if is_new { time } else { known.since };
        // A runner that failed may have introduced itself before.
        let introduced = known.status.host.take().filter(|_| status.state == RunnerState::Failed);
        let host = status.host.clone().or(introduced);
        known.status = RunnerStatus { host, ..status.clone() };
        known.is_current = true;
    }

    /// All runners by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Runner)> {
        self.by_name.iter().map(|(name, runner)| (name.as_str(), runner))
    }
}

/// A state as a word.
pub fn name(state: RunnerState) -> &'static str {
    match state {
        RunnerState::Waiting => "waiting",
        RunnerState::Ready => "ready",
        RunnerState::GivenBack => "given back",
        RunnerState::Lost => "lost",
        RunnerState::Failed => "failed",
    }
}
