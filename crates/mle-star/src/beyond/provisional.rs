//! The answer so far, where scripts of the search predict an earlier period: at the end of a phase, the best script runs
//! once on the original files.
//!
//! Why: then no script of the search predicts the rows of the test table, so a run that ends early would leave no predictions,
//! and a finalization that fails would have nothing to fall back on. What it may change: what lies in `final/` while the run
//! goes on, and the answer if finalization fails.

use crate::ctx::Ctx;
use crate::evaluate::{Execution, attempt};
use crate::evaluation::Script;
use crate::library::Library;
use crate::result::SolutionScript;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::time_plan::TimePlan;
use crate::verdict::Verdict;
use mle_star_domain::effects::Purpose;
use mle_star_domain::place::{Place, Step};

/// An answer for the rows of the test table.
#[derive(Clone)]
pub(crate) struct Provisional {
    /// The solution of the search.
    pub best: Scored,
    /// Its script, as it ran on the original files.
    pub solution: SolutionScript,
    /// That run, which wrote the submission.
    pub run: Place,
}

/// Runs the best solution of the phase at this place on the original files, if there is time and its script is another one
/// than that of the answer `before`. Without an answer before, a quicker solution of the `library`, checked for leaks or not,
/// answers where there is no time for the best. Returns the latest answer.
pub(crate) async fn answer_so_far(
    ctx: &Ctx<'_>,
    best: &Scored,
    library: &Library,
    before: Option<Provisional>,
) -> Result<Option<Provisional>, Stop> {
    let is_same = before.as_ref().is_some_and(|known| known.best.text() == best.text());
    let Some(phase) = ctx.place().phase().filter(|_| ctx.holdout().is_period() && !is_same) else {
        return Ok(before);
    };
    let is_baseline = |known: &Provisional| matches!(known.best.step(), Step::Baseline(_));
    let mut others = if before.as_ref().is_none_or(is_baseline) { library.best_first() } else { Vec::new() };
    others.retain(|one| !one.leaks());
    // A script that predicts no test rows cannot answer before an agent has made a submission script of it.
    let solutions = [best].into_iter().chain(&others).filter(|one| one.wrote_submission());
    let solutions: Vec<Scored> = solutions.cloned().collect();
    let Some(first) = solutions.first() else { return Ok(before) };
    let ctx = &ctx.at(Step::Provisional(phase), []);
    let made = ctx.step_always(answer(ctx, &solutions), |end| closed(end, first));
    Ok(ctx.isolated(made).await?.ok().flatten().or(before))
}

/// The answer of the first of these solutions that there is time for; `Err` says why there is none.
async fn answer(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Result<Provisional, String>, Stop> {
    let seconds = solutions.first().map_or(0.0, |best| best.facts().seconds);
    let allowed = TimePlan::for_provisional(ctx, seconds).await?.allowed;
    let Some(best) = solutions.iter().find(|one| one.facts().seconds <= allowed) else {
        return Ok(Err(format!(
            "the script takes {seconds:.1} s, and the answer so far may take {allowed:.1} s"
        )));
    };
    let ctx = &ctx.on_all_rows(Some(best.facts().seconds));
    let Execution { solution, result, .. } = attempt(ctx, Script::of(best), Purpose::Submission).await?;
    match result {
        Ok(ran) => {
            ctx.history().hold_submission(best, &ran.place);
            let script = SolutionScript::ran(&solution, &ran.outcome, ran.at, ctx.task().metric_direction);
            Ok(Ok(Provisional { best: best.clone(), solution: script, run: ran.place }))
        }
        Err(failure) => Ok(Err(failure.headline().to_owned())),
    }
}

fn closed(end: Result<Result<Provisional, String>, String>, best: &Scored) -> (Option<Provisional>, Verdict) {
    let (made, note) = match end.flatten() {
        Ok(made) => {
            let note = format!("{} on the original files", made.best.step());
            (Some(made), note)
        }
        Err(why) => (None, why),
    };
    let verdict = Verdict { kept: made.is_some(), ..Verdict::default() };
    let best = made.as_ref().map_or(best, |made| &made.best).clone();
    (made, verdict.made_from([&best]).note(note))
}
