//! Chooses the final answer: the first valid one of several fallback candidates.
//!
//! Why: a submission script that fails must not cost the answer. What it may change: the submission, its script and what the
//! result says of both.

use super::choice::{Chosen, Predictions};
use super::holdout_run::HoldoutRun;
use super::model;
use crate::ctx::Ctx;
use crate::evaluate::Execution;
use crate::evaluation::Failure;
use crate::event::Event;
use crate::lessons::number;
use crate::result::{KeptModel, SolutionScript};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::verdict::Best;
use mle_star_domain::answers::Contamination;
use mle_star_domain::measure::Measurement;
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::question::Importance;

/// A candidate for the final answer.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// The solution of the search that it comes from.
    pub solution: Scored,
    /// The script of the candidate, and whether that ran on the original files.
    pub script: SolutionScript,
    /// The run that predicted the rows of the test table; `None` if none did.
    pub submission: Option<Place>,
    /// The run whose script may have kept its model, or why there is none.
    pub model: Result<KeptModel, String>,
    /// The step it comes from.
    pub step: Step,
    /// Whether it has a leak that could not be corrected.
    pub leaks: bool,
    /// What is submitted, in a few words.
    description: String,
}

/// The final answer, with what is known about it.
pub(crate) struct FinalAnswer {
    pub candidate: Candidate,
    /// Whether the first candidate is not valid.
    pub is_fallback: bool,
    /// Why the script did not write the submission in a run on the original files; `None` if it did.
    pub not_run: Option<String>,
    /// Why the best solution is not submitted, with both validation scores; `None` if it is.
    pub not_best: Option<String>,
    /// How its solution was chosen.
    pub chosen: Chosen,
    /// What is known about the first run of the answer's script.
    pub holdout_run: Option<HoldoutRun>,
    /// The score of what is submitted, on rows whose labels only the program knows.
    pub held_out: Option<Measurement>,
    pub contamination: Option<Contamination>,
    /// How much its score depends on each column, or why that is not known; `None` if nobody asked.
    pub importance: Option<Importance>,
}

impl FinalAnswer {
    /// The first valid candidate: the script on the original files, its run without held-out labels, the answer so far, the
    /// validated script. The error says why the first is not valid; `before` is the answer so far.
    pub(super) fn new(
        ctx: &Ctx<'_>,
        on_original_files: Result<Candidate, String>,
        holdout: Option<HoldoutRun>,
        chosen: &Chosen,
        before: Option<&Candidate>,
    ) -> Self {
        let best = &chosen.best;
        // The earlier period has other rows than the test table.
        let holdout_run = holdout.as_ref().filter(|_| !ctx.holdout().is_period());
        let from_holdout_run = holdout_run.map(|run| Candidate::from_holdout_run(best, &run.predictions));
        let mut fallback_reason = None;
        let first = on_original_files.map_err(|cause| fallback_reason = Some(cause)).ok();
        let mut valid = [first, from_holdout_run, before.cloned()].into_iter().flatten();
        let candidate = valid.next().unwrap_or_else(|| Candidate::validated(ctx, best));
        let said = fallback_reason.as_ref().map(|why| format!("{why}; {}", candidate.description));
        let submitted = &candidate.solution;
        let (step, score) = (submitted.step(), submitted.score().value());
        said.iter()
            .for_each(|said| ctx.warn(format!("{said}: the solution of {step} stands, score {score}")));
        let is_other = submitted.text() != best.text();
        Self {
            is_fallback: fallback_reason.is_some(),
            not_run: said.filter(|_| !candidate.script.is_executable || candidate.submission.is_none()),
            not_best: fallback_reason.filter(|_| is_other).map(|why| not_best(best, submitted, &why)),
            chosen: if is_other { chosen.instead(submitted) } else { chosen.clone() },
            holdout_run: holdout.filter(|_| candidate.step == Step::Finalization),
            candidate,
            held_out: None,
            contamination: None,
            importance: None,
        }
    }

