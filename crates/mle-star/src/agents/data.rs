//! `A_data` of the MLE-STAR paper (Figure 22): adds data that the solution does not use yet.

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

/// The revised solution; `None` if all data is used, the call failed or was refused, or the reply has no other code.
pub(crate) async fn data(ctx: &Ctx<'_>, best: &Scored) -> Result<Option<Solution>, Stop> {
    let solution = best.solution();
    let mut inputs = json!({"initial_solution": solution.text(), "task_description": ctx.task().description});
    super::name_suspicious_columns(ctx, &mut inputs);
    let call = Call::new(AgentType::Data, "data.md", inputs).telling("current", run_of(best));
    let answer = ctx.ask(call).await?;
    if reply::prose(&answer).is_some_and(|text| denies_revision(&text)) {
        return Ok(None);
    }
    let lacks = "the data check's reply holds neither code nor a verdict";
    let code = super::code_or_warn(ctx, &answer, lacks);
    Ok(code.filter(|text| *text != solution.text()).map(|text| solution.with_text(text)))
}

/// Whether a reply says that all data is used, and not that not all of it is.
fn denies_revision(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_denied = |before: &str| {
        before.split(|letter: char| !letter.is_alphanumeric()).rfind(|word| !word.is_empty()) == Some("not")
    };
    text.match_indices(ALL_USED).any(|(at, _)| !is_denied(&text[..at]))
}
