//! The ends of steps: the outcome of a step becomes the value that its algorithm goes on with, and
//! the verdict that is recorded and told.

use mle_star_domain::config::Acceptance;

use crate::about::beginning;
use crate::evaluation::{Evaluation, Failure, StepEnd};
use crate::lessons::diff;
use crate::result::{
    AttemptEffect, EnsembleAttempt, Merge, RefinementAttempt, SolutionScript, StepRecord, best_first,
};
use crate::scored::Scored;
use crate::solution::{BlockError, CodeBlock};
use crate::verdict::{Best, Verdict};

/// What a merge, an attempt or a round came to: its record, and the solution that it made.
pub(crate) struct AttemptEnd<R> {
    pub record: R,
    pub scored: Option<Scored>,
    is_kept: bool,
    warning: Option<String>,
}

/// A merge; it has no record if a limit left it out.
pub(crate) type MergeEnd = AttemptEnd<Option<Merge>>;

/// An attempt at a block.
pub(crate) type Attempt = AttemptEnd<RefinementAttempt>;

/// A round of Algorithm 3.
pub(crate) type Round = AttemptEnd<EnsembleAttempt>;

impl<R> AttemptEnd<R> {
    /// One that made no solution.
    pub(crate) fn failed(record: R) -> Self {
        Self { record, scored: None, is_kept: false, warning: None }
    }

    /// One whose solution was evaluated.
    fn made(record: R, evaluation: Evaluation) -> Self {
        Self { scored: evaluation.scored.ok(), ..Self::failed(record) }
    }

    /// The solution, if it was kept.
    pub(crate) fn accepted(&self) -> Option<&Scored> {
        self.scored.as_ref().filter(|_| self.is_kept)
    }
}

impl Evaluation {
    /// The candidate for a model, and the verdict on it.
    pub(crate) fn candidate(end: StepEnd<Self>, model: &str) -> (Self, Verdict) {
        let candidate = end.evaluation();
        let candidate = Self { solution: candidate.solution.of_model(model), ..candidate };
        let left_out = |failure: &Failure| format!("candidate {model} is left out: {}", failure.headline());
        let verdict = Verdict::of(&candidate.scored, candidate.scored.is_ok())
            .note(model)
            .warning(candidate.scored.as_ref().err().map(left_out));
        (candidate, verdict)
    }
}

impl MergeEnd {
    /// The merge of `reference` into `best`, which is kept if it is judged so, and the verdict on it.
    pub(crate) fn end(
        end: StepEnd<(Evaluation, bool)>,
        best: &Scored,
        reference: &Scored,
    ) -> (Self, Verdict) {
        let (evaluation, accepted) = match end {
            StepEnd::LeftOut(limit) => {
                let verdict = Verdict { limit: Some(limit), ..Verdict::default() };
                return (Self::failed(None), verdict.best(best));
            }
            StepEnd::Done(judged) => judged,
            StepEnd::Broken(cause) => (Evaluation::broken(cause), false),
        };
        let merged = evaluation.scored.as_ref().ok();
        let reference_model = reference.solution().source_model().unwrap_or_default().to_owned();
        let record = Merge { reference_model, score: merged.map(|one| one.score().value()), accepted };
        let verdict = Verdict::of(&evaluation.scored, accepted)
            .compared(merged, Some(best))
            .made_from([best, reference])
            .note(record.describe(best, merged, &evaluation.mishaps))
            .remark(merged.and_then(|merged| merged.other_rows(best)))
            .warning_of_other_rows(merged.filter(|_| accepted), Some(best))
            .best(merged.filter(|_| accepted).unwrap_or(best));
        (Self { is_kept: accepted, ..Self::made(Some(record), evaluation) }, verdict)
    }
}

impl StepRecord {
    /// The record of the step that began with `current`, and the verdict on it.
    pub(crate) fn end(end: StepEnd<(Self, Scored)>, outer_step: u32, current: &Scored) -> (Self, Verdict) {
        let (step, best) = match end {
            StepEnd::Done(done) => done,
            StepEnd::LeftOut(limit) => (Self::skipped(String::new(), Some(limit)), current.clone()),
            StepEnd::Broken(cause) => (Self::failed(&cause), current.clone()),
        };
        let step = step.with_outcome(outer_step, &best);
        let verdict = step.verdict(current, &best);
        (step, verdict)
    }

    /// The verdict of the step that began with `current`.
    pub(crate) fn verdict(&self, current: &Scored, best: &Scored) -> Verdict {
        let attempts = self.inner_loop_attempts.iter().filter(|attempt| attempt.was_improvement).count();
        let note = || format!("{attempts} of {} attempts kept", self.inner_loop_attempts.len());
        let kept = best.step() != current.step();
        Verdict {
            score: kept.then(|| best.score().value()),
            kept,
            limit: self.limit,
            note: self.reason.clone().unwrap_or_else(note),
            ..Verdict::default()
        }
        .made_from([current])
        .best(best)
    }
}

impl Attempt {
    /// An attempt whose block cannot be put in place; without an error, it is the block as it was.
    pub(crate) fn unusable(plan: String, code: String, error: Option<BlockError>) -> Self {
        let why = error.map_or_else(|| "the block is unchanged".to_owned(), |error| error.to_string());
        let warning = error.map(|error| format!("the coder's block cannot be put in place: {error}"));
        Self { warning, ..Self::failed(RefinementAttempt::failed(plan, code, why)) }
    }