    /// The run that predicted labelled rows that no script has seen, as the answer does, and its script.
    pub(crate) fn predicted_held_out(&self, ctx: &Ctx<'_>) -> Option<(Place, String)> {
        if ctx.holdout().is_test() {
            return self.candidate.submission.clone().map(|run| (run, self.candidate.script.content.clone()));
        }
        let known = match &self.holdout_run {
            Some(holdout) => Some(holdout.predictions.clone()),
            None => Predictions::of(&self.candidate.solution)
                .filter(|_| ctx.holdout().is_on() && self.is_fallback),
        };
        known.map(|known| (known.run, known.script))
    }
}

fn not_best(best: &Scored, submitted: &Scored, why: &str) -> String {
    format!(
        "the best solution, that of {} (validation score {}), was not submitted, but that of {} ({}), because {why}",
        best.title(),
        number(best.score().value()),
        submitted.title(),
        number(submitted.score().value())
    )
}

impl Candidate {
    /// The candidate as the run's answer so far, if it has a submission.
    pub(super) fn answer(&self) -> Option<Event> {
        let run = self.submission.clone()?;
        let solution = Best { step: self.step, run, score: self.solution.score().value() };
        Some(Event::Answer { submission: Some(solution.clone()), solution })
    }

    /// A script that ran on the original files in finalization, or why it did not.
    pub(super) fn from_run(ctx: &Ctx<'_>, best: &Scored, execution: Execution) -> Result<Self, Failure> {
        let Execution { solution: script, leaks, result, .. } = execution;
        let ran = result?;
        let score = ran.outcome.score.and_then(|value| ctx.score(value)).map(Score::value);
        let created_at = ran.at.to_string();
        let failed = SolutionScript::failed(&script);
        let script = SolutionScript { score, is_executable: true, created_at, ..failed };
        let mut made = Self::finalized(best, script, ran.place, leaks);
        if ran.outcome.is_error() {
            made.model = Err(model::failure_text(&ran.outcome.headline()));
        }
        Ok(made)
    }

    /// A script on the original files.
    pub(super) fn finalized(solution: &Scored, script: SolutionScript, run: Place, leaks: bool) -> Self {
        let model = Ok(KeptModel { run: run.clone(), script: script.content.clone() });
        let (submission, step, description) = (Some(run), Step::Finalization, String::new());
        Self { solution: solution.clone(), script, submission, model, step, leaks, description }
    }

    /// A script with what it, or the members that it combines, predicted without the held-out rows' labels.
    fn from_holdout_run(best: &Scored, predicted: &Predictions) -> Self {
        let Predictions { script, run, at, leaks } = predicted;
        let is_combined = best.composition().is_some() && run == best.place();
        let failed = SolutionScript::failed(&Solution::new(script.clone(), SolutionPhase::Final));
        let created_at = if is_combined { String::new() } else { at.to_string() };
        let script = SolutionScript { created_at, ..failed };
        let whose = if is_combined { "its members" } else { "it" };
        let description = format!("the submission is what {whose} predicted without the held-out rows");
        Self { description, ..Self::finalized(best, script, run.clone(), *leaks) }
    }

    /// The answer from before finalization: a solution that ran on the original files at the end of a phase.
    pub(super) fn provisional(self) -> Self {
        let description = self.submission.as_ref().map(|run| format!("the submission is that of {run}"));
        Self { step: self.solution.step(), description: description.unwrap_or_default(), ..self }
    }

    /// The validated script. It has seen the original files if no rows are held out. If it predicted an earlier period, it has no
    /// answer.
    fn validated(ctx: &Ctx<'_>, best: &Scored) -> Self {
        let of_period = ctx.holdout().is_period();
        let is_valid = best.wrote_submission() && !of_period;
        let description = match best.composition() {
            Some(_) if is_valid => "the submission is what its members predicted",
            None if is_valid && ctx.holdout().is_on() => {
                "the submission is what the solution predicted without the held-out rows"
            }
            None if is_valid => "the submission is that of the solution itself",
            _ if of_period => "the solution predicted the held-out period, not the test rows",
            _ => "the solution wrote no submission",
        };
        let mut script = SolutionScript::from(best);
        script.is_executable &= !ctx.holdout().is_on();
        let made = Self::finalized(best, script, best.place().clone(), best.leaks());
        let made = Self { step: best.step(), description: description.to_owned(), ..made };
        let none = "there is no submission".to_owned();
        if is_valid { made } else { Self { submission: None, model: Err(none), ..made } }
    }
}
