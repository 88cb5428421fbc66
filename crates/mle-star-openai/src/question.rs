//! A question to an endpoint, and what can be asked of it: parts that a server does not know are left out.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mle_star::schema;
use serde_json::{Value, json};

/// One question.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    pub(crate) prompt: &'a str,
    /// The name of the agent, which names the schema.
    pub(crate) name: &'a str,
    /// The JSON schema of a structured answer.
    pub(crate) schema: Option<&'a Value>,
    pub(crate) max_tokens: Option<u64>,
}

/// The parts that a question is asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuestionParts {
    pub(crate) schema: bool,
    pub(crate) usage: bool,
    pub(crate) stream: bool,
    pub(crate) system: bool,
    pub(crate) max_completion_tokens: bool,
}

/// A part that a server may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Answers by a schema. The prompt says the schema instead.
    Schema,
    /// Usage in a stream. It is unknown instead.
    Usage,
    /// Streams. The answer comes in one piece instead.
    Stream,
    /// System prompts. The prompt begins with it instead.
    System,
    /// `max_completion_tokens`. It has its earlier name instead.
    MaxCompletionTokens,
}

/// The parts that models have refused in this run.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<BTreeSet<(String, Part)>>);

impl Question<'_> {
    /// The prompt, with the schema if the server does not take it.
    pub(crate) fn prompt(&self, asked: &QuestionParts) -> String {
        match self.schema {
            Some(schema) if !asked.schema => schema::in_prompt(self.prompt, schema),
            _ => self.prompt.to_owned(),
        }
    }

    /// The schema, if the server takes it.
    pub(crate) fn served_schema(&self, asked: &QuestionParts) -> Option<Value> {
        self.schema.filter(|_| asked.schema).map(schema::strict)
    }
}

/// Words about the value of a number that is known.
const VALUE_WORDS: [&str; 6] = ["too large", "too small", "maximum", "minimum", "at most", "at least"];

impl Part {
    pub(crate) const ALL: [Self; 5] =
        [Self::Schema, Self::Usage, Self::Stream, Self::System, Self::MaxCompletionTokens];

    /// Whether an error, in lower case, names it.
    fn is_named(self, error: &str) -> bool {
        let says = |texts: &[&str]| texts.iter().any(|text| error.contains(text));
        match self {
            Self::Schema => schema::is_refused(error),
            Self::Usage => says(&["stream_options", "include_usage"]),
            // Gateways tell of the service upstream.
            Self::Stream => error
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .any(|word| matches!(word, "stream" | "streams" | "streamed" | "streaming")),
            Self::System => says(&["system role", "system message", "system prompt", "instructions"]),
            Self::MaxCompletionTokens => says(&["max_completion_tokens"]) && !says(&VALUE_WORDS),
        }
    }
}

impl Refused {
    /// The parts that a question to a model is asked with.
    pub(crate) fn asked(&self, model: &str) -> QuestionParts {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |part| !refused.contains(&(model.to_owned(), part));
        QuestionParts {
            schema: is_known(Part::Schema),
            usage: is_known(Part::Usage),
            stream: is_known(Part::Stream),
            system: is_known(Part::System),
            max_completion_tokens: is_known(Part::MaxCompletionTokens),
        }
    }

    /// Notes the part of a request that an error names; `None` if it names none.
    pub(crate) fn note(&self, model: &str, body: &Value, error: &str) -> Option<Part> {
        let lower = error.to_lowercase();
        let was_sent = |part: &Part| match part {
            Part::Schema => body.get("response_format").or(body.get("text")).is_some(),
            Part::Usage => body.get("stream_options").is_some(),
            Part::Stream => body.get("stream").is_some(),
            Part::System => body.get("instructions").is_some() || body["messages"].get(1).is_some(),
            Part::MaxCompletionTokens => body.get("max_completion_tokens").is_some(),
        };
        let part = Part::ALL.into_iter().find(|part| was_sent(part) && part.is_named(&lower))?;
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refused.insert((model.to_owned(), part));
        Some(part)
    }
}

/// The schema of a list of texts under one name.
pub(crate) fn texts(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "array", "items": {"type": "string"}}}, "required": [name]})
}

#[cfg(test)]
mod tests {
    use mle_star_domain::config::Format;

    use super::*;

    fn question(schema: &Value) -> Question<'_> {
        let (model, system, prompt, name) = ("m", "You are careful.", "What?\n", "extractor");
        Question { model, system, prompt, name, schema: Some(schema), max_tokens: Some(7) }
    }

    #[test]
    fn what_a_model_refuses_is_left_out() {
        let (refused, schema) = (Refused::default(), texts("plans"));
        let question = question(&schema);
        let body = |model: &str| question.body(Format::Chat, &refused.asked(model));
        let check = |error: &str, expected: Option<Part>| {
            assert_eq!(refused.note("m", &body("m"), error), expected, "{error}");
        };
        check("prompt is too long", None);
        check("Error from provider: Upstream request failed", None);
        check("max_completion_tokens is not valid: integer above maximum value", None);
        check("Unknown parameter: 'response_format'", Some(Part::Schema));
        check("Unknown parameter: 'response_format'", None);
        check("stream_options is not allowed", Some(Part::Usage));
        check("verify the organization to stream this model", Some(Part::Stream));
        check("System role not supported", Some(Part::System));
        check("max_completion_tokens: extra inputs are not permitted", Some(Part::MaxCompletionTokens));
        assert_ne!(body("other"), body("m"), "each model has its own");
    }
}
