//! Solutions for further models, repetitions of the best solutions, and ensemble selection. None is part of the paper.
//!
//! Every solution of the run left predictions for the same validation rows, so a combination of them needs no training, and
//! agents only to check its members for leaks: weights are chosen greedily (Caruana et al., *Ensemble selection from libraries of models*, 2004).

use std::collections::HashMap;
use std::sync::Arc;

use super::initial::evaluate_candidate;
use crate::agents;
use crate::answers::RetrievedModel;
use crate::composition::Composition;
use crate::config::{AgentsChoice, Switch};
use crate::ctx::Ctx;
use crate::effects::Selection;
use crate::evaluate::{combine, evaluate, leaks};
use crate::evaluation::Failure;
use crate::place::Step;
use crate::solution::{Scored, SolutionPhase};
use crate::stop::Stop;
use crate::verdict::{Best, Verdict, best_of_all};

/// The number of solutions that are repeated.
const REPEATED: usize = 8;
/// At most as many of them have the same model.
const OF_MODEL: usize = 2;
/// How often each is.
const REPETITIONS: u32 = 4;
/// What a repetition with more folds takes, relative to the solution.
const LONGER: f64 = 2.0;
/// The most solutions to choose from.
const MOST_MEMBERS: u64 = 40;
/// The most rows of all of them, which are in memory at once.
const MOST_ROWS: u64 = 20_000_000;

/// The best solution for a model that Phase 1 had no time or no place for. They are tried while there is time, at most as many as
/// Phase 2 has attempts. Only the retriever of the offline agents names such models, because others cost money.
pub(super) async fn further_models(ctx: &Ctx<'_>, models: &[RetrievedModel]) -> Result<Option<Scored>, Stop> {
    let mut best: Option<Scored> = None;
    for (index, model) in (0..most_models(ctx)).zip(models) {
        let ctx = &ctx.at(Step::Extra(index));
        let candidate = evaluate_candidate(ctx, model).await?;
        if !close(ctx, candidate.scored, &mut best, &model.model_name)? {
            break;
        }
    }
    Ok(best)
}

/// The best repetition of the best solutions. They have other seeds and more folds, so they make other errors and their
/// combinations are better. They are made while there is time, after these further models, and only by offline agents,
/// because others cost money.
pub(super) async fn repetitions(
    ctx: &Ctx<'_>,
    models: &[RetrievedModel],
    like: &Scored,
) -> Result<Option<Scored>, Stop> {
    let mut solutions = repeatable(ctx, like);
    let mut index = most_models(ctx).min(u32::try_from(models.len()).unwrap_or(u32::MAX));
    let mut best: Option<Scored> = None;
    for number in 1..=REPETITIONS {
        let mut again = Vec::new();
        for (solution, latest) in solutions {
            let ctx = &ctx.at(Step::Extra(index));
            index += 1;
            ctx.changes(&solution, LONGER);
            let repeated = match ctx.skip(ctx.config().num_retrieved_models)? {
                Some(limit) => Err(Failure::refused(limit)),
                None => evaluate(ctx, agents::repeat(ctx, &solution, number).await?, None).await?.scored,
            };
            let score = repeated.as_ref().ok().map(|repeated| repeated.score().value());
            let note = format!("{}, repetition {number}", solution.step());
            if !close(ctx, repeated, &mut best, &note)? {
                return Ok(best);
            }
            // Without chance in it, a solution is the same with any seed.
            again.extend(score.filter(|score| *score != latest).map(|score| (solution, score)));
        }
        solutions = again;
    }
    Ok(best)
}

/// The best solutions for repetitions, with their scores: few of the same model, so that they differ.
fn repeatable(ctx: &Ctx<'_>, like: &Scored) -> Vec<(Scored, f64)> {
    if ctx.config().agents != AgentsChoice::Offline || most_models(ctx) == 0 {
        return Vec::new();
    }
    let mut solutions = members(ctx, like);
    let mut of_model = HashMap::<Option<String>, usize>::new();
    solutions.retain(|solution| {
        let count = of_model.entry(solution.solution().source_model().map(str::to_owned)).or_default();
        *count += 1;
        solution.solution().phase() != SolutionPhase::Ensemble && *count <= OF_MODEL
    });
    solutions.truncate(REPEATED);
    solutions.into_iter().map(|solution| (solution.clone(), solution.score().value())).collect()
}

fn most_models(ctx: &Ctx<'_>) -> u32 {
    let config = ctx.config();
    let attempts = config.outer_loop_steps.saturating_mul(config.inner_loop_steps);
    let most = config.num_parallel_solutions.saturating_mul(attempts);
    if config.ensemble_selection == Switch::On { most } else { 0 }
}

/// Closes the step of a further solution. Returns whether there may be time for another one.
fn close(
    ctx: &Ctx<'_>,
    made: Result<Scored, Failure>,
    best: &mut Option<Scored>,
    note: &str,
) -> Result<bool, Stop> {
    let limit = made.as_ref().err().and_then(|failure| failure.limit);
    let verdict = Verdict::of(&made, made.is_ok()).note(note);
    *best = best_of_all(best.take().into_iter().chain(made.ok()), Scored::score);
    ctx.close(Verdict { best: best.as_ref().map(Best::from), ..verdict })?;
    Ok(limit.is_none())
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
    let mut members = ctx.combinable(measured);
    members.retain(|member| member.composition().is_none());
    let most = (MOST_ROWS / measured.rows.max(1)).clamp(4, MOST_MEMBERS);
    members.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    members
}
