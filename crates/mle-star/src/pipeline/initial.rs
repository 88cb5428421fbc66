//! Algorithm 1: the initial solution.

use futures_util::future::try_join_all;

use super::retrieve::{Retrieved, retrieve};
use crate::agents;
use crate::answers::RetrievedModel;
use crate::ctx::Ctx;
use crate::evaluate::{Evaluation, evaluate, evaluate_checked, without_leakage};
use crate::metric::sort_best_first;
use crate::result::Merge;
use crate::solution::{Scored, Solution, SolutionPhase};
use crate::stop::Stop;

/// What Phase 1 found.
pub(super) struct Initial {
    pub retrieved: Retrieved,
    pub candidates: Vec<Evaluation>,
    pub merges: Vec<Merge>,
    /// s_0.
    pub best: Scored,
    pub leakage_suspected: bool,
}

/// Algorithm 1, then the data check and the last leakage check of the paper's section 3.4.
pub(super) async fn initial_solution(ctx: &Ctx<'_>) -> Result<Initial, Stop> {
    let retrieved = retrieve(ctx).await?; // line 1
    let candidates = evaluate_candidates(ctx, &retrieved.models).await?; // 2-5
    let mut ranked: Vec<Scored> = candidates.iter().filter_map(|one| one.scored.clone().ok()).collect();
    sort_best_first(&mut ranked, Scored::score); // 7
    let mut ranked = ranked.into_iter();
    let Some(mut best) = ranked.next() else { return Err(no_candidate(ctx, candidates.len())?) }; // 6

    let mut merges = Vec::new();
    for (index, reference) in ranked.enumerate() {
        let ctx = &ctx.at(format_args!("merge-{}", index + 1)); // 8
        if ctx.skip(ctx.config().num_retrieved_models - 1)?.is_some() {
            break;
        }
        let merged = agents::merger(ctx, best.solution(), reference.solution()).await?; // 9
        let merged = evaluate(ctx, merged).await?.scored; // 10
        let accepted = merged.as_ref().is_ok_and(|merged| merged.score().beats_or_ties(best.score())); // 11
        merges.push(merge_record(ctx, &reference, merged.as_ref().ok(), accepted));
        match merged {
            Ok(merged) if accepted => {
                ctx.descends(&merged, &[&best, &reference]);
                best = merged; // 12-13
            }
            _ => break, // 14-16
        }
    }
    let best = use_all_data(&ctx.at("data"), best).await?;
    let (best, leakage_suspected) = check_once_more(&ctx.at("final"), best).await?;
    Ok(Initial { retrieved, candidates, merges, best, leakage_suspected }) // 18
}

/// Lines 2-5, for all models at once: they do not depend on one another.
async fn evaluate_candidates(ctx: &Ctx<'_>, models: &[RetrievedModel]) -> Result<Vec<Evaluation>, Stop> {
    let contexts: Vec<Ctx<'_>> = (0..=models.len()).map(|i| ctx.at(format_args!("candidate-{i}"))).collect();
    let mut candidates =
        try_join_all(contexts.iter().zip(models).map(|(ctx, model)| evaluate_candidate(ctx, model))).await?;
    if let (Some(baseline), Some(ctx)) = (&ctx.task().baseline_solution, contexts.last()) {
        let mut solution = Solution::new(baseline.clone(), SolutionPhase::Init);
        solution.source_model = Some("baseline".to_owned());
        candidates.push(report_candidate(ctx, evaluate(ctx, solution).await?));
    }
    Ok(candidates)
}

async fn evaluate_candidate(ctx: &Ctx<'_>, model: &RetrievedModel) -> Result<Evaluation, Stop> {
    if let Some(limit) = ctx.skip(ctx.config().num_retrieved_models)? {
        let mut solution = Solution::new(String::new(), SolutionPhase::Init);
        solution.source_model = Some(model.model_name.clone());
        return Ok(Evaluation::refused(solution, limit));
    }
    let solution = agents::init(ctx, model).await?; // 3
    Ok(report_candidate(ctx, evaluate(ctx, solution).await?)) // 4
}

/// `A_data`, once: its revision is taken even when it scores worse, if it runs at all.
async fn use_all_data(ctx: &Ctx<'_>, best: Scored) -> Result<Scored, Stop> {
    let Some(revised) = agents::data(ctx, best.solution()).await? else { return Ok(best) };
    let Evaluation { scored, .. } = evaluate(ctx, revised).await?;
    ctx.step_ended(scored.as_ref().ok().map(Scored::score), scored.is_ok(), "data left unused is built in");
    match scored {
        Ok(revised) => {
            ctx.descends(&revised, &[&best]);
            Ok(revised)
        }
        Err(failure) => {
            ctx.warn(format!("the revision that uses more data does not run: {}", failure.headline()));
            Ok(best)
        }
    }
}

/// The leakage check of s_0 itself. `true` when a leak is suspected that could not be removed.
async fn check_once_more(ctx: &Ctx<'_>, best: Scored) -> Result<(Scored, bool), Stop> {
    let checked = without_leakage(ctx, best.solution().clone()).await?;
    let leaks = checked.leaks;
    if checked.solution == *best.solution() {
        return Ok((best, leaks));
    }
    let Evaluation { scored, .. } = evaluate_checked(ctx, checked).await?;
    ctx.step_ended(scored.as_ref().ok().map(Scored::score), scored.is_ok(), "leakage removed");
    match scored {
        Ok(corrected) => {
            ctx.descends(&corrected, &[&best]);
            Ok((corrected, leaks))
        }
        Err(_) => Ok((best, true)),
    }
}

fn no_candidate(ctx: &Ctx<'_>, count: usize) -> Result<Stop, Stop> {
    let failed =
        || Stop::NoSolution(format!("Phase 1 failed: all {count} candidates produced execution errors"));
    Ok(ctx.limit_reached()?.map_or_else(failed, Stop::Limit))
}

fn report_candidate(ctx: &Ctx<'_>, candidate: Evaluation) -> Evaluation {
    let model = candidate.solution.source_model.clone().unwrap_or_default();
    let score = candidate.scored.as_ref().ok().map(Scored::score);
    match &candidate.scored {
        Ok(scored) => ctx.descends(scored, &[]),
        Err(failure) => ctx.warn(format!("candidate {model} is left out: {}", failure.headline())),
    }
    ctx.step_ended(score, score.is_some(), model);
    candidate
}

fn merge_record(ctx: &Ctx<'_>, reference: &Scored, merged: Option<&Scored>, accepted: bool) -> Merge {
    let reference_model = reference.solution().source_model.clone().unwrap_or_default();
    ctx.step_ended(merged.map(Scored::score), accepted, format!("merged with {reference_model}"));
    Merge { reference_model, score: merged.map(|merged| merged.score().value()), accepted }
}
