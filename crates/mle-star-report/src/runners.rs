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
    /// Its last state, with its machine.
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

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use serde_json::{Value, json};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// The runners after these events, each with its second, and whether each repeats a reason.
    fn runners(events: &[(i64, Value)]) -> (Runners, Vec<bool>) {
        let mut runners = Runners::default();
        let take = |(second, event): &(i64, Value)| {
            let event = serde_json::from_value(event.clone()).unwrap();
            runners.take(&Line { time: at(*second), run_id: "r".to_owned(), event })
        };
        let repeats = events.iter().map(take).collect();
        (runners, repeats)
    }

    fn runner(name: &str, state: &str, host: Option<&str>, detail: &str) -> Value {
        let waited = (state == "ready").then_some(4.5);
        json!({"event": "runner", "runner": name, "state": state, "host": host, "slots": 2, "waited": waited,
            "detail": detail})
    }

    fn ended() -> Value {
        json!({"event": "run_ended", "exit_code": 1, "error": null, "hint": null})
    }

    #[test]
    fn losses_and_waits_add_up_over_processes() {
        let lost = runner("a-1", "lost", Some("host"), "killed");
        let events = [
            (10, runner("a-1", "waiting", None, "")),
            (15, runner("a-1", "ready", Some("host"), "")),
            (20, lost.clone()),
            // Told twice, as at the start of a second run of the process.
            (21, lost.clone()),
            (25, runner("a-1", "waiting", None, "")),
            (32, runner("a-1", "failed", None, "no place")),
            (40, ended()),
            (50, runner("a-1", "waiting", None, "")),
            (55, runner("a-1", "ready", Some("other"), "")),
            (60, lost),
        ];
        let (runners, _) = runners(&events);
        let (name, found) = runners.iter().next().unwrap();
        assert_eq!((name, found.losses, found.waited), ("a-1", 2, 4.5 + 7.0 + 4.5));
        assert_eq!((found.since, found.is_current), (at(60), true));
    }

    #[test]
    fn a_reason_is_news_once_in_a_process() {
        let failed = |name: &str, why: &str| runner(name, "failed", None, why);
        let events = [
            (1, failed("a-1", "no such host")),
            (2, failed("a-2", "no such host")),
            (3, failed("a-1", "no place")),
            (4, ended()),
            (5, failed("a-1", "no place")),
        ];
        assert_eq!(runners(&events).1, [false, true, false, false, false]);
    }
}
