//! How far a run is, against the steps its configuration implies when all goes well.

use mle_star::estimate::estimate;
use mle_star::journal::{Kind, Snapshot};
use mle_star::place::Phase;
use serde::Serialize;

use crate::runs::run_view::State;
use crate::watch::phase_title;

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Of 100; below it until the run has ended.
    pub percent: u64,
    /// The stage it is in, or how it ended.
    pub words: String,
}

/// Of a run in this state.
pub fn progress(snapshot: &Snapshot, state: State) -> Progress {
    if state == State::Finished {
        return Progress { percent: 100, words: "done".to_owned() };
    }
    let frozen = &snapshot.frozen;
    let phases = estimate(&frozen.config, &frozen.task, frozen.retrieved_models.as_ref().map(Vec::len));
    let effects = || snapshot.effects.iter().filter(|effect| effect.kind != Kind::Decision);
    let current = effects().filter_map(|effect| effect.place.phase()).max();
    let (mut done, mut expected) = (0, 0);
    for phase in phases {
        let calls: u64 = phase.calls.values().map(|count| count.fewest).sum();
        let of_phase = calls + phase.scripts.fewest;
        let ended = effects().filter(|e| e.counts() && e.place.phase() == Some(phase.phase)).count() as u64;
        expected += of_phase;
        // A phase that is behind counts whole, whatever it needed; none counts for more than it is.
        done += if Some(phase.phase) < current { of_phase } else { ended.min(of_phase) };
    }
    let percent = (done * 100).checked_div(expected).unwrap_or_default().min(99);
    Progress { percent, words: current.map_or_else(|| "preparing".to_owned(), title) }
}

fn title(phase: Phase) -> String {
    phase_title(phase)
}
