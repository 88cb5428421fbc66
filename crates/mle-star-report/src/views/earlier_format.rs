//! Verdicts of finished runs of an earlier format, which recorded what was kept only in `result.json`.

use mle_star::result::FinalResult;
use mle_star::verdict::{Verdict, Verdicts};
use mle_star_domain::place::{Place, Step};

/// Derives the verdicts from the result. Attempts and rounds that were not kept have no record of what they were
/// made from.
pub fn verdicts(result: &FinalResult) -> Verdicts {
    let mut verdicts = Verdicts::new();
    let mut put = |step: Step, score: Option<f64>, kept: bool| {
        verdicts.insert(step, Verdict { score, kept, ..Verdict::default() });
    };
    for (index, score) in (0..).zip(&result.phase1.candidate_scores) {
        put(Step::Candidate(index), *score, score.is_some());
    }
    for (count, merge) in (1..).zip(&result.phase1.merges) {
        put(Step::Merge(count), merge.score, merge.accepted);
    }
    for (path, refined) in (0..).zip(&result.phase2_results) {
        for (outer, step) in (0..).zip(&refined.step_history) {
            put(
                Step::Outer { path, outer },
                None,
                step.inner_loop_attempts.iter().any(|one| one.was_improvement),
            );
            for (inner, attempt) in (0..).zip(&step.inner_loop_attempts) {
                put(Step::Attempt { path, outer, inner }, attempt.score, attempt.was_improvement);
            }
        }
    }
    for (round, score) in (0..).zip(result.phase3.iter().flat_map(|phase3| &phase3.ensemble_scores)) {
        put(Step::Round(round), *score, false);
    }
    for entry in &result.lineage {
        let Some(step) = entry.place.step() else { continue };
        let from = entry.from.iter().filter_map(Place::step).collect();
        verdicts.insert(step, Verdict { score: entry.score, kept: true, from, ..Verdict::default() });
    }
    verdicts
}