    /// An attempt whose solution was evaluated, compared with the solution that the step began with.
    pub(crate) fn evaluated(
        plan: String,
        code_block: String,
        evaluation: Evaluation,
        current: &Scored,
    ) -> Self {
        let score = evaluation.scored.as_ref().ok().map(|scored| scored.score().value());
        let diff = diff(current.text(), evaluation.solution.text());
        let effect = AttemptEffect { diff, ..AttemptEffect::of(&evaluation, Some(current)) };
        let (limit, was_improvement) = (evaluation.limit(), false);
        Self::made(RefinementAttempt { plan, score, code_block, was_improvement, limit, effect }, evaluation)
    }

    /// The attempt, which is kept if it replaces `best`, and the verdict on it.
    pub(crate) fn end(
        end: StepEnd<Self>,
        (current, block): (&Scored, &CodeBlock),
        best: &Scored,
        rule: Acceptance,
    ) -> (Self, Verdict) {
        let none = RefinementAttempt::default;
        let mut attempt = match end {
            StepEnd::Done(attempt) => attempt,
            StepEnd::LeftOut(limit) => Self::failed(RefinementAttempt { limit: Some(limit), ..none() }),
            StepEnd::Broken(cause) => {
                Self::failed(RefinementAttempt::failed(String::new(), String::new(), cause))
            }
        };
        attempt.is_kept = attempt.scored.as_ref().is_some_and(|one| one.replaces(best, rule));
        attempt.record.was_improvement = attempt.is_kept;
        let kept = attempt.accepted();
        let verdict = attempt
            .record
            .verdict(current, kept.unwrap_or(best), &part(block))
            .remark(attempt.scored.as_ref().and_then(|scored| scored.other_rows(best)))
            .warning(attempt.warning.clone())
            .warning_of_other_rows(kept, Some(best));
        (attempt, verdict)
    }
}

/// The block in a few words.
fn part(block: &CodeBlock) -> String {
    format!("block `{}`", beginning(block.as_str().trim().lines().next().unwrap_or_default(), 60))
}

impl RefinementAttempt {
    /// The verdict of the attempt at `part` of the solution `current`.
    fn verdict(&self, current: &Scored, best: &Scored, part: &str) -> Verdict {
        let (score, kept, limit) = (self.score, self.was_improvement, self.limit);
        let part = [part].into_iter().chain(self.effect.mishaps.iter().map(String::as_str));
        let (standard_error, part) = (self.effect.standard_error, part.collect::<Vec<_>>().join("; "));
        let verdict = Verdict { score, kept, limit, standard_error, part, ..Verdict::default() };
        let verdict = verdict.made_from([current]).best(best).note(&self.plan);
        verdict.failed_by(&self.effect.failure)
    }
}

impl Round {
    /// A round whose script was evaluated, compared with the best of `solutions`, which it combines.
    pub(crate) fn evaluated(plan: String, evaluation: Evaluation, solutions: &[Scored]) -> Self {
        let warning = match &evaluation.scored {
            Ok(scored) if scored.wrote_submission() => None,
            Ok(_) => Some("the ensemble left no valid ./final/submission.csv".to_owned()),
            Err(failure) => {
                let plan = beginning(&plan, 200);
                Some(format!("the round failed: {} (plan: {plan})", failure.headline()))
            }
        };
        let (solution, limit) = (SolutionScript::from(&evaluation), evaluation.limit());
        let effect = AttemptEffect::of(&evaluation, best_first(solutions).next());
        let record = EnsembleAttempt { plan, score: solution.score, solution, limit, effect };
        Self { warning, ..Self::made(record, evaluation) }
    }

    /// The round, whose ensemble is kept if it replaces the best one, and the verdict on it.
    pub(crate) fn end(
        end: StepEnd<Self>,
        solutions: &[Scored],
        best: Option<&Scored>,
        rule: Acceptance,
    ) -> (Self, Verdict) {
        let none = EnsembleAttempt::without_script;
        let mut round = match end {
            StepEnd::Done(round) => round,
            StepEnd::LeftOut(limit) => {
                Self::failed(EnsembleAttempt { limit: Some(limit), ..none(String::new()) })
            }
            StepEnd::Broken(cause) => Self::failed(none(cause)),
        };
        let replaces = |made: &Scored| best.is_none_or(|best| made.replaces(best, rule));
        round.is_kept = round.scored.as_ref().is_some_and(replaces);
        let kept = round.accepted();
        let verdict = round
            .record
            .verdict(solutions, round.scored.as_ref(), kept.is_some())
            .warning(round.warning.clone())
            .warning_of_other_rows(kept, best.or(solutions.last()));
        let verdict = Verdict { best: kept.or(best).map(Best::from), ..verdict };
        (round, verdict)
    }
}

impl EnsembleAttempt {
    /// The verdict of the round that combined `solutions` and made `made`.
    fn verdict(&self, solutions: &[Scored], made: Option<&Scored>, kept: bool) -> Verdict {
        let verdict = Verdict { score: self.score, kept, limit: self.limit, ..Verdict::default() };
        let verdict = verdict.failed_by(&self.effect.failure);
        let best_input = best_first(solutions).next();
        let other_rows = made.zip(best_input).and_then(|(made, input)| made.other_rows(input));
        verdict
            .compared(made, best_input)
            .made_from(best_first(solutions))
            .note(&self.plan)
            .remark(other_rows)
    }
}
