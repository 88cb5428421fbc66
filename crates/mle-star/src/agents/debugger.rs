//! `A_debugger` (Figure 19): repairs a failing script.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::role::AgentType;
use crate::solution::Solution;
use crate::stop::Stop;

/// The repaired script; `None` if the reply had no code.
pub(crate) async fn debugger(
    ctx: &Ctx<'_>,
    broken: &Solution,
    error: &str,
) -> Result<Option<Solution>, Stop> {
    let inputs = json!({"code": broken.text(), "bug": error});
    let answer = ctx.ask(Call::new(AgentType::Debugger, "debugger.md", inputs)).await?;
    let code = reply::code(&answer);
    if code.is_none() {
        ctx.warn(format!("the debugger's reply holds no code: {}", reply::excerpt(&answer)));
    }
    Ok(code.map(|text| broken.with_text(text)))
}
