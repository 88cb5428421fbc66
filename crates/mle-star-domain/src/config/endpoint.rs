//! The keys for `agents: openai`: an OpenAI-compatible API, and prices of models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Config, Key};

/// The endpoint that `agents: openai` asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAi {
    /// The base address, such as `http://127.0.0.1:8080/v1`. Without it, that of `OPENAI_BASE_URL`, else OpenAI itself.
    pub url: Option<String>,
    /// The name of the environment variable with the key. Servers without keys need none.
    pub key_variable: String,
    /// The API of the endpoint.
    pub format: Format,
    /// The most tokens of one answer, reasoning included. Without it, the endpoint's own limit.
    pub max_tokens: Option<u64>,
    /// A call is repeated if nothing of its answer arrives for this long, in seconds.
    pub stall_seconds: u64,
}

/// An API of OpenAI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// OpenAI's Chat Completions API, which almost every server has.
    Chat,
    /// OpenAI's Responses API.
    Responses,
}

/// The price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// US dollars per million tokens read.
    pub input: f64,
    /// US dollars per million tokens written.
    pub output: f64,
    /// US dollars per million tokens read from a cache. Without it, that of `input`.
    #[serde(default)]
    pub cached_input: Option<f64>,
}

impl Default for OpenAi {
    fn default() -> Self {
        Self {
            url: None,
            key_variable: "OPENAI_API_KEY".to_owned(),
            format: Format::Chat,
            max_tokens: None,
            stall_seconds: 300,
        }
    }
}

/// Rows of the keys inside `openai`.
pub(super) const KEYS: [Key; 4] = [
    Key::new("openai.url").text().variable("MLE_STAR_OPENAI_URL"),
    Key::new("openai.key_variable").text(),
    Key::new("openai.max_tokens").at_least(1),
    Key::new("openai.stall_seconds").at_least(1),
];

/// Whether the search command can be one.
pub(super) fn is_command(config: &Config) -> bool {
    config.search_command.first().is_none_or(|program| !program.trim().is_empty())
}

/// Whether every price is one.
pub(super) fn are_prices(config: &Config) -> bool {
    let is_price = |usd: f64| usd.is_finite() && usd >= 0.0;
    config.prices.values().all(|Price { input, output, cached_input }| {
        [*input, *output, cached_input.unwrap_or(0.0)].into_iter().all(is_price)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn values_out_of_range_name_their_key() {
        let check = |keys: Value, expected: &str| {
            let error = serde_json::from_value::<Config>(keys.clone()).map(drop).unwrap_err().to_string();
            assert!(error.contains(expected), "{keys}: {error}");
        };
        check(json!({"openai": {"stall_seconds": 0}}), "openai.stall_seconds must be at least 1");
        check(json!({"openai": {"max_tokens": 0}}), "openai.max_tokens must be at least 1");
        check(json!({"openai": {"format": "soap"}}), "`chat` or `responses`");
        check(json!({"openai": {"key": "secret"}}), "unknown field `key`");
        check(json!({"search_command": [" "]}), "search_command must be a program");
        check(json!({"prices": {"m": {"input": -1, "output": 0}}}), "prices must be US dollars");
        check(json!({"prices": {"m": {"input": 1}}}), "missing field `output`");
        let fine = json!({"prices": {"m": {"input": 0, "output": 2.5, "cached_input": 0.1}}, "search_command": ["s"]});
        assert!(serde_json::from_value::<Config>(fine).is_ok());
    }
}
