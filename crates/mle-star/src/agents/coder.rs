//! `A_coder` of the MLE-STAR paper (Figure 15): applies a plan to a code block.

use serde_json::json;

use super::attempts::attempts_so_far;
use super::planner::Focus;
use super::variants::better_code;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::result::RefinementAttempt;
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// The improved block; `None` if the reply had no code. `attempts` are the earlier ones at the block.
pub(crate) async fn coder(
    ctx: &Ctx<'_>,
    target: &Focus<'_>,
    plan: &str,
    attempts: &[RefinementAttempt],
) -> Result<Option<String>, Stop> {
    let inputs = json!({"code_block": target.block.as_str(), "plan": plan});
    let call = Call::new(AgentType::Coder, "coder.md", inputs)
        .telling("earlier", attempts_so_far(attempts))
        .telling("better_variants", better_code(target.summary));
    let answer = ctx.ask(target.shown(call)).await?;
    Ok(super::code_or_warn(ctx, &answer, "the coder's reply holds no code"))
}
