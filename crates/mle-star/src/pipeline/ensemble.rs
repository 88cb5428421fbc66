//! Algorithm 3: the ensemble of the paths' solutions.

use crate::agents;
use crate::ctx::Ctx;
use crate::evaluate::evaluate;
use crate::metric::last_best;
use crate::result::{EnsembleAttempt, SolutionScript};
use crate::solution::{Scored, Solution, SolutionPhase};
use crate::stop::Stop;

/// What the rounds made.
pub(super) struct Ensemble {
    /// One per round.
    pub rounds: Vec<EnsembleAttempt>,
    /// The best round, or the best input when every round failed.
    pub best: Scored,
}

/// Algorithm 3. `None` when no round was begun.
pub(super) async fn ensemble(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Option<Ensemble>, Stop> {
    let (mut rounds, mut plans, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    let mut begun = false;
    let mut ensembles: Vec<Scored> = Vec::new();
    for r in 0..ctx.config().ensemble_rounds {
        let ctx = &ctx.at(format_args!("r{r}")); // lines 1, 4
        let mut attempt = failed_round();
        if let Some(limit) = ctx.skip(ctx.config().ensemble_rounds)? {
            attempt.plan = format!("[skipped: {}]", limit.name());
        } else {
            begun = true;
            if let Some(plan) = agents::ens_planner(ctx, solutions, &plans, &scores).await? {
                let scored = carry_out(ctx, &plan, solutions, &mut attempt.solution).await?; // 2-3, 6-7
                attempt.score = scored.as_ref().map(|scored| scored.score().value());
                attempt.plan = plan;
                ensembles.extend(scored);
            }
        }
        let score = attempt.score.and_then(|score| ctx.score(score));
        ctx.step_ended(score, score.is_some(), attempt.plan.clone());
        plans.push(attempt.plan.clone());
        scores.push(attempt.score);
        rounds.push(attempt); // 8
    }
    if !begun {
        return Ok(None);
    }
    let Some(best) = last_best(ensembles, Scored::score).or_else(|| fall_back(ctx, solutions)) else {
        return Ok(None);
    };
    Ok(Some(Ensemble { rounds, best })) // 9-10
}

/// The solution that is finalized: the ensemble, unless a path's own solution is strictly better.
pub(super) fn best_of_all(solutions: &[Scored], ensemble: Option<&Ensemble>) -> Option<Scored> {
    let paths = last_best(solutions.iter().cloned(), Scored::score);
    last_best(paths.into_iter().chain(ensemble.map(|ensemble| ensemble.best.clone())), Scored::score)
}

async fn carry_out(
    ctx: &Ctx<'_>,
    plan: &str,
    solutions: &[Scored],
    record: &mut SolutionScript,
) -> Result<Option<Scored>, Stop> {
    let Some(ensemble) = agents::ensembler(ctx, plan, solutions).await? else { return Ok(None) }; // 2, 6
    let evaluation = evaluate(ctx, ensemble).await?; // 3, 7
    *record = SolutionScript::failed(&evaluation.solution);
    match evaluation.scored {
        Ok(scored) => {
            *record = SolutionScript::from(&scored);
            if !scored.wrote_submission() {
                ctx.warn("the ensemble left no valid ./final/submission.csv");
            }
            ctx.descends(&scored, &solutions.iter().collect::<Vec<_>>());
            Ok(Some(scored))
        }
        Err(failure) => {
            ctx.warn(format!("the round failed: {}", failure.headline()));
            Ok(None)
        }
    }
}

fn fall_back(ctx: &Ctx<'_>, solutions: &[Scored]) -> Option<Scored> {
    let rounds = ctx.config().ensemble_rounds;
    ctx.warn(format!("Phase 3 ensemble: all {rounds} attempts failed; falling back to best input solution"));
    last_best(solutions.iter().cloned(), Scored::score)
}

fn failed_round() -> EnsembleAttempt {
    let solution = SolutionScript::failed(&Solution::new(String::new(), SolutionPhase::Ensemble));
    EnsembleAttempt { plan: "[ens_planner failed]".to_owned(), score: None, solution }
}
