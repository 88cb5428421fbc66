//! `A_ens_planner` (Figure 17): how to combine the solutions.

use serde_json::json;

use super::history::history;
use super::{Call, reply};
use crate::ctx::Ctx;
use crate::role::AgentType;
use crate::solution::Scored;
use crate::stop::Stop;

/// The next ensemble plan; `None` when the reply was empty.
pub(crate) async fn ens_planner(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    plans: &[String],
    scores: &[Option<f64>],
) -> Result<Option<String>, Stop> {
    let texts: Vec<&str> = solutions.iter().map(Scored::text).collect();
    let inputs = json!({"solutions": texts, "plans": plans, "scores": scores});
    let tried = if plans.is_empty() {
        String::new()
    } else {
        history("# Ensemble plans you have tried", plans, scores)
    };
    let call = Call::new(AgentType::EnsPlanner, "ens_planner.md", inputs)
        .rendering("history", tried)
        .rendering("num_solutions", solutions.len());
    let plan = reply::prose(&ctx.ask(call).await?);
    if plan.is_none() {
        ctx.warn("the ensemble planner's reply is empty");
    }
    Ok(plan)
}
