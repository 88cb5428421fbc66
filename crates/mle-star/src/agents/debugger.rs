//! `A_debugger` of the MLE-STAR paper (Figure 19): repairs a failing script.

use serde_json::{Value, json};

use super::attempts::Repair;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::evaluation::Failure;
use crate::lessons::format_seconds;
use crate::solution::Solution;
use crate::stop::Stop;
use crate::traceback::failing_lines;
use mle_star_domain::effects::Purpose;
use mle_star_domain::role::AgentType;

/// The repaired script, which runs for `purpose`; `None` if the reply had no code. `repairs` came before.
pub(crate) async fn debugger(
    ctx: &Ctx<'_>,
    broken: &Solution,
    failure: &Failure,
    repairs: &[Repair],
    purpose: Purpose,
) -> Result<Option<Solution>, Stop> {
    let error = failure.error.as_str();
    let inputs = json!({"code": broken.text(), "bug": error});
    let facts = failure.facts.as_ref();
    let call = Call::new(AgentType::Debugger, "debugger.md", inputs)
        .telling("excerpt", failing_lines(broken.text(), error))
        .telling("printed", facts.map_or("", |facts| facts.printed.as_str()))
        .telling("time", facts.map(|facts| format_seconds(facts.seconds)))
        .telling("repairs", json!(repairs))
        .telling("script_limit", ctx.script_limit(purpose))
        .telling("purpose", json!(purpose));
    // The phase plans for scripts that are scored.
    let call = if purpose == Purpose::Score { call } else { call.telling("aim", Value::Null) };
    let answer = ctx.ask(call).await?;
    let code = super::code_or_warn(ctx, &answer, "the debugger's reply holds no code");
    Ok(code.map(|text| broken.with_text(text)))
}
