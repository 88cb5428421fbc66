//! Chooses the best of solutions that validated on different rows, by their scores on common rows.
//!
//! Why: a score on other rows may be better because these rows are easier. Within a path, a solution replaces another only on
//! the rows of both; paths, ensembles and further models are chosen among by their scores. What it may change: which of them
//! is the best so far. Nothing happens if all validated on the same rows.

use crate::ctx::Ctx;
use crate::evaluate::on_common_rows;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};
use mle_star_domain::config::Acceptance;
use mle_star_domain::metric::last_best;
use mle_star_domain::place::Step;

/// The best of these solutions of the phase at this place, each compared with the best of those before it on the rows that
/// both predicted; of equals, the last. `None` if all validated on the same rows, or if their rows are not known.
pub(crate) async fn best_on_like_rows(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Option<Scored>, Stop> {
    let Some((phase, first)) = ctx.place().phase().zip(solutions.first()) else { return Ok(None) };
    let has_others = solutions.iter().any(|one| one.other_rows(first).is_some());
    if !ctx.protocol().is_some_and(|protocol| protocol.like_rows) || !has_others {
        return Ok(None);
    }
    let ctx = &ctx.at(Step::LikeRows(phase), []);
    ctx.step_always(best_of(ctx, solutions), |end| closed(end, solutions)).await
}

async fn best_of(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Option<Scored>, Stop> {
    let mut best: Option<Scored> = None;
    for (count, solution) in (1..).zip(solutions) {
        let Some(before) = &best else {
            best = Some(solution.clone());
            continue;
        };
        let comparison = on_common_rows(&ctx.below(|place| place.member(count)), solution, before).await?;
        let compared =
            comparison.map_or(solution.clone(), |comparison| solution.clone().against(before, comparison));
        if compared.replaces(before, Acceptance::Paper) {
            best = Some(compared);
        }
    }
    Ok(best)
}

fn closed(end: Result<Option<Scored>, String>, solutions: &[Scored]) -> (Option<Scored>, Verdict) {
    let best = match end {
        Ok(best) => best,
        Err(cause) => return (None, Verdict::default().note(cause)),
    };
    let by_score = last_best(solutions.iter().cloned(), Scored::score);
    let is_other = |one: &&Scored| best.as_ref().is_some_and(|best| best.place() != one.place());
    let warning = by_score.as_ref().filter(is_other).zip(best.as_ref()).map(|(other, best)| {
        format!(
            "the solution of {} has the best score, but validated on other rows; compared on like rows, that of {} is better",
            other.title(),
            best.title()
        )
    });
    let note = best.as_ref().map(|best| format!("{} is the best on like rows", best.title()));
    let from = best.iter().chain(solutions.iter().filter(is_other));
    let verdict = Verdict { kept: best.is_some(), best: best.as_ref().map(Best::from), ..Verdict::default() };
    let verdict = verdict.made_from(from).note(note.unwrap_or_default()).warning(warning);
    (best, verdict)
}
