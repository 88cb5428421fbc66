//! The structured answers of agents, with the shapes that their schemas are made from.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A model and code that shows how to use it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievedModel {
    /// The model's name.
    pub model_name: String,
    /// Short, simple sample code.
    pub example_code: String,
    /// Addresses of the pages it was taken from, as they were named; nobody checked them.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "texts")]
    #[schemars(with = "Vec<String>")]
    pub sources: Vec<String>,
}

/// Where a run's models come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retrieval {
    /// The retriever looked things up on the web.
    Web,
    /// The retriever looked nothing up: `search` is off, or the search did not work.
    Knowledge,
    /// The user gave them; the retriever was not asked.
    File,
    /// The offline agents picked them.
    #[default]
    Rules,
}

/// The shape of the answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(crate) struct RetrieverOutput {
    #[schemars(length(min = 1))]
    models: Vec<RetrievedModel>,
}

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
pub(crate) struct ExtractorOutput {
    #[schemars(length(min = 1))]
    plans: Vec<RefinePlan>,
}

/// The verdict on one preprocessing block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeakageAnswer {
    /// Does it leak?
    pub leakage_status: LeakageStatus,
    /// An exact excerpt of the solution.
    pub code_block: String,
}

/// Does a block leak?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LeakageStatus {
    /// Validation or test rows influence training.
    #[serde(rename = "Yes Data Leakage")]
    Yes,
    /// They do not.
    #[serde(rename = "No Data Leakage")]
    No,
}

/// The shape of the answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(crate) struct LeakageDetectionOutput {
    #[schemars(length(min = 1))]
    answers: Vec<LeakageAnswer>,
}

/// Is a solution a copy of a known one?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Contamination {
    /// Sufficiently different.
    Novel,
    /// Too similar.
    Same,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DataContaminationResult {
    pub verdict: Contamination,
}

/// The texts of a list, or one text alone; a model is not lost for the shape of its sources.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Array(values) => values,
        one => vec![one],
    };
    let mut texts: Vec<String> = Vec::new();
    for text in values.iter().filter_map(Value::as_str).map(str::trim) {
        if !text.is_empty() && !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    #[test]
    fn sources_are_texts_whatever_their_shape() {
        let check = |sources: Value, expected: &[&str]| {
            let model = json!({"model_name": "m", "example_code": "c", "sources": sources});
            assert_eq!(serde_json::from_value::<RetrievedModel>(model).unwrap().sources, expected);
        };
        check(
            json!(["https://a.org", " https://b.org ", "https://a.org", ""]),
            &["https://a.org", "https://b.org"],
        );
        check(json!("https://a.org"), &["https://a.org"]);
        check(json!([{"url": "https://a.org"}, 3, "b"]), &["b"]);
        check(Value::Null, &[]);
        let model = json!({"model_name": "m", "example_code": "c"});
        let read = serde_json::from_value::<RetrievedModel>(model.clone()).unwrap();
        assert_eq!((read.sources.len(), serde_json::to_value(&read).unwrap()), (0, model));
    }
}
