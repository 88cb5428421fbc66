//! `A_planner` (Figure 16): proposes the next plan for a code block, from the plans tried and their scores.

use serde_json::json;

use super::history::{Tried, history, plans, scores};
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::result::RefinementAttempt;
use crate::role::AgentType;
use crate::solution::{CodeBlock, Scored};
use crate::stop::Stop;

/// The next plan for a block of `current`; `None` if the reply was empty.
pub(crate) async fn planner(
    ctx: &Ctx<'_>,
    current: &Scored,
    block: &CodeBlock,
    attempts: &[RefinementAttempt],
) -> Result<Option<String>, Stop> {
    ctx.require(!attempts.is_empty(), "At least one previous plan is required for A_planner")?;
    let tried: Vec<Tried<'_>> =
        attempts.iter().map(|attempt| Tried { plan: &attempt.plan, score: attempt.score }).collect();
    let inputs = json!({"code_block": block.as_str(), "plans": plans(&tried), "scores": scores(&tried)});
    let tried = history("# Improvement plans you have tried", &tried);
    let unverified = ctx.verifies() && current.measured().is_none();
    let call = Call::new(AgentType::Planner, "planner.md", inputs);
    let call = call.rendering("history", tried).rendering("unverified", unverified);
    let plan = reply::prose(&ctx.ask(call).await?);
    if plan.is_none() {
        ctx.warn("the planner's reply is empty");
    }
    Ok(plan)
}
