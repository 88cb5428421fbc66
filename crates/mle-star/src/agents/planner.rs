//! `A_planner` of the MLE-STAR paper (Figure 16): proposes the next plan for a code block, from the plans tried and
//! their scores.

use serde_json::json;

use super::attempts::{Plans, attempts_so_far, history};
use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::result::RefinementAttempt;
use crate::scored::Scored;
use crate::solution::CodeBlock;
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// The block that an outer step refines, with what was tried.
pub(crate) struct Focus<'a> {
    /// The solution that the step began with.
    pub current: &'a Scored,
    /// The block of it.
    pub block: &'a CodeBlock,
    /// The summary of the ablation study.
    pub summary: &'a str,
}

impl Focus<'_> {
    /// Tells an agent the solution, and where the block stands in it.
    pub(super) fn shown(&self, call: Call) -> Call {
        let lines = self.current.solution().lines_of(self.block).map(|lines| match lines.into_inner() {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first} to {last}"),
        });
        call.telling("solution_script", self.current.text())
            .telling("current", run_of(self.current))
            .telling("block_lines", lines)
    }
}

/// The next plan for the block; `None` if the reply was empty.
pub(crate) async fn planner(
    ctx: &Ctx<'_>,
    target: &Focus<'_>,
    attempts: &[RefinementAttempt],
) -> Result<Option<String>, Stop> {
    super::require(ctx, !attempts.is_empty(), "At least one previous plan is required for A_planner")?;
    let tried: Plans<'_> = attempts.iter().map(|attempt| (attempt.plan.as_str(), attempt.score)).collect();
    let (plans, scores): (Vec<_>, Vec<_>) = tried.iter().copied().unzip();
    let inputs = json!({"code_block": target.block.as_str(), "plans": plans, "scores": scores});
    let tried = history("# Improvement plans you have tried", &tried);
    let unverified = ctx.verifies() && target.current.measured().is_none();
    let call = Call::new(AgentType::Planner, "planner.md", inputs)
        .rendering("history", tried)
        .rendering("unverified", unverified)
        .telling("summary", target.summary)
        .telling("attempts", attempts_so_far(attempts));
    let plan = reply::prose(&ctx.ask(target.shown(call)).await?);
    if plan.is_none() {
        ctx.warn("the planner's reply is empty");
    }
    Ok(plan)
}
