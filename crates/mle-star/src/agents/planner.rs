//! `A_planner` (Figure 16): the next plan for a code block, from the plans tried and their scores.

use serde_json::json;

use super::history::history;
use super::{Call, reply};
use crate::ctx::Ctx;
use crate::role::AgentType;
use crate::solution::CodeBlock;
use crate::stop::Stop;

/// The next plan; `None` when the reply was empty.
pub(crate) async fn planner(
    ctx: &Ctx<'_>,
    block: &CodeBlock,
    plans: &[String],
    scores: &[Option<f64>],
) -> Result<Option<String>, Stop> {
    let inputs = json!({"code_block": block.as_str(), "plans": plans, "scores": scores});
    let tried = history("# Improvement plans you have tried", plans, scores);
    let call = Call::new(AgentType::Planner, "planner.md", inputs).rendering("history", tried);
    let plan = reply::prose(&ctx.ask(call).await?);
    if plan.is_none() {
        ctx.warn("the planner's reply is empty");
    }
    Ok(plan)
}
