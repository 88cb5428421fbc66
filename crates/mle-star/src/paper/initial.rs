//! Algorithm 1 of the MLE-STAR paper: the initial solution.

use futures_util::future::try_join_all;
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::place::Step;

use crate::agents::{self, Retrieved};
use crate::closing::MergeEnd;
use crate::ctx::Ctx;
use crate::evaluate::evaluate;
use crate::evaluation::Evaluation;
use crate::late_solutions::{best_first, judged};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;

/// The result of Algorithm 1.
pub(crate) struct Initial {
    pub retrieved: Retrieved,
    pub candidates: Vec<Evaluation>,
    pub merges: Vec<MergeEnd>,
    /// s_0.
    pub best: Scored,
}

/// Algorithm 1.
pub(crate) async fn initial_solution(ctx: &Ctx<'_>) -> Result<Initial, Stop> {
    let retrieved = agents::retrieve(ctx).await?; // line 1
    let candidates = candidates(ctx, &retrieved.models).await?; // 2-5
    let (mut best, ranked) = best_first(ctx, &retrieved.models, &candidates)?; // 6-7
    let mut merges: Vec<MergeEnd> = Vec::new();
    for (count, reference) in (1..).zip(&ranked) {
        let ctx = &ctx.at(Step::Merge(count), [&best, reference]); // 8
        let merging = async {
            let merged = agents::merger(ctx, &best, reference).await?; // 9
            let merged = evaluate(ctx, merged, Some(&best)).await?; // 10
            judged(ctx, merged, &best) // 11
        };
        merges.push(ctx.step(merging, |end| MergeEnd::end(end, &best, reference)).await?);
        match merges.last().and_then(MergeEnd::accepted) {
            Some(merged) => best = merged.clone(), // 12-13
            None => break,                         // 14-16
        }
    }
    Ok(Initial { retrieved, candidates, merges, best }) // 18
}

/// Lines 2-5 for all models at once, because they are independent. The user's own solution comes last (section 5).
async fn candidates(ctx: &Ctx<'_>, models: &[RetrievedModel]) -> Result<Vec<Evaluation>, Stop> {
    let candidates = (0..).zip(models).map(async |(index, model)| {
        let (ctx, name) = (&ctx.at(Step::Candidate(index), []), &model.model_name);
        ctx.step(candidate(ctx, model), |end| Evaluation::candidate(end, name)).await
    });
    let mut candidates = try_join_all(candidates).await?;
    if let Some(baseline) = &ctx.task().baseline_solution {
        let ctx = &ctx.at(Step::Candidate(u32::try_from(models.len()).unwrap_or(u32::MAX)), []);
        let solution = Solution::new(baseline.clone(), SolutionPhase::Init).of_model("baseline");
        let evaluated = evaluate(ctx, Ok(solution), None);
        candidates
            .push(ctx.step_always(evaluated, |end| Evaluation::candidate(end.into(), "baseline")).await?);
    }
    Ok(candidates)
}

/// The solution for one model.
pub(crate) async fn candidate(ctx: &Ctx<'_>, model: &RetrievedModel) -> Result<Evaluation, Stop> {
    let solution = agents::init(ctx, model).await?; // 3
    evaluate(ctx, solution, None).await // 4
}
