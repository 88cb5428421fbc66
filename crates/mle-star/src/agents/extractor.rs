//! `A_extractor` (Figure 14): the code block that matters most, with a first plan for it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::{AgentType, Call, reply};
use crate::ctx::Ctx;
use crate::effects::{Answer, Limit};
use crate::solution::Solution;
use crate::stop::Stop;

/// A block as the agent quotes it, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefinePlan {
    /// An exact excerpt of the solution.
    pub code_block: String,
    /// Three to five sentences.
    pub plan: String,
    /// The kind of the block; `None` when the agent names none of them.
    #[serde(default, deserialize_with = "known_category")]
    pub category: Option<CodeBlockCategory>,
}

/// What a code block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum CodeBlockCategory {
    Preprocessing,
    FeatureEngineering,
    ModelSelection,
    Training,
    HyperparameterTuning,
    Ensemble,
    Postprocessing,
    Other,
}

/// A category that is none loses nothing but itself.
fn known_category<'de, D: Deserializer<'de>>(source: D) -> Result<Option<CodeBlockCategory>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(source)?).ok())
}

/// The shape of the answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(super) struct ExtractorOutput {
    #[schemars(length(min = 1))]
    plans: Vec<RefinePlan>,
}

/// What came of a call.
pub(crate) enum Extraction {
    /// The proposed plans.
    Plans(Vec<RefinePlan>),
    /// The reply cannot be read.
    Unreadable,
    /// The agent was not asked.
    Refused(Limit),
}

/// Call number `call` (from 1) of an outer step.
pub(crate) async fn extractor(
    ctx: &Ctx<'_>,
    call: u32,
    solution: &Solution,
    question: &Question<'_>,
) -> Result<Extraction, Stop> {
    let inputs = json!({
        "solution_script": solution.text,
        "ablation_summary": question.summary,
        "previous_code_blocks": question.refined_blocks,
        "note": question.note,
    });
    let name = if call == 1 { "extractor".to_owned() } else { format!("extractor-{call}") };
    let request = Call::new(AgentType::Extractor, "extractor.md", inputs).named(name);
    let answer = ctx.ask(request).await?;
    if let Answer::Refused { limit } = answer.answer {
        return Ok(Extraction::Refused(limit));
    }
    Ok(match reply::list(&answer, "plans").filter(|plans| !plans.items.is_empty()) {
        Some(plans) => Extraction::Plans(plans.items),
        None => {
            ctx.warn(format!("the extractor's reply cannot be read: {}", reply::excerpt(&answer)));
            Extraction::Unreadable
        }
    })
}

/// What the extractor is asked, besides the solution.
pub(crate) struct Question<'a> {
    pub summary: &'a str,
    pub refined_blocks: &'a [String],
    /// What was wrong with the call before.
    pub note: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_one_of_eight_or_none() {
        let check = |category: Value, expected: Option<CodeBlockCategory>| {
            let plan = json!({"code_block": "x = 1", "plan": "p", "category": category});
            assert_eq!(serde_json::from_value::<RefinePlan>(plan).unwrap().category, expected);
        };
        check(json!("feature_engineering"), Some(CodeBlockCategory::FeatureEngineering));
        check(json!("hyperparameter_tuning"), Some(CodeBlockCategory::HyperparameterTuning));
        check(json!("cooking"), None);
        check(json!(null), None);
        check(json!(7), None);
        let without = json!({"code_block": "x = 1", "plan": "p"});
        assert_eq!(serde_json::from_value::<RefinePlan>(without).unwrap().category, None);
    }
}
