//! Constructors of the records in the run's result: merges, refinement and ensemble attempts, steps.

use super::{
    AttemptEffect, EnsembleAttempt, Merge, PathRecord, PathStatus, RefinementAttempt, SolutionScript,
    StepRecord,
};
use crate::evaluation::Evaluation;
use crate::scored::Scored;
use crate::solution::{CodeBlock, Solution, SolutionPhase};
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::effects::Limit;
use mle_star_domain::metric::last_best;

impl Merge {
    /// What was done, and why it was not kept; `best` is what it was to replace.
    pub(crate) fn describe(&self, best: &Scored, merged: Option<&Scored>, mishaps: &[String]) -> String {
        let why = match merged {
            _ if self.accepted => "",
            Some(merged) if best.score().beats(merged.score()) => ": it scores worse",
            Some(_) => ": it is not kept",
            None => ": it has no score",
        };
        let merged = format!("merged with {}{why}", self.reference_model);
        [merged].into_iter().chain(mishaps.iter().cloned()).collect::<Vec<_>>().join("; ")
    }
}

impl StepRecord {
    /// A step in which no block was refined: none was named, or `limit` skipped it.
    pub(crate) fn skipped(ablation_summary: String, limit: Option<Limit>) -> Self {
        let reason = limit.map_or("no usable code block was named", Limit::name).to_owned();
        let failed = limit.map(|_| true);
        Self { ablation_summary, was_skipped: true, failed, reason: Some(reason), limit, ..Self::default() }
    }

    /// A step that was open when its path failed.
    pub(crate) fn failed(cause: &str) -> Self {
        Self { was_skipped: true, failed: Some(true), reason: Some(cause.to_owned()), ..Self::default() }
    }

    /// A step in which `block` was refined.
    pub(crate) fn refined(
        ablation_summary: String,
        block: &CodeBlock,
        plan: RefinePlan,
        inner_loop_attempts: Vec<RefinementAttempt>,
    ) -> Self {
        let RefinePlan { plan, category, .. } = plan;
        let code_block = block.as_str().to_owned();
        Self { ablation_summary, code_block, category, plan, inner_loop_attempts, ..Self::default() }
    }

    /// Whether an attempt was kept that gained more than one standard error, as far as that is known.
    pub(crate) fn helped(&self) -> bool {
        let is_visible = |effect: &AttemptEffect| {
            effect.gain.zip(effect.standard_error).is_none_or(|(gain, error)| gain > error)
        };
        self.inner_loop_attempts.iter().any(|one| one.was_improvement && is_visible(&one.effect))
    }

    /// C of the MLE-STAR paper: the blocks refined in these steps.
    pub(crate) fn blocks(steps: &[Self]) -> Vec<String> {
        steps.iter().map(|step| step.code_block.clone()).filter(|block| !block.is_empty()).collect()
    }

    /// The record of outer step `outer_step`, after which `best` is the path's best solution.
    pub(crate) fn with_outcome(self, outer_step: u32, best: &Scored) -> Self {
        Self { outer_step, best_score_after_step: best.score().value(), ..self }
    }
}

impl RefinementAttempt {
    /// An attempt without a plan from the planner.
    pub(crate) fn without_plan() -> Self {
        Self { plan: "[planner failed]".to_owned(), ..Self::default() }
    }

    /// An attempt that produced no solution to evaluate, and why; `code_block` is empty if there is none.
    pub(crate) fn failed(plan: String, code_block: String, failure: String) -> Self {
        let effect = AttemptEffect { failure, ..AttemptEffect::default() };
        Self { plan, code_block, effect, ..Self::default() }
    }
}

impl AttemptEffect {
    /// The effect of a solution that was evaluated, compared with another one.
    pub(crate) fn of(evaluation: &Evaluation, other: Option<&Scored>) -> Self {
        let both = evaluation.scored.as_ref().ok().zip(other);
        let facts = match &evaluation.scored {
            Ok(scored) => Some(scored.facts()),
            Err(failure) => failure.facts.as_ref(),
        };
        let failure = evaluation.scored.as_ref().err().map(|failure| failure.headline().to_owned());
        Self {
            gain: both.map(|(scored, other)| scored.score().gain_over(other.score())),
            standard_error: both.and_then(|(scored, other)| Some(scored.difference(other)?.standard_error)),
            seconds: facts.map(|facts| facts.seconds),
            printed: facts.map(|facts| facts.printed.clone()).unwrap_or_default(),
            diff: String::new(),
            mishaps: evaluation.mishaps.clone(),
            failure: failure.unwrap_or_default(),
        }
    }
}

impl EnsembleAttempt {
    /// A round without a script from the ensembler.
    pub(crate) fn without_script(plan: String) -> Self {
        let solution = SolutionScript::failed(&Solution::new(String::new(), SolutionPhase::Ensemble));
        Self { plan, score: None, solution, limit: None, effect: AttemptEffect::default() }
    }

    /// Whether the round did not begin.
    pub(crate) fn was_left_out(&self) -> bool {
        self.limit.is_some() && self.plan.is_empty()
    }
}

/// The solutions; the one to compare an ensemble with comes first.
pub(crate) fn best_first(solutions: &[Scored]) -> impl Iterator<Item = &Scored> {
    let best = last_best(solutions, |one| one.score()).map(Scored::step);
    let (first, others): (Vec<_>, Vec<_>) = solutions.iter().partition(|one| Some(one.step()) == best);
    first.into_iter().chain(others)
}

impl PathRecord {
    /// The outcome of a path, given the limit that cut it short or the error that ended it.
    pub(crate) fn of(path: u32, limit: Option<Limit>, cause: Option<String>) -> Self {
        let limit = limit.map(Limit::name);
        let status = match (&cause, limit) {
            (Some(_), _) => PathStatus::Failed,
            (None, Some(_)) => PathStatus::Cancelled,
            (None, None) => PathStatus::Finished,
        };
        Self { path, status, cause: cause.or_else(|| limit.map(str::to_owned)) }
    }
}

impl From<&Evaluation> for SolutionScript {
    fn from(evaluation: &Evaluation) -> Self {
        match &evaluation.scored {
            Ok(scored) => Self::from(scored),
            Err(_) => Self::failed(&evaluation.solution),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_helped_if_chance_does_not_explain_its_gain() {
        let check = |kept: bool, gain: f64, error: Option<f64>, expected: bool| {
            let effect =
                AttemptEffect { gain: Some(gain), standard_error: error, ..AttemptEffect::default() };
            let attempt = RefinementAttempt { was_improvement: kept, effect, ..RefinementAttempt::default() };
            let step = StepRecord { inner_loop_attempts: vec![attempt], ..StepRecord::default() };
            assert_eq!(step.helped(), expected, "{kept} {gain} {error:?}");
        };
        check(true, 0.02, Some(0.01), true);
        check(true, 0.01, Some(0.02), false);
        check(false, 0.02, Some(0.01), false);
        check(true, 0.0, None, true);
    }
}
