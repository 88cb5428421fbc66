//! The progress of a run as one number, which terminal, page, lists and tools show.

use mle_star::event::{Done, Outline, Planned, ProgressMeasure};
use mle_star::journal::{EffectRecord, Kind, Snapshot};
use mle_star_domain::effects::Usage;
use mle_star_domain::place::Phase;

use crate::run_view::{State, phase};

/// What a run used and did so far.
#[derive(Clone, Copy, Debug)]
pub struct RunUse {
    /// Seconds.
    pub seconds: f64,
    /// US dollars; `None` if unknown.
    pub usd: Option<f64>,
    /// The phase that it is in.
    pub phase: Option<Phase>,
    /// Whether a limit left steps out.
    pub leaves_out: bool,
}

/// How far a run with this outline is, if so many calls and scripts of each phase have ended. What it used most of ends it, so that
/// is told.
pub fn done(outline: &Outline, used: RunUse, ended: impl Fn(Phase) -> u64) -> Done {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
    let time = used.seconds / outline.time_limit as f64;
    let money = outline.max_budget_usd.zip(used.usd).map_or(0.0, |(limit, usd)| usd / limit);
    let shares = [(time, ProgressMeasure::Time), (money, ProgressMeasure::Money)];
    let shares = shares.map(|(share, of)| (percent(100.0 * share), of));
    let steps = (step_percent(&outline.planned, used, ended), ProgressMeasure::Steps);
    let most = shares.into_iter().chain([steps]).max_by_key(|(percent, _)| *percent);
    let (percent, of) = most.unwrap_or(steps);
    Done { percent, of }
}

/// How far the run of a journal is.
pub(crate) fn run_progress(snapshot: &Snapshot, spent: &Usage, state: State) -> Done {
    let outline = Outline::new(&snapshot.frozen, false, 0.0, Usage::free());
    let is_done = |record: &&EffectRecord| {
        matches!(record.kind, Kind::Agent | Kind::Script) && record.counts() && record.limit.is_none()
    };
    let ended = |phase| {
        let in_phase = |record: &&EffectRecord| record.place.phase() == Some(phase);
        snapshot.effects.iter().filter(is_done).filter(in_phase).count() as u64
    };
    let leaves_out = snapshot.effects.iter().any(|record| record.counts() && record.limit.is_some());
    let used = RunUse { seconds: snapshot.elapsed, usd: spent.cost_usd, phase: phase(snapshot), leaves_out };
    let now = done(&outline, used, ended);
    if state == State::Finished { Done { percent: 100, ..now } } else { now }
}

/// The share of the planned calls and scripts that have ended. A phase before the current one is complete, if no limit left anything
/// out.
fn step_percent(planned: &[Planned], used: RunUse, ended: impl Fn(Phase) -> u64) -> u64 {
    let (mut done, mut all) = (0, 0);
    for Planned { phase, calls, scripts } in planned {
        let of_phase = calls + scripts;
        all += of_phase;
        let is_complete = Some(*phase) < used.phase && !used.leaves_out;
        done += if is_complete { of_phase } else { ended(*phase).min(of_phase) };
    }
    (done * 100).checked_div(all).unwrap_or_default().min(99)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share within these bounds")]
fn percent(share: f64) -> u64 {
    share.clamp(0.0, 99.0) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_as_far_as_what_ends_it() {
        let planned = [("phase1", 6, 4), ("phase2", 30, 20), ("finalization", 20, 20)];
        let planned = planned
            .map(|(phase, calls, scripts)| json!({"phase": phase, "calls": calls, "scripts": scripts}));
        let spent = json!({"cost_usd": 0.0, "input": 0, "output": 0, "cache_read": 0, "cache_write": 0});
        let outline = json!({"task": "t", "metric": "m", "direction": "maximize", "resumed": false, "elapsed": 0.0,
            "spent": spent, "paths": 2, "outer_steps": 2, "inner_steps": 2, "rounds": 1, "time_limit": 100,
            "max_budget_usd": 2.0, "planned": planned});
        let outline: Outline = serde_json::from_value(outline).unwrap();
        let check = |seconds: f64, usd: f64, leaves_out: bool, expected: (u64, ProgressMeasure)| {
            let used = RunUse { seconds, usd: Some(usd), phase: Some(Phase::Phase2), leaves_out };
            let ended = |phase| match phase {
                Phase::Phase1 => 5,
                Phase::Phase2 => 20,
                Phase::Phase3 | Phase::Finalization => 0,
            };
            let Done { percent, of } = done(&outline, used, ended);
            assert_eq!((percent, of), expected, "{seconds} s, ${usd}");
        };
        // All of the first phase, 20 of 50 steps of the second.
        check(10.0, 0.0, false, (30, ProgressMeasure::Steps));
        check(30.0, 0.0, false, (30, ProgressMeasure::Steps));
        check(31.5, 0.0, false, (31, ProgressMeasure::Time));
        check(10.0, 1.0, false, (50, ProgressMeasure::Money));
        check(28.0, 0.0, true, (28, ProgressMeasure::Time));
        check(500.0, 0.0, true, (99, ProgressMeasure::Time));
    }
}
