//! `A_merger` (Figure 11): merges a reference solution into the base solution.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::role::AgentType;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;

/// The merged solution; its text is empty if the reply had no code, and an empty script fails when it runs.
pub(crate) async fn merger(ctx: &Ctx<'_>, base: &Solution, reference: &Solution) -> Result<Solution, Stop> {
    let mut inputs = json!({"base_code": base.text(), "reference_code": reference.text()});
    ctx.name_suspicious_columns(&mut inputs);
    let answer = ctx.ask(Call::new(AgentType::Merger, "merger.md", inputs)).await?;
    Ok(Solution::new(reply::code(&answer).unwrap_or_default(), SolutionPhase::Merged))
}
