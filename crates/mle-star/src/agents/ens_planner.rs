//! `A_ens_planner` of the MLE-STAR paper (Figure 17): plans how to combine the solutions.

use serde_json::{Value, json};

use super::attempts::{Plans, failure_text, history, scored};
use super::ensembler::{best_round, members};
use crate::call::Call;
use crate::ctx::Ctx;
use crate::lessons::clip;
use crate::reply;
use crate::result::EnsembleAttempt;
use crate::scored::Scored;
use crate::stop::Stop;
use mle_star_domain::question::{Agreement, Question};
use mle_star_domain::role::AgentType;

/// Maximum length of what is told of a plan, in characters.
const MAX_PLAN_CHARS: usize = 600;

/// The next ensemble plan; `None` if the reply was empty.
pub(crate) async fn ens_planner(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    rounds: &[EnsembleAttempt],
    best: Option<&Scored>,
) -> Result<Option<String>, Stop> {
    super::require(ctx, solutions.len() >= 2, "A_ens_planner requires at least 2 solutions for ensembling")?;
    let tried: Plans<'_> = rounds.iter().map(|round| (round.plan.as_str(), round.score)).collect();
    let (plans, scores): (Vec<_>, Vec<_>) = tried.iter().copied().unzip();
    let texts: Vec<&str> = solutions.iter().map(Scored::text).collect();
    let inputs = json!({"solutions": texts, "plans": plans, "scores": scores});
    let tried =
        if tried.is_empty() { String::new() } else { history("# Ensemble plans you have tried", &tried) };
    let call = Call::new(AgentType::EnsPlanner, "ens_planner.md", inputs)
        .rendering("history", tried)
        .rendering("num_solutions", solutions.len())
        .telling("members", members(solutions))
        .telling("best", best_round(best))
        .telling("tried", rounds.iter().map(outcome).collect::<Value>());
    let agreement = match rounds {
        [] if ctx.tells_more() => agreement(ctx, solutions).await?,
        _ => None,
    };
    let call = call.telling("agreement", json!(agreement));
    let plan = reply::prose(&ctx.ask(call).await?);
    if plan.is_none() {
        ctx.warn("the ensemble planner's reply is empty");
    }
    Ok(plan)
}

/// How alike the errors of these solutions are; `None` if their predictions are not known.
async fn agreement(ctx: &Ctx<'_>, solutions: &[Scored]) -> Result<Option<Agreement>, Stop> {
    if !ctx.verifies() || solutions.iter().any(|one| one.measured().is_none()) {
        return Ok(None);
    }
    let runs = solutions.iter().map(Scored::kept).collect();
    let found = ctx.measure::<Agreement>(Question::Agreement { runs }).await?.value;
    Ok(Some(found).filter(|found| found.failure.is_empty()))
}

/// The plan of a round, with its outcome. The best one is told apart, so none is said to be kept.
fn outcome(round: &EnsembleAttempt) -> Value {
    let failure = || failure_text(round.limit, &round.effect);
    let outcome = round.score.map_or_else(failure, |score| scored(score, &round.effect, None));
    json!({"plan": clip(&round.plan, MAX_PLAN_CHARS), "outcome": outcome, "mishaps": round.effect.mishaps})
}
