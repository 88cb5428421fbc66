//! What an endpoint has said: the parts of an answer in either format, collected from events or from one document.

use mle_star::attempts::Outcome;
use mle_star::config::{Format, Price};
use mle_star::effects::Usage;
use serde_json::Value;

use crate::failure::Failure;
use crate::{chat, responses};

/// The parts of an answer so far.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Collected {
    pub(crate) text: String,
    /// The words with which the model refused.
    pub(crate) refusal: String,
    /// Whether it sent its thoughts.
    pub(crate) has_reasoned: bool,
    pub(crate) end: Option<End>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) failure: Option<Failure>,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    /// At the limit of tokens.
    Length,
    /// Stopped by a filter.
    Filter,
    /// For another reason, such as a call of a tool.
    Other(String),
}

/// Tokens as the endpoint counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Read, cached ones included.
    pub(crate) input: u64,
    /// Read from a cache.
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

impl Collected {
    /// Takes the data of one event. `Err` is an event that cannot be read.
    pub(crate) fn take(&mut self, format: Format, data: &str) -> Result<(), String> {
        if data.trim() == "[DONE]" {
            self.end.get_or_insert(End::Complete);
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|_| beginning(data))?;
        match format {
            Format::Chat => chat::event(self, &event),
            Format::Responses => responses::event(self, &event),
        }
        self.failure = self.failure.take().or_else(|| Failure::reported(&event));
        Ok(())
    }

    /// Takes an answer in one document. `Err` is one that cannot be read.
    pub(crate) fn whole(format: Format, document: &[u8]) -> Result<Self, String> {
        let mut collected = Self::default();
        let unreadable = |_| beginning(&String::from_utf8_lossy(document));
        let document: Value = serde_json::from_slice(document).map_err(unreadable)?;
        match format {
            Format::Chat => chat::document(&mut collected, &document),
            Format::Responses => responses::document(&mut collected, &document),
        }
        collected.failure = collected.failure.or_else(|| Failure::reported(&document));
        Ok(collected)
    }

    /// How the attempt ended, now that nothing more will come.
    pub(crate) fn outcome(self, wants_structure: bool) -> Outcome {
        let text = self.text;
        let characters = text.chars().count();
        match self.end {
            _ if !self.refusal.is_empty() => Outcome::Failed(format!("the model refused: {}", self.refusal)),
            None => Outcome::Died(format!("the answer broke off after {characters} characters")),
            Some(End::Length) => Outcome::Failed(format!(
                "the answer was cut off at the limit of tokens, after {characters} characters"
            )),
            Some(End::Filter) => Outcome::Failed("the endpoint's filter stopped the answer".to_owned()),
            Some(End::Other(why)) if text.trim().is_empty() => {
                Outcome::Died(format!("the answer is empty ({why})"))
            }
            _ if text.trim().is_empty() && self.has_reasoned => {
                Outcome::Died("the answer is empty: the model only reasoned".to_owned())
            }
            _ if text.trim().is_empty() => Outcome::Died("the answer is empty".to_owned()),
            _ => {
                let structured = wants_structure.then(|| serde_json::from_str(&text).ok()).flatten();
                Outcome::Answered { text, structured }
            }
        }
    }
}

impl Tokens {
    /// The usage of a call, with its cost if the model has a price.
    pub(crate) fn usage(self, price: Option<&Price>) -> Usage {
        let Self { input, output, .. } = self;
        let cached = self.cached.min(input);
        let own = input - cached;
        #[expect(clippy::cast_precision_loss, reason = "no call has that many tokens")]
        let cost = |price: &Price| {
            let of_cache = price.cached_input.unwrap_or(price.input);
            (own as f64 * price.input + cached as f64 * of_cache + output as f64 * price.output) / 1e6
        };
        Usage { cost_usd: price.map(cost), input: own, output, cache_read: cached, cache_write: 0 }
    }
}

/// The beginning of something unreadable, for a reason.
pub(crate) fn beginning(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_complete_or_fails_for_a_reason() {
        let collected =
            |text: &str, end: Option<End>| Collected { text: text.to_owned(), end, ..Collected::default() };
        let check = |collected: Collected, expected: &str| {
            let outcome = format!("{:?}", collected.outcome(true));
            assert!(outcome.starts_with(expected), "{outcome}, expected {expected}");
        };
        check(collected("text", Some(End::Complete)), "Answered { text: \"text\", structured: None }");
        check(
            collected("{\"a\":1}", Some(End::Complete)),
            "Answered { text: \"{\\\"a\\\":1}\", structured: Some(",
        );
        check(collected("text", Some(End::Other("eos".to_owned()))), "Answered");
        check(
            collected(" ", Some(End::Other("tool_calls".to_owned()))),
            "Died(\"the answer is empty (tool_calls)",
        );
        check(collected("\n", Some(End::Complete)), "Died(\"the answer is empty\")");
        check(collected("half", None), "Died(\"the answer broke off after 4 characters");
        check(collected("half", Some(End::Length)), "Failed(\"the answer was cut off");
        check(collected("half", Some(End::Filter)), "Failed(\"the endpoint's filter");
        let reasoned = Collected { has_reasoned: true, ..collected("", Some(End::Complete)) };
        check(reasoned, "Died(\"the answer is empty: the model only");
        let refused = Collected { refusal: "no".to_owned(), ..collected("", Some(End::Complete)) };
        check(refused, "Failed(\"the model refused: no");
        let unstructured = collected("{}", Some(End::Complete)).outcome(false);
        assert_eq!(unstructured, Outcome::Answered { text: "{}".to_owned(), structured: None });
    }

    #[test]
    fn the_cost_follows_the_price_and_is_unknown_without_one() {
        let check = |tokens: Tokens, price: Value, expected: f64| {
            let price: Price = serde_json::from_value(price).unwrap();
            let cost = tokens.usage(Some(&price)).cost_usd.unwrap();
            assert!((cost - expected).abs() < 1e-12, "{cost}, expected {expected}");
        };
        let tokens = Tokens { input: 1000, cached: 400, output: 100 };
        check(tokens, json!({"input": 2.0, "output": 10.0}), 0.003);
        check(tokens, json!({"input": 2.0, "output": 10.0, "cached_input": 0.5}), 0.0024);
        check(tokens, json!({"input": 0, "output": 0}), 0.0);
        // Some servers count cached tokens that they do not count as read.
        check(Tokens { cached: 5000, ..tokens }, json!({"input": 1.0, "output": 0}), 0.001);
        let unknown = tokens.usage(None);
        let expected = Usage { cost_usd: None, input: 600, output: 100, cache_read: 400, cache_write: 0 };
        assert_eq!(unknown, expected);
    }
}
