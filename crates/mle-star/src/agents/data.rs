//! `A_data` (Figure 22): adds data that the solution does not use yet.

use serde_json::json;

use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::scored::Scored;
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// The agent's answer if the solution uses all data.
const ALL_USED: &str = "all the provided information is used.";

/// The revised solution; `None` if all data is used or the reply had no code.
pub(crate) async fn data(ctx: &Ctx<'_>, best: &Scored) -> Result<Option<Solution>, Stop> {
    let solution = best.solution();
    let mut inputs = json!({"initial_solution": solution.text(), "task_description": ctx.task().description});
    ctx.name_suspicious_columns(&mut inputs);
    let call = Call::new(AgentType::Data, "data.md", inputs).telling("current", run_of(best));
    let answer = ctx.ask(call).await?;
    if reply::text(&answer).is_some_and(|text| text.to_lowercase().contains(ALL_USED)) {
        return Ok(None);
    }
    let code = reply::code(&answer);
    if code.is_none() {
        ctx.warn(format!(
            "the data check's reply holds neither code nor a verdict: {}",
            reply::excerpt(&answer)
        ));
    }
    Ok(code.filter(|text| *text != solution.text()).map(|text| solution.with_text(text)))
}
