//! The baseline: a constant and one cheap model of the program's own, before the tables are compared and any agent is asked.
//!
//! Why: a run whose limit ends before its first solution would leave nothing, and a score says little without that of what
//! costs nothing. What it may change: the answer so far, and the answer of a run that a limit ends before Phase 1 has a
//! solution.

use mle_star_domain::metric::last_best;
use mle_star_domain::place::{BASELINES, Place, Step};

use super::fallback::Candidate;
use super::provisional::on_original_files;
use crate::ctx::Ctx;
use crate::evaluate::score_once;
use crate::evaluation::{Evaluation, Failure};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use crate::verdict::Verdict;

/// The solutions of the baseline that ran.
#[derive(Default)]
pub(crate) struct Baseline {
    pub solutions: Vec<Scored>,
    /// The answer for the rows of the test table, if scripts of the search predict an earlier period.
    pub provisional: Option<Candidate>,
}

impl Baseline {
    /// The best of them.
    pub fn best(&self) -> Option<Scored> {
        last_best(self.solutions.iter().cloned(), Scored::score)
    }
}

/// Scores the baseline of the run, if it has one. A part that fails is left out.
pub(crate) async fn baseline(ctx: &Ctx<'_>) -> Result<Baseline, Stop> {
    let mut made = Baseline::default();
    let baselines = ctx.run.frozen.protocol.iter().flat_map(|protocol| &protocol.baselines);
    for ((index, script), name) in (0..).zip(baselines).zip(BASELINES) {
        let ctx = &ctx.at(Step::Baseline(index), []);
        let solution = Solution::new(script.clone(), SolutionPhase::Init).of_model(name);
        let best = made.best();
        let scored = ctx.step_always(score_once(ctx, solution), |end| closed(end, best.as_ref())).await?;
        made.solutions.extend(scored);
    }
    if let Some(best) = made.best().filter(|best| ctx.holdout().is_period() && best.wrote_submission()) {
        let ctx = &ctx.at(best.step(), []).below(Place::original);
        made.provisional = on_original_files(ctx, &best).await?.ok();
    }
    Ok(made)
}

fn closed(end: Result<Evaluation, String>, best: Option<&Scored>) -> (Option<Scored>, Verdict) {
    let scored = end.map_or_else(|cause| Err(Failure::new(cause)), |evaluation| evaluation.scored);
    let beats = |scored: &Scored| best.is_none_or(|best| scored.score().beats(best.score()));
    let kept = scored.as_ref().is_ok_and(beats);
    let note = scored.as_ref().err().map(|failure| failure.headline().to_owned());
    let verdict = Verdict::of(&scored, kept).note(note.unwrap_or_default());
    let best = scored.as_ref().ok().filter(|_| kept).or(best).cloned();
    let verdict = best.iter().fold(verdict, Verdict::best);
    (scored.ok(), verdict)
}
