//! Solutions for further models, and ensemble selection. Neither is part of the paper.
//!
//! Every solution of the run left predictions for the same validation rows, so a combination of them needs no training, and
//! agents only to check its members for leaks: weights are chosen greedily (Caruana et al., *Ensemble selection from libraries of models*, 2004).

use std::sync::Arc;

use super::initial::evaluate_candidate;
use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluate::{combine, leaks};
use crate::journal::Line;
use crate::solution::Scored;
use crate::stop::Stop;
use crate::verdict::{Best, Verdict, best_of_all};
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::Switch;
use mle_star_domain::effects::Selection;
use mle_star_domain::place::Step;

/// The most solutions to choose from.
const MOST_MEMBERS: u64 = 40;
/// The most rows of all of them, which are in memory at once.
const MOST_ROWS: u64 = 20_000_000;

/// The best solution for a model that Phase 1 had no time or no place for. They are tried while there is time, at most as many as
/// Phase 2 has attempts. Only the retriever of the offline agents names such models, because others cost money.
pub(super) async fn further_models(ctx: &Ctx<'_>, models: &[RetrievedModel]) -> Result<Option<Scored>, Stop> {
    let mut best: Option<Scored> = None;
    let config = ctx.config();
    let attempts = config.outer_loop_steps.saturating_mul(config.inner_loop_steps);
    let most = config.num_parallel_solutions.saturating_mul(attempts);
    ctx.rest_on_texts(Line::Extras, &models.iter().map(|one| one.model_name.as_str()).collect::<Vec<_>>())?;
    let wanted = if config.ensemble_selection == Switch::On { most } else { 0 };
    for (index, model) in (0..wanted).zip(models) {
        let ctx = &ctx.at(Step::Extra(index));
        let candidate = evaluate_candidate(ctx, model).await?;
        let limit = candidate.scored.as_ref().err().and_then(|failure| failure.limit);
        let verdict = Verdict::of(&candidate.scored, candidate.scored.is_ok()).note(&model.model_name);
        best = best_of_all(best.into_iter().chain(candidate.scored.clone().ok()), Scored::score);
        ctx.close(Verdict { best: best.as_ref().map(Best::from), ..verdict })?;
        if limit.is_some() {
            break;
        }
    }
    Ok(best)
}

/// The weighted combination of all solutions so far, if it is better than `best`.
pub(super) async fn select(ctx: &Ctx<'_>, best: &Scored) -> Result<Option<Scored>, Stop> {
    let mut members = members(ctx, best);
    if ctx.config().ensemble_selection == Switch::Off || members.len() < 2 {
        return Ok(None);
    }
    let ctx = &ctx.begin(Step::Selection);
    let seconds = ctx.time_to_repeat();
    let mut selection = ctx.select(&members, seconds).await?;
    if let Some(clean) = without_leaks(ctx, &members, &selection.weights).await? {
        if clean.len() < 2 {
            ctx.close(Verdict::default().note("fewer than two solutions without a leak"))?;
            return Ok(None);
        }
        members = clean;
        selection = ctx.corrected().select(&members, seconds).await?;
    }
    let Selection { weights, by, measured, is_better, failure } = selection;
    let Some(measured) = measured else {
        ctx.close(Verdict::default().note(failure))?;
        return Ok(None);
    };
    let chosen: Vec<(Scored, f64)> =
        members.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
    let composition = Composition::new(&chosen, by, ctx.task().id_column.as_deref());
    let note = format!("weighted combination of {} solutions", composition.len());
    let made = combine(ctx, Arc::new(composition), &chosen, by, measured).await?;
    let verdict = Verdict::of(&made, is_better && made.is_ok()).compared(made.as_ref().ok(), Some(best));
    let from = [best].into_iter().chain(chosen.iter().map(|(member, _)| member));
    let made = made.ok().filter(|_| is_better);
    let verdict = verdict.made_from(from).note(note);
    ctx.close(Verdict { best: made.as_ref().map(Best::from), ..verdict })?;
    Ok(made)
}

/// Checks the solutions with weight for leakage, as far as they were not. If some leak or cannot be checked, the solutions
/// that do not leak.
async fn without_leaks(
    ctx: &Ctx<'_>,
    members: &[Scored],
    weights: &[f64],
) -> Result<Option<Vec<Scored>>, Stop> {
    let (mut clean, mut are_all) = (Vec::new(), true);
    for (count, (member, weight)) in (1..).zip(members.iter().zip(weights)) {
        if *weight <= 0.0 && !member.is_checked() {
            continue;
        }
        let why = match leaks(&ctx.of_member(count), member).await? {
            Some(false) => {
                clean.push(member.clone());
                continue;
            }
            Some(true) => "leaks",
            None => "could not be checked for leakage",
        };
        ctx.warn(format!("the solution of {} {why}, so it is not combined with others", member.step()));
        are_all = false;
    }
    Ok((!are_all).then_some(clean))
}

/// The solutions that can be combined, best first.
fn members(ctx: &Ctx<'_>, best: &Scored) -> Vec<Scored> {
    let Some(measured) = best.measured() else { return Vec::new() };
    let mut members = ctx.predicted();
    let has_same_rows =
        |member: &Scored| member.measured().is_some_and(|own| own.rows_digest == measured.rows_digest);
    members.retain(|member| member.composition().is_none() && has_same_rows(member));
    let most = (MOST_ROWS / measured.rows.max(1)).clamp(4, MOST_MEMBERS);
    members.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    members
}
