//! Provisional answers, if scripts of the search predict an earlier period: at the end of a phase, the best script runs
//! once on the original files.
//!
//! Why: then no script of the search predicts the rows of the test table, so a run that ends early would leave no
//! predictions, and a finalization that fails would have nothing to fall back on. What it may change: what lies in
//! `final/` while the run goes on, and the answer if finalization fails.

use super::fallback::Candidate;
use crate::ctx::Ctx;
use crate::evaluate::run_once;
use crate::evaluation::Script;
use crate::library::Library;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::time_plan::TimePlan;
use crate::verdict::Verdict;
use mle_star_domain::effects::Purpose;
use mle_star_domain::place::Step;

/// Runs the best solution of the phase at this place on the original files, if there is time and its script is another one
/// than that of the answer `before`. Without an answer before, a quicker solution of the `library`, checked for leaks or not,
/// answers where there is no time for the best. Returns the latest answer.
pub(crate) async fn answer_so_far(
    ctx: &Ctx<'_>,
    best: &Scored,
    library: &Library,
    before: Option<Candidate>,
) -> Result<Option<Candidate>, Stop> {
    let is_same = before.as_ref().is_some_and(|known| known.solution.text() == best.text());
    let Some(phase) = ctx.place().phase().filter(|_| ctx.holdout().is_period() && !is_same) else {
        return Ok(before);
    };
    let is_baseline = |known: &Candidate| matches!(known.solution.step(), Step::Baseline(_));
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
async fn answer(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Result<Candidate, String>, Stop> {
    let seconds = solutions.first().map_or(0.0, |best| best.facts().seconds);
    let allowed = TimePlan::for_provisional(ctx, seconds).await?.allowed;
    let Some(best) = solutions.iter().find(|one| one.facts().seconds <= allowed) else {
        return Ok(Err(format!(
            "the script takes {seconds:.1} s, and the answer so far may take {allowed:.1} s"
        )));
    };
    on_original_files(ctx, best).await
}

/// The answer of a solution for the rows of the test table, or why there is none.
pub(super) async fn on_original_files(
    ctx: &Ctx<'_>,
    best: &Scored,
) -> Result<Result<Candidate, String>, Stop> {
    let at = &ctx.on_all_rows(Some(best.facts().seconds));
    let execution = run_once(at, Script::of(best), Purpose::Submission).await?;
    let made = Candidate::from_run(ctx, best, execution).map(Candidate::provisional);
    let run = made.iter().filter_map(|made| made.submission.as_ref());
    run.for_each(|run| ctx.history().hold_submission(best, run));
    Ok(made.map_err(|failure| failure.headline().to_owned()))
}

fn closed(end: Result<Result<Candidate, String>, String>, best: &Scored) -> (Option<Candidate>, Verdict) {
    let (made, note) = match end.flatten() {
        Ok(made) => {
            let note = format!("{} on the original files", made.solution.step());
            (Some(made), note)
        }
        Err(why) => (None, why),
    };
    let verdict = Verdict { kept: made.is_some(), ..Verdict::default() };
    let best = made.as_ref().map_or(best, |made| &made.solution).clone();
    (made, verdict.made_from([&best]).note(note))
}
