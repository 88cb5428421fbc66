//! What an endpoint reports instead of an answer, and what follows from it.

use std::time::Duration;

use mle_star::attempts::Outcome;
use mle_star_domain::trouble::Trouble;
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::http::Broken;

/// An error that the endpoint reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The HTTP status, or the code in its place.
    pub(crate) status: Option<u16>,
    /// Its kind in the endpoint's words, such as `insufficient_quota`.
    pub(crate) kind: String,
    pub(crate) message: String,
}

/// Where an error occurred.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'a> {
    pub(crate) endpoint: &'a Endpoint,
    /// The variable that holds the key.
    pub(crate) key_variable: &'a str,
    pub(crate) model: &'a str,
}

impl Failure {
    /// The error in a response with an error status.
    pub(crate) fn of_response(status: u16, body: &[u8]) -> Self {
        // Gateways may put an error into an event, as the stream would have had.
        let body = body.trim_ascii_start();
        let body = body
            .strip_prefix(b"data:")
            .and_then(|body| body.split(|byte| *byte == b'\n').next())
            .unwrap_or(body);
        let reported = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::reported(&value).unwrap_or_default(),
            // A page is no message.
            Err(_) if body.starts_with(b"<") => Self::default(),
            Err(_) => Self { message: beginning(&String::from_utf8_lossy(body)), ..Self::default() },
        };
        Self { status: Some(status), ..reported }
    }

    /// The error in a document or an event, if it is one. Each server has its own form.
    pub(crate) fn reported(value: &Value) -> Option<Self> {
        let value = value.get(0).unwrap_or(value);
        let is_event = value["type"] == "error";
        let error = [&value["error"], &value["response"]["error"]].into_iter().find(|error| !error.is_null());
        let error = error.or_else(|| (is_event || value["object"] == "error").then_some(value));
        let Some(error) = error else {
            // Frameworks report errors of their own under these names, but no answer has them.
            let own = ["detail", "message"].iter().find_map(|key| value[*key].as_str())?;
            return Some(Self { message: beginning(own), ..Self::default() });
        };
        let text = |key: &str| error[key].as_str().unwrap_or_default();
        let code = &error["code"];
        let status = code.as_u64().or_else(|| text("code").parse().ok()).or_else(|| error["status"].as_u64());
        // Gateways hide the error of the service behind them in one of their own.
        let raw = error["metadata"]["raw"].as_str().map(beginning).unwrap_or_default();
        let message = error.as_str().unwrap_or_else(|| text("message"));
        let message =
            [beginning_of(message), raw].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        let kinds = [text("code"), text("type"), text("status")];
        let kind = kinds.into_iter().filter(|kind| !kind.is_empty() && *kind != "error").collect::<Vec<_>>();
        Some(Self {
            status: status.and_then(|status| u16::try_from(status).ok()),
            kind: kind.join(" "),
            message: message.join(": "),
        })
    }

    /// All that the endpoint says about it.
    pub(crate) fn words(&self) -> String {
        let kind = if self.message.is_empty() { self.kind.as_str() } else { "" };
        format!("{}{kind}", self.message)
    }

    /// What follows: the call is repeated, has failed, or the run stops.
    pub(crate) fn outcome(&self, at: At<'_>, advised: Duration) -> Outcome {
        let words = at.endpoint.redact(&self.words());
        if let Some(trouble) = self.permanent(at, &words) {
            return Outcome::Fatal(trouble);
        }
        match self.status {
            Some(status @ (408 | 425 | 429 | 500..=599)) => {
                Outcome::Busy { reason: busy(status, &words), advised }
            }
            None if self.is_overload() => Outcome::Busy { reason: busy(503, &words), advised },
            Some(status) if words.is_empty() => {
                Outcome::Failed(format!("the endpoint refuses the request ({status})"))
            }
            Some(status) => Outcome::Failed(format!("the endpoint refuses the request ({status}): {words}")),
            None => Outcome::Died(format!("the endpoint reports an error: {words}")),
        }
    }

    fn is_overload(&self) -> bool {
        let kind = self.kind.to_lowercase();
        ["overloaded", "rate_limit", "server_error", "unavailable", "timeout"]
            .iter()
            .any(|word| kind.contains(word))
    }

    /// An error that only a person can fix, or that lasts for hours.
    fn permanent(&self, at: At<'_>, words: &str) -> Option<Trouble> {
        let said = format!("{} {}", self.kind, self.message).to_lowercase();
        let says = |texts: &[&str]| texts.iter().any(|text| said.contains(text));
        let (key, model, address) = (at.key_variable, at.model, at.endpoint.address());
        let format = format!("{:?}", at.endpoint.format()).to_lowercase();
        let tells_model = says(&[
            "model_not_found",
            "model not found",
            "no such model",
            "not a valid model",
            "invalid model",
        ]) || says(&["model"])
            && says(&["does not exist", "not found", "not supported", "unknown model"])
            && !says(&PARAMETER_WORDS);
        let names_model = says(&["model", "no endpoints found"]) || said.contains(&model.to_lowercase());
        let is_credit =
            says(&["insufficient_quota", "insufficient_credit", "insufficient balance", "credit balance"]);
        let (message, hint, can_resume) = match self.status {
            Some(402) => (CREDIT.to_owned(), format!("add credit, or put another key into {key}"), true),
            _ if is_credit => (CREDIT.to_owned(), format!("add credit, or put another key into {key}"), true),
            Some(403) if says(&["moderat", "flagged"]) && !says(&["account", "organization"]) => return None,
            Some(401 | 403) if at.endpoint.has_key() => {
                ("the endpoint refuses the key".to_owned(), format!("check {key} and openai.url"), true)
            }
            Some(401 | 403) => ("the endpoint asks for a key".to_owned(), format!("put it into {key}"), true),
            Some(404) if words.is_empty() || !names_model => (
                format!("there is no {format} API at {address} (404)"),
                "set openai.url to the address before /chat/completions, often one that ends with /v1"
                    .to_owned(),
                false,
            ),
            Some(400 | 404) if tells_model || self.status == Some(404) => {
                // The model is frozen with the run.
                let hint = "start a new run with another --model or agent_models; `mle-star doctor` lists the models";
                (format!("the endpoint does not know the model {model}"), hint.to_owned(), false)
            }
            _ => return None,
        };
        let message = if words.is_empty() { message } else { format!("{message}: {words}") };
        Some(Trouble { then_resume: can_resume, ..Trouble::new(message, hint) })
    }
}

