//! Structured answers of agents. Their JSON schemas are derived from these types.

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
    /// The addresses of its sources as the agent gave them, unchecked.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "texts")]
    #[schemars(with = "Vec<String>")]
    pub sources: Vec<String>,
}

/// Where a run's models come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Retrieval {
    /// The retriever searched the web.
    Web,
    /// The retriever did not search: `search` is off, or the search failed.
    Knowledge,
    /// The user provided them; the retriever was not asked.
    File,
    /// The offline agents chose them.
    #[default]
    Rules,
}

/// The shape of the retriever's answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(crate) struct RetrieverOutput {
    #[schemars(length(min = 1))]
    models: Vec<RetrievedModel>,
}

/// A block as the agent quotes it, with a plan for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefinePlan {
    /// An exact excerpt of the solution.
    pub code_block: String,
    /// Three to five sentences.
    pub plan: String,
    /// The kind of the block; `None` if the agent names no known kind.
    #[serde(default, deserialize_with = "known_category")]
    pub category: Option<CodeBlockCategory>,
}

/// The kind of a code block.
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

/// An unknown category becomes `None`; the rest of the answer stays valid.
fn known_category<'de, D: Deserializer<'de>>(source: D) -> Result<Option<CodeBlockCategory>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(source)?).ok())
}

/// The shape of the extractor's answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(crate) struct ExtractorOutput {
    #[schemars(length(min = 1))]
    plans: Vec<RefinePlan>,
}

/// The verdict on one preprocessing block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeakageAnswer {
    /// Whether the block leaks.
    pub leakage_status: LeakageStatus,
    /// An exact excerpt of the solution.
    pub code_block: String,
}

/// Whether a block leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LeakageStatus {
    /// It does: validation or test rows influence training.
    #[serde(rename = "Yes Data Leakage")]
    Yes,
    /// It does not.
    #[serde(rename = "No Data Leakage")]
    No,
}

/// The shape of the answer of leakage detection, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(crate) struct LeakageDetectionOutput {
    #[schemars(length(min = 1))]
    answers: Vec<LeakageAnswer>,
}

/// Whether a solution is a copy of a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Contamination {
    /// Sufficiently different.
    Novel,
    /// Too similar.
    Same,
}

/// The answer of the contamination check.
#[derive(Deserialize, JsonSchema)]
pub struct DataContaminationResult {
    /// Whether the solution is a copy.
    pub verdict: Contamination,
}

/// Reads a list of texts or a single text, so that an unexpected form of the sources does not cost a model.
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
