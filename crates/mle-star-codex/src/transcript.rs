//! What `codex` has said in one conversation: the events of `--json`.

use std::time::Duration;

use mle_star::tokens::Tokens;
use mle_star_domain::config::Price;
use mle_star_domain::effects::{Lookup, Usage};
use serde_json::Value;

use crate::invocation::WEB_SEARCH;

/// The tool that stands for a page which `codex` opens.
pub(crate) const WEB_FETCH: &str = "WebFetch";
/// The beginning of the message about a request that `codex` repeats.
const RETRY: &str = "Reconnecting... ";
/// The wait before its first repetition; each one is twice as long.
const MIN_RETRY_WAIT: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(crate) struct Transcript {
    /// The last text of the agent.
    pub(crate) text: String,
    pub(crate) lookups: Vec<Lookup>,
    tokens: Option<Tokens>,
    /// The last error that was printed.
    pub(crate) error: Option<String>,
    /// A request may have been sent.
    pub(crate) is_requested: bool,
    /// How many answers broke off. Their tokens are not reported.
    pub(crate) broken: u32,
}

/// What follows from a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineEffect {
    /// Nothing, so far.
    Nothing,
    /// A use of the web, which is the last of the lookups.
    Lookup,
    /// A request is repeated.
    Retry(Retry),
    /// The turn ended: with an answer, or with an error.
    Ended(Option<String>),
}

/// A request that `codex` repeats.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// Counts from 1; `None`: it goes on until there is a connection.
    pub(crate) nth: Option<u32>,
    pub(crate) reason: String,
}

impl Retry {
    fn of(message: &str) -> Option<Self> {
        let (count, reason) = message.strip_prefix(RETRY)?.split_once(" (")?;
        let nth = count.split('/').next().and_then(|nth| nth.parse().ok());
        Some(Self { nth, reason: reason.strip_suffix(')').unwrap_or(reason).to_owned() })
    }

    /// About how long `codex` waits.
    pub(crate) fn wait(&self) -> Duration {
        MIN_RETRY_WAIT * (1 << self.nth.unwrap_or(1).saturating_sub(1).min(5))
    }
}

impl Transcript {
    /// Reads one line. What is no event is ignored.
    pub(crate) fn read(&mut self, line: &str) -> LineEffect {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let message = |value: &Value| value["message"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "turn.started" => {
                self.is_requested = true;
                LineEffect::Nothing
            }
            "item.completed" => self.item(&event["item"]),
            "error" => {
                let message = message(&event);
                if let Some(retry) = Retry::of(&message) {
                    return LineEffect::Retry(retry);
                }
                self.error = Some(message);
                LineEffect::Nothing
            }
            "turn.completed" => {
                self.tokens = tokens(&event["usage"]);
                LineEffect::Ended(None)
            }
            "turn.failed" => LineEffect::Ended(Some(message(&event["error"]))),
            _ => LineEffect::Nothing,
        }
    }

    fn item(&mut self, item: &Value) -> LineEffect {
        match item["type"].as_str().unwrap_or_default() {
            "agent_message" => {
                let text = item["text"].as_str().unwrap_or_default();
                if !text.trim().is_empty() {
                    text.clone_into(&mut self.text);
                }
                LineEffect::Nothing
            }
            "web_search" => {
                let page = item["action"]["url"].as_str();
                let (tool, what) =
                    page.map_or((WEB_SEARCH, item["query"].as_str()), |page| (WEB_FETCH, Some(page)));
                let what = what.unwrap_or_default().to_owned();
                self.lookups.push(Lookup { tool: tool.to_owned(), what, failure: None });
                LineEffect::Lookup
            }
            _ => LineEffect::Nothing,
        }
    }

    /// What the conversation used. The tokens of answers that broke off are unknown, and so is their cost.
    pub(crate) fn usage(&self, price: Option<&Price>) -> Usage {
        let usage = self.tokens.map_or_else(Usage::default, |tokens| tokens.usage(price));
        Usage { cost_usd: usage.cost_usd.filter(|_| self.broken == 0), ..usage }
    }
}

/// The totals of the conversation, over all its requests. `codex` reports zeros if the service reports nothing.
fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |name: &str| usage[name].as_u64();
    let (input, output) = (count("input_tokens")?, count("output_tokens").unwrap_or(0));
    let cached = count("cached_input_tokens").unwrap_or(0);
    (input + output > 0).then_some(Tokens { input, cached, output })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn repeated_requests_are_told_apart_from_errors() {
        let check = |message: &str, expected: Option<(Option<u32>, &str, u64)>| {
            let found = Retry::of(message);
            let wait = found.as_ref().map(|retry| u64::try_from(retry.wait().as_millis()).unwrap());
            let found = found.as_ref().map(|retry| (retry.nth, retry.reason.as_str()));
            assert_eq!(found.zip(wait).map(|((nth, why), wait)| (nth, why, wait)), expected, "{message}");
        };
        check("Reconnecting... 3/5 (gone (really))", Some((Some(3), "gone (really)", 800)));
        check(
            "Reconnecting... waiting for network (Connection failed)",
            Some((None, "Connection failed", 200)),
        );
        check("exceeded retry limit, last status: 429 Too Many Requests", None);
    }

    #[test]
    fn unreported_tokens_are_unknown() {
        assert_eq!(tokens(&json!({"input_tokens": 0, "output_tokens": 0})), None);
        assert_eq!(tokens(&json!(null)), None);
    }
}
