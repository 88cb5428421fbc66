//! The record of a question to an agent: a digest of all that determines the answer, and what people read.

use mle_star_domain::role::{AgentType, Variant};
use serde::Serialize;
use serde_json::{Map, Value};

/// Everything that determines an agent's answer. The journal stores the digest of its JSON, so the fields must
/// stay in alphabetical order.
#[derive(Serialize)]
pub(super) struct Input<'a> {
    pub agent: AgentType,
    pub inputs: &'a Map<String, Value>,
    pub model: &'a str,
    pub schema: Option<&'a Value>,
    pub templates: [&'a str; 2],
    pub tools: &'a [&'a str],
    pub variant: Option<Variant>,
}

/// The part of a request that the journal stores for people.
#[derive(Serialize)]
pub(super) struct StoredRequest<'a> {
    pub agent: AgentType,
    pub model: &'a str,
    pub prompt: &'a str,
    pub variant: Option<Variant>,
    /// Whether an earlier answer to the same question counts, so that the agent is not called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_back: bool,
    /// The number of the user's notes that the agent saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_input_reads_like_the_json_value_whose_digest_journals_hold() {
        let (inputs, schema) = (json!({"b": 0.1, "a": [1, null]}), json!({"type": "object", "$defs": {}}));
        let input = Input {
            agent: AgentType::Leakage,
            inputs: inputs.as_object().unwrap(),
            model: "opus",
            schema: Some(&schema),
            templates: ["find \"leaks\"\n", "you are"],
            tools: &["Read"],
            variant: Some(Variant::Detection),
        };
        let value = json!({
            "agent": "leakage", "variant": "detection", "model": "opus", "tools": ["Read"], "schema": schema,
            "templates": ["find \"leaks\"\n", "you are"], "inputs": inputs,
        });
        assert_eq!(serde_json::to_string(&input).unwrap(), value.to_string());
    }
}
