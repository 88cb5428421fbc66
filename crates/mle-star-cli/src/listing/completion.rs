//! The progress of a run, relative to the work that its configuration implies if nothing fails.

use mle_star::estimate::estimate;
use mle_star::journal::{EffectRecord, Kind, Snapshot};
use mle_star_domain::place::Phase;
use mle_star_report::run_report::limit_name;
use mle_star_report::run_view::{RunView, State};
use mle_star_report::words::phase_title;
use serde::{Deserialize, Serialize};

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Percent. Only a run that did everything has 100.
    pub percent: u64,
    /// The current phase, or the outcome.
    pub words: String,
}

/// Computes the progress of a run.
pub fn completion(run: &RunView) -> Completion {
    let effects = || run.snapshot.effects.iter().filter(|effect| effect.kind != Kind::Decision);
    let current = effects().filter_map(|effect| effect.place.phase()).max();
    let stopped_by = run.result.as_ref().and_then(|result| result.stopped_by);
    match (run.summary.run.state, stopped_by) {
        (State::Finished, None) => Completion { percent: 100, words: "done".to_owned() },
        (State::Finished, Some(limit)) => Completion {
            percent: percent(run, None),
            words: format!("cut short by the {}", limit_name(limit)),
        },
        (State::Running | State::Unfinished, _) => Completion {
            percent: percent(run, current),
            words: current.map_or_else(|| "preparing".to_owned(), phase_title),
        },
    }
}

/// The completed share of the expected agent calls and scripts. A phase before `current` counts as complete, and
/// no phase counts for more than its expected work.
fn percent(run: &RunView, current: Option<Phase>) -> u64 {
    let Snapshot { frozen, effects, .. } = &run.snapshot;
    let is_done =
        |effect: &&EffectRecord| effect.kind != Kind::Decision && effect.counts() && effect.limit.is_none();
    let phases = estimate(&frozen.config, &frozen.task, frozen.retrieved_models.as_ref().map(Vec::len));
    let (mut done, mut expected) = (0, 0);
    for phase in phases {
        let calls: u64 = phase.calls.values().map(|count| count.fewest).sum();
        let of_phase = calls + phase.scripts.fewest;
        let in_phase = |effect: &&EffectRecord| effect.place.phase() == Some(phase.phase);
        let ended = effects.iter().filter(is_done).filter(in_phase).count() as u64;
        expected += of_phase;
        done += if Some(phase.phase) < current { of_phase } else { ended.min(of_phase) };
    }
    (done * 100).checked_div(expected).unwrap_or_default().min(99)
}
