//! `A_retriever` (Figure 9): models worth trying, each with example code.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::{AgentType, Call, reply};
use crate::ctx::Ctx;
use crate::effects::{AgentReply, Answer};
use crate::stop::Stop;

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

/// May the retriever search the web?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    Allowed,
    Forbidden,
}

/// The shape of the answer, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; answers are read item by item")]
pub(super) struct RetrieverOutput {
    #[schemars(length(min = 1))]
    models: Vec<RetrievedModel>,
}

/// What the retriever, asked at the place `name`, says. Without search it has no tools and is asked for what it
/// knows.
pub(crate) async fn retriever(ctx: &Ctx<'_>, name: &str, search: Search) -> Result<AgentReply, Stop> {
    let inputs = json!({
        "task_description": ctx.task().description,
        "num_models": ctx.config().num_retrieved_models,
        "search": search == Search::Allowed,
    });
    let call = Call::new(AgentType::Retriever, "retriever.md", inputs).named(name);
    let call = if search == Search::Allowed { call } else { call.tools(&[]) };
    ctx.ask(call).await
}

/// The valid models of a reply, in their order. `Err` says why there is none.
pub(crate) fn models_of(ctx: &Ctx<'_>, answer: &AgentReply) -> Result<Vec<RetrievedModel>, String> {
    let found = reply::list::<RetrievedModel>(answer, "models");
    let why = if found.is_some() { String::new() } else { format!(": {}", reply::excerpt(answer)) };
    if let Some(unreadable) = found.as_ref().map(|found| found.unreadable).filter(|count| *count > 0) {
        ctx.warn(format!("{unreadable} of the retriever's models cannot be read"));
    }
    let mut models = found.map(|found| found.items).unwrap_or_default();
    models.retain(|model| {
        let valid = !model.model_name.trim().is_empty() && !model.example_code.trim().is_empty();
        if !valid {
            ctx.warn(format!("the retriever named a model without name or code: {:?}", model.model_name));
        }
        valid
    });
    if models.is_empty() { Err(format!("A_retriever returned zero models{why}")) } else { Ok(models) }
}

/// Why the agent failed; `None` when it answered.
pub(crate) fn failure(answer: &AgentReply) -> Option<String> {
    matches!(answer.answer, Answer::Failed { .. }).then(|| reply::excerpt(answer))
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
    use super::*;

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
