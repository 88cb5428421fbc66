//! Estimates the time left from the planned effects, the completed ones and their speed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mle_star::event::Planned;
use mle_star_domain::place::Phase;

/// Scripts that must have ended before there is an estimate.
const SCRIPTS_NEEDED: u64 = 3;
/// The share of all planned effects that must have ended before there is an estimate.
const SHARE_NEEDED: f64 = 0.1;

/// Counts and times of completed effects.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Agent calls.
    pub calls: Effects,
    /// Scripts.
    pub scripts: Effects,
}

/// Effects of one kind.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Completed effects per phase, including those of earlier processes.
    ended: BTreeMap<Phase, u64>,
    /// Their total time in seconds.
    seconds: f64,
    /// Seconds of those that this process performed.
    own_seconds: f64,
}

/// A completed effect.
#[derive(Clone, Copy, Debug)]
pub struct EndedEffect {
    /// The phase that it belongs to.
    pub phase: Phase,
    /// The time it took.
    pub seconds: f64,
    /// Whether it was replayed from the journal.
    pub replayed: bool,
}

/// The progress of a run at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The planned effects of the whole run.
    pub planned: &'a [Planned],
    /// The current phase.
    pub phase: Phase,
    /// Seconds that this process has worked.
    pub own: f64,
    /// Seconds that each agent call in progress has taken so far, waits for the service included.
    pub calls: &'a [f64],
    /// Seconds that each script in progress has taken so far.
    pub scripts: &'a [f64],
}

impl Pace {
    /// How many calls and scripts of a phase have ended.
    pub fn ended(&self, phase: Phase) -> u64 {
        self.calls.in_phase(phase) + self.scripts.in_phase(phase)
    }

    /// Estimated seconds left; `None` while it is too early to say.
    ///
    /// The remaining effects are assumed to take as long as those before, with as many repairs and as many at a time.
    pub fn seconds_left(&self, moment: Moment<'_>) -> Option<f64> {
        let planned: u64 = moment.planned.iter().map(|phase| phase.calls + phase.scripts).sum();
        let done = self.calls.count() + self.scripts.count();
        if self.scripts.count() < SCRIPTS_NEEDED || amount(done) < SHARE_NEEDED * amount(planned) {
            return None;
        }
        let under_way: f64 = moment.calls.iter().chain(moment.scripts).sum();
        let worked = self.calls.own_seconds + self.scripts.own_seconds + under_way;
        if worked <= 0.0 || moment.own <= 0.0 {
            return None;
        }
        let of_calls = self.calls.left(moment, |planned| planned.calls, moment.calls);
        let of_scripts = self.scripts.left(moment, |planned| planned.scripts, moment.scripts);
        Some((of_calls + of_scripts) * moment.own / worked)
    }
}

impl Effects {
    /// Counts an effect that ended.
    pub fn take(&mut self, effect: EndedEffect) {
        *self.ended.entry(effect.phase).or_default() += 1;
        self.seconds += effect.seconds;
        if !effect.replayed {
            self.own_seconds += effect.seconds;
        }
    }

    fn count(&self) -> u64 {
        self.ended.values().sum()
    }

    fn in_phase(&self, phase: Phase) -> u64 {
        self.ended.get(&phase).copied().unwrap_or_default()
    }

    /// Seconds of remaining work, part of which may be in progress.
    fn left(&self, moment: Moment<'_>, planned: fn(&Planned) -> u64, under_way: &[f64]) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        let to_come = moment.planned.iter().filter(|of| of.phase >= moment.phase);
        let left: u64 = to_come.map(|of| planned(of).saturating_sub(self.in_phase(of.phase))).sum();
        let foreseen: u64 = moment.planned.iter().map(|of| planned(of).min(self.in_phase(of.phase))).sum();
        let with_repairs = amount(self.count()) / amount(foreseen.max(1));
        let each = self.seconds / amount(self.count());
        // An effect that takes longer than expected does not shorten the later ones.
        let behind: f64 = under_way.iter().map(|seconds| seconds.min(each)).sum();
        (amount(left) * with_repairs * each - behind).max(0.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of effects are far below 2^52")]
fn amount(count: u64) -> f64 {
    count as f64
}

/// Seconds between two times; 0 if the clock was set back in between.
pub fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}
