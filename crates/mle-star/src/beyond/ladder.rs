//! The final answer: the first candidate of an ordered list that holds.
//!
//! Why: a submission script that fails must not cost the answer. What it may change: what is submitted, and what is said of it.

use super::choice::{Chosen, Predictions};
use super::holdout_run::HoldoutRun;
use super::model;
use crate::ctx::Ctx;
use crate::evaluate::Execution;
use crate::evaluation::Failure;
use crate::lessons::number;
use crate::result::{KeptModel, SolutionScript};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use mle_star_domain::answers::Contamination;
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::question::Importance;

/// A candidate for the final answer.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// The solution of the search that it comes from.
    pub of: Scored,
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
    what: String,
}

/// The final answer, with what is known about it.
pub(crate) struct Final {
    pub answer: Candidate,
    /// Why the first candidate does not hold; `None` if it is the answer.
    pub why: Option<String>,
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

impl Final {
    /// The first candidate that holds: the script on the original files, its run without held-out labels, the answer so far, the validated script.
    /// The first of them says why it does not hold, if so; `before` is the answer so far.
    pub(super) fn new(
        ctx: &Ctx<'_>,
        on_original_files: Result<Candidate, String>,
        holdout: Option<HoldoutRun>,
        chosen: &Chosen,
        before: Option<&Candidate>,
    ) -> Self {
        let best = &chosen.best;
        // The earlier period has other rows than the test table.
        let rehearsed = holdout.as_ref().filter(|_| !ctx.holdout().is_period());
        let rehearsed = rehearsed.map(|run| Candidate::rehearsed(best, &run.predictions));
        let mut why = None;
        let ladder = [on_original_files.map_err(|cause| why = Some(cause)).ok(), rehearsed, before.cloned()];
        let mut holding = ladder.into_iter().flatten();
        let answer = holding.next().unwrap_or_else(|| Candidate::validated(ctx, best));
        let said = why.as_ref().map(|why| format!("{why}; {}", answer.what));
        let (step, score) = (answer.of.step(), answer.of.score().value());
        said.iter()
            .for_each(|said| ctx.warn(format!("{said}: the solution of {step} stands, score {score}")));
        let is_other = answer.of.text() != best.text();
        Self {
            not_run: said.filter(|_| !answer.script.is_executable || answer.submission.is_none()),
            not_best: why.as_ref().filter(|_| is_other).map(|why| not_best(best, &answer.of, why)),
            chosen: if is_other { chosen.instead(&answer.of) } else { chosen.clone() },
            holdout_run: holdout.filter(|_| answer.step == Step::Finalization),
            answer,
            why,
            held_out: None,
            contamination: None,
            importance: None,
        }
    }

    /// The run that predicted labelled rows that no script has seen, as the answer does, and its script.
    pub(crate) fn predicted_held_out(&self, ctx: &Ctx<'_>) -> Option<(Place, String)> {
        if ctx.holdout().is_test() {
            return self.answer.submission.clone().map(|run| (run, self.answer.script.content.clone()));
        }
        let known = match &self.holdout_run {
            Some(holdout) => Some(holdout.predictions.clone()),
            None => Predictions::of(&self.answer.of).filter(|_| ctx.holdout().is_on() && self.why.is_some()),
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
    /// A script that ran on the original files in finalization, or why it did not.
    pub(super) fn ran(ctx: &Ctx<'_>, of: &Scored, execution: Execution) -> Result<Self, Failure> {
        let Execution { solution, leaks, result, .. } = execution;
        let ran = result?;
        let script = SolutionScript::ran(&solution, &ran.outcome, ran.at, ctx.task().metric_direction);
        let mut made = Self::finalized(of, script, ran.place, leaks);
        if ran.outcome.is_error() {
            made.model = Err(model::failure_text(&ran.outcome.headline()));
        }
        Ok(made)
    }

    /// A script on the original files.
    pub(super) fn finalized(of: &Scored, script: SolutionScript, run: Place, leaks: bool) -> Self {
        let model = Ok(KeptModel { run: run.clone(), script: script.content.clone() });
        let (submission, step, what) = (Some(run), Step::Finalization, String::new());
        Self { of: of.clone(), script, submission, model, step, leaks, what }
    }

    /// A script with what it, or the members that it combines, predicted without the held-out rows' labels.
    fn rehearsed(of: &Scored, predicted: &Predictions) -> Self {
        let Predictions { script, run, at, leaks } = predicted;
        let is_combined = of.composition().is_some() && run == of.place();
        let script = SolutionScript::failed(&Solution::new(script.clone(), SolutionPhase::Final));
        let created_at = if is_combined { String::new() } else { at.to_string() };
        let whose = if is_combined { "its members" } else { "it" };
        let what = format!("the submission is what {whose} predicted without the held-out rows");
        Self { what, ..Self::finalized(of, SolutionScript { created_at, ..script }, run.clone(), *leaks) }
    }

    /// The answer from before finalization: a solution that ran on the original files at the end of a phase.
    pub(super) fn so_far(self) -> Self {
        let what = self.submission.as_ref().map(|run| format!("the submission is that of {run}"));
        Self { step: self.of.step(), what: what.unwrap_or_default(), ..self }
    }

    /// The validated script. It has seen the original files if no rows are held out. If it predicted an earlier period, it has no
    /// answer.
    fn validated(ctx: &Ctx<'_>, best: &Scored) -> Self {
        let of_period = ctx.holdout().is_period();
        let holds = best.wrote_submission() && !of_period;
        let what = match best.composition() {
            Some(_) if holds => "the submission is what its members predicted",
            None if holds && ctx.holdout().is_on() => {
                "the submission is what the solution predicted without the held-out rows"
            }
            None if holds => "the submission is that of the solution itself",
            _ if of_period => "the solution predicted the held-out period, not the test rows",
            _ => "the solution wrote no submission",
        };
        let mut script = SolutionScript::from(best);
        script.is_executable &= !ctx.holdout().is_on();
        let made = Self::finalized(best, script, best.place().clone(), best.leaks());
        let made = Self { step: best.step(), what: what.to_owned(), ..made };
        let none = "there is no submission".to_owned();
        if holds { made } else { Self { submission: None, model: Err(none), ..made } }
    }
}
