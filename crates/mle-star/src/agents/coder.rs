//! `A_coder` (Figure 15): applies a plan to a code block.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::role::AgentType;
use crate::solution::{CodeBlock, Solution};
use crate::stop::Stop;

/// The improved block of `solution`; `None` if the reply had no code.
pub(crate) async fn coder(
    ctx: &Ctx<'_>,
    solution: &Solution,
    block: &CodeBlock,
    plan: &str,
) -> Result<Option<String>, Stop> {
    let inputs = json!({"code_block": block.as_str(), "plan": plan});
    let call = Call::new(AgentType::Coder, "coder.md", inputs).telling("solution_script", solution.text());
    let answer = ctx.ask(call).await?;
    let code = reply::code(&answer);
    if code.is_none() {
        ctx.warn(format!("the coder's reply holds no code: {}", reply::excerpt(&answer)));
    }
    Ok(code)
}
