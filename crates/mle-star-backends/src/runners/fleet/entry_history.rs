//! An entry of the configuration with the history of its runners, which decides when the next one may start.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::connection::{Connection, Hope, NotStarted};
use super::super::entry::RunnerEntry;

/// A runner that waits longer than this may wait in a queue, and others are started meanwhile.
const QUEUE_TIME: Duration = Duration::from_secs(10);
/// The first wait after a start that failed. It doubles with each failure in a row.
const MIN_RETRY_WAIT: Duration = Duration::from_secs(2);
/// The longest wait after a start that failed.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(300);
/// After this many failures in a row, an entry counts as unreachable.
const MAX_FAILURES: u32 = 3;
/// After this many failures in a row, an entry that was reached before counts as unreachable: a quarter of an hour with
/// all the waits.
const MAX_LATER_FAILURES: u32 = 10;
/// How many runners of an entry are started at once. An `sshd` refuses the eleventh login.
const MAX_STARTING: usize = 5;

/// An entry of the configuration with the history of its runners.
pub(super) struct FleetEntry {
    pub(super) entry: RunnerEntry,
    /// The runners that are started or ready, by number, with the time of their start; `None` once ready.
    pub(super) started: BTreeMap<u32, Option<Instant>>,
    /// How many slots the last runner that was ready had.
    pub(super) slots: Option<usize>,
    /// Failures since a script ended. Those of runners that started together count once.
    pub(super) failures: u32,
    /// The time of the last failure that counts.
    failed: Option<Instant>,
    /// The next start is not before this.
    not_before: Option<Instant>,
    /// Why no further one is started.
    refused: Option<String>,
    pub(super) last_failure: String,
}

impl FleetEntry {
    pub(super) fn new(entry: RunnerEntry) -> Self {
        Self {
            entry,
            started: BTreeMap::new(),
            slots: None,
            failures: 0,
            failed: None,
            not_before: None,
            refused: None,
            last_failure: String::new(),
        }
    }

    /// Notes that the runner failed that was started at `began`.
    pub(super) fn failed(&mut self, NotStarted { reason, hope }: NotStarted, began: Instant) {
        if self.failed.is_none_or(|last| last < began) {
            self.failures += 1;
            let wait = MIN_RETRY_WAIT.saturating_mul(1 << (self.failures - 1).min(16)).min(MAX_RETRY_WAIT);
            let now = Instant::now();
            (self.failed, self.not_before) = (Some(now), Some(now + wait));
        }
        match hope {
            Hope::Some => {}
            Hope::Little => self.failures = self.failures.max(MAX_LATER_FAILURES),
            Hope::None => self.refused = Some(reason.clone()),
        }
        self.last_failure = reason;
    }

    /// Whether it is useless to wait for its runners.
    pub(super) fn is_hopeless(&self) -> bool {
        let most = if self.slots.is_some() { MAX_LATER_FAILURES } else { MAX_FAILURES };
        self.refused.is_some() || self.failures >= most
    }

    /// Whether this is one of its runners.
    pub(super) fn has(&self, connection: &Connection) -> bool {
        connection.name.strip_prefix(&self.entry.name).is_some_and(is_runner_suffix)
    }

    pub(super) fn expected_slots(&self) -> usize {
        self.slots.unwrap_or_else(|| self.entry.expected_slots())
    }

    /// How many runners are being started, without those that may wait in a queue.
    fn starting(&self) -> usize {
        let is_soon = |began: &&Instant| began.elapsed() < QUEUE_TIME;
        self.started.values().flatten().filter(is_soon).count()
    }

    /// How many slots will be there soon.
    pub(super) fn soon(&self) -> usize {
        self.starting() * self.expected_slots()
    }

    pub(super) fn may_start(&self) -> bool {
        let is_early = self.not_before.is_some_and(|then| Instant::now() < then);
        let is_full = self.started.len() >= self.entry.count as usize || self.starting() >= MAX_STARTING;
        self.refused.is_none() && !is_early && !is_full
    }
}

/// Whether this ends the name of a runner: a hyphen and a number.
fn is_runner_suffix(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn not(reason: &str, hope: Hope) -> NotStarted {
        NotStarted { reason: reason.to_owned(), hope }
    }

    /// A time after all earlier ones.
    fn later() -> Instant {
        std::thread::sleep(Duration::from_millis(2));
        Instant::now()
    }

    #[test]
    fn runners_that_fail_together_count_once() {
        let entry = json!({"name": "a", "command": ["x"], "count": 8});
        let mut kept = FleetEntry::new(serde_json::from_value(entry).unwrap());
        for round in 1..=4 {
            let began = later();
            (0..8).for_each(|_| kept.failed(not("no route", Hope::Some), began));
            assert_eq!(kept.failures, round);
            let wait = kept.not_before.unwrap() - kept.failed.unwrap();
            assert_eq!(wait, MIN_RETRY_WAIT * (1 << (round - 1)));
        }
        assert!(kept.is_hopeless() && !kept.may_start());
        // It was reached once.
        kept.slots = Some(1);
        assert!(!kept.is_hopeless());
        kept.failed(not("another version", Hope::None), later());
        kept.failed(not("no route", Hope::Some), later());
        assert_eq!(kept.refused.as_deref(), Some("another version"));
    }
}
