//! `A_extractor` (Figure 14): the code block that matters most, with a first plan for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AgentType, Call, reply};
use crate::ctx::Ctx;
use crate::solution::Solution;
use crate::stop::Stop;

/// A block as the agent quotes it, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefinePlan {
    /// An exact excerpt of the solution.
    pub code_block: String,
    /// Three to five sentences.
    pub plan: String,
}

#[derive(Deserialize, JsonSchema)]
struct ExtractorOutput {
    #[schemars(length(min = 1))]
    plans: Vec<RefinePlan>,
}

/// Call number `call` (from 1) of an outer step: the proposed plans, or `None` when the reply cannot be
/// read. `note` tells what was wrong with the call before.
pub(crate) async fn extractor(
    ctx: &Ctx<'_>,
    call: u32,
    solution: &Solution,
    question: &Question<'_>,
) -> Result<Option<Vec<RefinePlan>>, Stop> {
    let inputs = json!({
        "solution_script": solution.text,
        "ablation_summary": question.summary,
        "previous_code_blocks": question.refined_blocks,
        "note": question.note,
    });
    let name = if call == 1 { "extractor".to_owned() } else { format!("extractor-{call}") };
    let request = Call::new(AgentType::Extractor, "extractor.md", inputs).named(name);
    let answer = ctx.ask(request.answered_by::<ExtractorOutput>()).await?;
    let plans = reply::structured::<ExtractorOutput>(&answer, "plans").map(|output| output.plans);
    if plans.is_none() {
        ctx.warn(format!("the extractor's reply cannot be read: {}", reply::excerpt(&answer)));
    }
    Ok(plans)
}

/// What the extractor is asked, besides the solution.
pub(crate) struct Question<'a> {
    pub summary: &'a str,
    pub refined_blocks: &'a [String],
    pub note: &'a str,
}
