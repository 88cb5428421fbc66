//! The final answer: the first candidate of an ordered list that holds.
//!
//! Why: a submission script that fails must not cost the answer. What it may change: what is submitted, and what is said of it.

use super::choice::{Chosen, Predictions};
use super::provisional::Provisional;
use super::rehearsal::Rehearsal;
use crate::ctx::Ctx;
use crate::lessons::number;
use crate::result::{KeptModel, SolutionScript};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use mle_star_domain::answers::Contamination;
use mle_star_domain::effects::Importance;
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::trust::{Choice, Probe};

/// A candidate for the final answer.
pub(crate) struct Candidate {
    /// The solution of the search that it comes from.
    pub of: Scored,
    /// Its script, and whether that ran on the original files.
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
    /// Why it is not the first of the candidates; `None` if it is.
    pub why: Option<String>,
    /// The solution that was to be finalized.
    pub chosen: Chosen,
    /// What is known about its first run, if that is of the script of the answer.
    pub rehearsal: Option<Rehearsal>,
    /// The score of what is submitted, on rows whose labels only the program knows.
    pub held_out: Option<Measurement>,
    pub contamination: Option<Contamination>,
    pub leakage_suspected: bool,
    /// How much its score depends on each column, or why that is not known; `None` if nobody asked.
    pub importance: Option<Importance>,
}

impl Final {
    /// The first candidate that holds: the script on the original files, its rehearsal, the answer so far, the validated script.
    /// The first of them says why it does not hold, if so; `before` is the answer so far.
    pub(super) fn new(
        ctx: &Ctx<'_>,
        on_original_files: Result<Candidate, String>,
        rehearsal: Option<Rehearsal>,
        chosen: &Chosen,
        before: Option<&Provisional>,
    ) -> Self {
        // The earlier period has other rows than the test table.
        let rehearsed = rehearsal.as_ref().filter(|_| !ctx.predicts_period());
        let ladder = [
            Some(on_original_files),
            rehearsed.map(|run| Ok(Candidate::rehearsed(&chosen.best, run.submitted()))),
            before.map(|before| Ok(Candidate::so_far(before))),
        ];
        let mut why = None;
        let mut ladder = ladder.into_iter().flatten();
        let answer = ladder.find_map(|candidate| candidate.map_err(|cause| why = Some(cause)).ok());
        let answer = answer.unwrap_or_else(|| Candidate::validated(ctx, &chosen.best));
        let made = Self {
            rehearsal: rehearsal.filter(|_| answer.step == Step::Finalization),
            leakage_suspected: answer.leaks,
            answer,
            why,
            chosen: chosen.clone(),
            held_out: None,
            contamination: None,
            importance: None,
        };
        let Candidate { of, .. } = &made.answer;
        let stands = format!("the solution of {} stands, score {}", of.step(), of.score().value());
        made.fallback().iter().for_each(|words| ctx.warn(format!("{words}: {stands}")));
        made
    }

    /// Why the solution did not write the submission in a run on the original files; `None` if it did.
    pub(crate) fn not_run(&self) -> Option<String> {
        let Candidate { script, submission, .. } = &self.answer;
        self.fallback().filter(|_| !script.is_executable || submission.is_none())
    }

    /// Why the best solution is not submitted, with both validation scores; `None` if it is.
    pub(crate) fn not_best(&self) -> Option<String> {
        let (best, other) = (&self.chosen.best, &self.answer.of);
        let why = self.why.as_ref().filter(|_| self.is_other())?;
        Some(format!(
            "the best solution, that of {} (validation score {}), was not submitted, but that of {} ({}), because {why}",
            best.title(),
            number(best.score().value()),
            other.title(),
            number(other.score().value())
        ))
    }

    /// How the solution was chosen.
    pub(crate) fn choice(&self) -> Choice {
        if !self.is_other() {
            return self.chosen.choice.clone();
        }
        let of = &self.answer.of;
        let rule = "the answer from before finalization, which failed".to_owned();
        Choice { rule, ..Chosen::by_validation(of, std::slice::from_ref(of)).choice }
    }

    /// The probes of the solution.
    pub(crate) fn probes(&self) -> Vec<Probe> {
        if self.is_other() { Vec::new() } else { self.chosen.probes.clone() }
    }

    /// The run that predicted labelled rows that no script has seen, as the answer does, and its script.
    pub(crate) fn predicted_held_out(&self, ctx: &Ctx<'_>) -> Option<(Place, String)> {
        if ctx.knows_test() {
            return self.answer.submission.clone().map(|run| (run, self.answer.script.content.clone()));
        }
        let known = match &self.rehearsal {
            Some(rehearsal) => Some(rehearsal.submitted().clone()),
            None => Predictions::of(&self.answer.of).filter(|_| ctx.holds_out() && self.why.is_some()),
        };
        known.map(|known| (known.run, known.script))
    }

    /// The run that predicted the validation rows as the final solution does, and its script.
    pub(crate) fn predicted_validation(&self) -> (Place, String) {
        (self.answer.of.place().clone(), self.answer.of.text().to_owned())
    }

    fn is_other(&self) -> bool {
        self.answer.of.text() != self.chosen.best.text()
    }

    /// Why the first candidate does not hold, and what is submitted.
    fn fallback(&self) -> Option<String> {
        Some(format!("{}; {}", self.why.as_ref()?, self.answer.what))
    }
}

impl Candidate {
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

    /// The answer from before finalization.
    fn so_far(before: &Provisional) -> Self {
        let Provisional { best, solution, run } = before;
        let made = Self::finalized(best, solution.clone(), run.clone(), best.leaks());
        Self { step: best.step(), what: format!("the submission is that of {run}"), ..made }
    }

    /// The validated script. It has seen the original files if no rows are held out. If it predicted an earlier period, it has no
    /// answer.
    fn validated(ctx: &Ctx<'_>, best: &Scored) -> Self {
        let of_period = ctx.predicts_period();
        let submission = Some(best.place().clone()).filter(|_| best.wrote_submission() && !of_period);
        let is_combined = best.composition().is_some();
        let what = match &submission {
            Some(_) if is_combined => "the submission is what its members predicted".to_owned(),
            Some(_) if ctx.holds_out() => {
                "the submission is what the solution predicted without the held-out rows".to_owned()
            }
            Some(_) => "the submission is that of the solution itself".to_owned(),
            None if of_period => {
                let period = ctx.predicted_period().map(|period| format!(", {}", period.words()));
                let period = period.unwrap_or_default();
                format!("the solution predicted the held-out period{period}, not the test rows")
            }
            None => "the solution wrote no submission".to_owned(),
        };
        let script = SolutionScript::from(best);
        let is_executable = script.is_executable && !ctx.holds_out();
        let made = Self::finalized(
            best,
            SolutionScript { is_executable, ..script },
            best.place().clone(),
            best.leaks(),
        );
        let model = if submission.is_some() { made.model } else { Err("there is no submission".to_owned()) };
        Self { submission, model, step: best.step(), what, ..made }
    }
}
