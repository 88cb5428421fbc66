//! The outcome of finalization, which the last stages add to.

use super::choice::Chosen;
use super::rehearsal::Rehearsal;
use crate::ctx::Ctx;
use crate::result::{KeptModel, SolutionScript};
use crate::scored::Scored;
use mle_star_domain::answers::Contamination;
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::protocol::HoldoutPart;
use mle_star_domain::question::{Importance, Kept};
use mle_star_domain::trust::{Choice, Probe};

/// The outcome of finalization.
pub(crate) struct Last {
    /// The submission script, or the validation script if it could not be turned into a submission.
    pub solution: SolutionScript,
    /// The place of the run that wrote a valid submission.
    pub submission: Option<Place>,
    /// The step the final solution comes from.
    pub step: Step,
    pub contamination: Option<Contamination>,
    pub leakage_suspected: bool,
    /// Why the solution did not write the submission in a run on the original files; `None` if it did.
    pub not_run: Option<String>,
    /// Whether it succeeded without a fallback.
    pub completed: bool,
    /// The solution of the search that it was made from.
    pub chosen: Scored,
    pub choice: Choice,
    pub probes: Vec<Probe>,
    /// What is known about the held-out rows.
    pub rehearsal: Option<Rehearsal>,
    /// How its predictions for the test rows differ from those without the held-out rows, in one sentence; empty if they were
    /// not compared.
    pub refit: String,
    /// The part of the held-out rows that took part in no decision.
    pub reports: HoldoutPart,
    /// The score of the submission without a rehearsal: on the test table, if its labels are known to the program, or on the
    /// held-out rows, if finalization failed.
    pub scored: Option<Measurement>,
    /// How much its score depends on each column, or why that is not known; `None` if nobody asked.
    pub importance: Option<Importance>,
    /// The run whose script may have kept its model, or why there is none.
    pub model: Result<KeptModel, String>,
    /// Why another solution than the best one is submitted, with both validation scores, in one sentence; `None` if it is the
    /// best one.
    pub not_best: Option<String>,
}

impl Last {
    /// The run that predicted the held-out rows as the final solution does.
    pub(crate) fn predicted_held_out(&self, ctx: &Ctx<'_>) -> Option<Kept> {
        if self.not_run.is_some() || !self.completed {
            return None;
        }
        if ctx.holdout().is_on() {
            let rehearsal = self.rehearsal.as_ref()?;
            let predicted = rehearsal.instead.as_ref().unwrap_or(&rehearsal.predictions);
            return Some(Kept::new(&predicted.run, &predicted.script));
        }
        let run = self.submission.as_ref().filter(|_| ctx.holdout().is_test())?;
        Some(Kept::new(run, &self.solution.content))
    }

    /// With what is known about the choice of its solution.
    pub(super) fn chosen_by(self, chosen: Chosen) -> Self {
        let Chosen { best, choice, probes, reports, .. } = chosen;
        if self.chosen.text() == best.text() {
            return Self { choice, probes, reports, ..self };
        }
        let rule = "the answer from before finalization, which failed".to_owned();
        Self { choice: Choice { rule, ..self.choice }, reports, ..self }
    }
}
