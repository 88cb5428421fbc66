//! `A_abl` (Figure 12): a script that switches parts of the solution off and measures each.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::role::AgentType;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;

/// The ablation script. Its text is empty if the reply had no code; an empty script fails when it runs.
pub(crate) async fn ablation(
    ctx: &Ctx<'_>,
    solution: &Solution,
    summaries: &[String],
) -> Result<Solution, Stop> {
    let inputs = json!({"solution_script": solution.text(), "previous_ablations": summaries});
    let answer = ctx.ask(Call::new(AgentType::Ablation, "ablation.md", inputs)).await?;
    Ok(Solution::new(reply::code(&answer).unwrap_or_default(), SolutionPhase::Refined))
}