/// Words about something else than the model in a request that names it.
const PARAMETER_WORDS: [&str; 6] = [
    "parameter",
    "unsupported value",
    "unsupported_value",
    "with this model",
    "by this model",
    "for this model",
];

const CREDIT: &str = "the account has no credit left";

/// What follows from a connection that failed.
pub(crate) fn broken(broken: Broken, at: At<'_>) -> Outcome {
    let address = at.endpoint.address();
    match broken {
        Broken::Unreachable(why) => Outcome::Busy {
            reason: format!("{address} cannot be reached: {}", at.endpoint.redact(&why)),
            advised: Duration::ZERO,
        },
        Broken::Lost(why) => {
            Outcome::Died(format!("the connection to {address} ended: {}", at.endpoint.redact(&why)))
        }
        Broken::Tls(why) => Outcome::Fatal(Trouble::resumable(
            format!("no secure connection to {address}: {why}"),
            "check openai.url, and the certificates of this machine (SSL_CERT_FILE names others)",
        )),
    }
}

/// What follows from a redirect, which is not followed: the key belongs to this endpoint alone.
pub(crate) fn redirected(to: &str, at: At<'_>) -> Outcome {
    let address = at.endpoint.address();
    let message = format!("{address} redirects to {}", beginning(&at.endpoint.redact(to)));
    Outcome::Fatal(Trouble::new(message, "set openai.url to the address that it redirects to"))
}

fn busy(status: u16, words: &str) -> String {
    let what = match status {
        429 => "the endpoint limits the rate of requests (429)".to_owned(),
        503 | 529 => format!("the endpoint is overloaded ({status})"),
        status => format!("the endpoint reports an error ({status})"),
    };
    if words.is_empty() { what } else { format!("{what}: {words}") }
}

/// The first line, for messages: enough to understand an error.
fn beginning_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

/// The beginning of something unreadable, for a reason.
pub(crate) fn beginning(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use mle_star_domain::config::Format;
    use serde_json::json;

    use super::*;
    use crate::endpoint::Key;

    fn endpoint(key: &str) -> Endpoint {
        Endpoint::new("http://example.org/v1", Key::new(key).unwrap(), Format::Chat).unwrap()
    }

    fn outcome(status: u16, body: &str, key: &str) -> Outcome {
        let endpoint = endpoint(key);
        let at = At { endpoint: &endpoint, key_variable: "OPENAI_API_KEY", model: "m" };
        Failure::of_response(status, body.as_bytes()).outcome(at, Duration::ZERO)
    }

    #[test]
    fn an_error_is_a_failure_temporary_or_permanent() {
        let check = |status, body: Value, expected: &str| {
            let outcome = format!("{:?}", outcome(status, &body.to_string(), "sk-secret-key"));
            assert!(outcome.contains(expected), "{outcome}, expected {expected}");
            assert!(!outcome.contains("secret"), "{outcome}");
        };
        let error = |kind: &str, message: &str| json!({"error": {"type": kind, "message": message}});
        check(503, error("", "Loading model"), "Busy { reason: \"the endpoint is overloaded (503): Loading");
        check(403, json!({"detail": "no"}), "Fatal(Trouble { message: \"the endpoint refuses the key: no");
        check(404, error("", "No endpoints found for m."), "does not know the model m: No endpoints");
        check(
            403,
            error("", "your input was flagged"),
            "Failed(\"the endpoint refuses the request (403): your",
        );
        check(400, error("", "model 'm' not found"), "does not know the model m");
        check(
            413,
            json!([{"error": {"code": 413, "message": "big"}}]),
            "Failed(\"the endpoint refuses the request (413): big",
        );
        let nested = json!({"error": {"code": 429, "message": "Provider returned error", "metadata": {"raw": "m is busy"}}});
        check(429, nested, "Provider returned error: m is busy");
    }

    #[test]
    fn a_missing_key_is_told_apart_from_a_refused_one() {
        let Outcome::Fatal(trouble) = outcome(401, "<html>Unauthorized</html>", "") else { panic!() };
        assert_eq!(
            (trouble.message.as_str(), trouble.hint.as_str()),
            ("the endpoint asks for a key", "put it into OPENAI_API_KEY")
        );
        assert!(trouble.then_resume);
    }
}
