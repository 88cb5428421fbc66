//! The ancestry of solutions, read from the verdicts of the steps.

use std::collections::BTreeSet;

use mle_star::verdict::{Best, Verdict, Verdicts, answer};
use mle_star_domain::metric::{Direction, Score, last_best};
use mle_star_domain::place::Step;

/// The family tree of a run's solutions.
#[derive(Debug, Default)]
pub struct Descent {
    verdicts: Verdicts,
    /// The step with the best solution so far, which the submission is based on.
    pub best: Option<Step>,
}

impl Descent {
    /// The tree of a run with these verdicts, which may be in progress.
    pub fn of(verdicts: &Verdicts, direction: Direction) -> Self {
        let submitted = verdicts.get(&Step::Finalization).and_then(|verdict| verdict.from.first().copied());
        let answered = || answer(verdicts, direction).map(|best| best.step);
        let of_phase_1 =
            || verdicts.values().rev().find_map(|verdict| verdict.best.as_ref()).map(|best| best.step);
        let candidate = || best_candidate(verdicts, direction);
        let best = submitted.or_else(answered).or_else(of_phase_1).or_else(candidate);
        Self { verdicts: verdicts.clone(), best }
    }

    /// The score of a step's solution.
    pub fn score(&self, step: Step) -> Option<f64> {
        self.verdicts.get(&step)?.score
    }

    /// The steps whose solutions the step starts from. The one to compare its solution with comes first.
    pub fn from(&self, step: Step) -> Vec<Step> {
        match self.verdicts.get(&step) {
            Some(verdict) if !verdict.from.is_empty() => verdict.from.clone(),
            _ => self.origin(step).into_iter().collect(),
        }
    }

    /// The steps that led to the best solution, its own included.
    pub fn way_to_best(&self) -> BTreeSet<Step> {
        self.way_to(self.best)
    }

    /// The steps that led to a solution, its own included.
    pub fn way_to(&self, step: Option<Step>) -> BTreeSet<Step> {
        let (mut way, mut wanted) = (BTreeSet::new(), Vec::from_iter(step));
        while let Some(step) = wanted.pop() {
            if way.insert(step) {
                wanted.extend(self.from(step));
            }
        }
        way
    }

    /// The start of an open step of a path: the path's best solution when its outer step began.
    fn origin(&self, step: Step) -> Option<Step> {
        let (path, outer) = match step {
            Step::Outer { path, outer } | Step::Attempt { path, outer, .. } => (path, outer),
            _ => return None,
        };
        let best = |step| self.verdicts.get(&step).and_then(|verdict: &Verdict| verdict.best.as_ref());
        let earlier = self.verdicts.range(..Step::Outer { path, outer }).rev().map(|(step, _)| *step);
        let before = earlier
            .filter(|step| matches!(step, Step::Outer { path: other, .. } if *other == path))
            .find_map(best);
        before.or_else(|| best(Step::LeakageCheck)).map(|best: &Best| best.step)
    }
}

/// The candidate with the best score, while none has been chosen.
fn best_candidate(verdicts: &Verdicts, direction: Direction) -> Option<Step> {
    let scored = |(step, verdict): (&Step, &Verdict)| Some((*step, Score::new(verdict.score?, direction)?));
    last_best(verdicts.iter().filter_map(scored), |(_, score)| *score).map(|(step, _)| step)
}
