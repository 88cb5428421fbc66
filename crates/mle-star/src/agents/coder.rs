//! `A_coder` (Figure 15): applies a plan to a code block.

use serde_json::json;

use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::role::AgentType;
use crate::solution::{CodeBlock, Scored};
use crate::stop::Stop;

/// The improved block of `current`; `None` if the reply had no code.
pub(crate) async fn coder(
    ctx: &Ctx<'_>,
    current: &Scored,
    block: &CodeBlock,
    plan: &str,
) -> Result<Option<String>, Stop> {
    let inputs = json!({"code_block": block.as_str(), "plan": plan});
    let call = Call::new(AgentType::Coder, "coder.md", inputs)
        .telling("solution_script", current.text())
        .telling("current", run_of(current));
    let answer = ctx.ask(call).await?;
    let code = reply::code(&answer);
    if code.is_none() {
        ctx.warn(format!("the coder's reply holds no code: {}", reply::excerpt(&answer)));
    }
    Ok(code)
}
