//! What follows from an error that `codex` prints: it prints words, and few of them hold a status.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use mle_star::attempts::{self, Outcome, Permanent};
use mle_star_domain::trouble::Trouble;
use serde_json::Value;

const INSTALL: &str = "`npm install -g @openai/codex`";
/// How much of an error is shown, in characters.
const MAX_SHOWN_CHARS: usize = 300;

const LOGIN: Permanent = Permanent::login("check CODEX_API_KEY or the login that `mle-star doctor` shows");
const NO_API: Permanent = Permanent::new(
    "the service does not answer questions in the responses format (404)",
    "check the address that codex is set up with",
);

/// The outcome of an error.
pub(crate) fn error(message: &str) -> Outcome {
    let words = words(message);
    let (lower, status) = (message.to_lowercase(), status(message));
    let says = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
    let permanent = match status {
        Some(401 | 403) => Some(LOGIN),
        Some(402) => Some(Permanent::CREDIT),
        _ if says(&["missing environment variable", "not logged in", "sign in again", "log in again"]) => {
            Some(LOGIN)
        }
        _ if says(&["quota exceeded", "insufficient_quota", "insufficient credit", "out of credits"]) => {
            Some(Permanent::CREDIT)
        }
        _ if says(&["usage limit"]) => Some(Permanent::PLAN),
        _ if says(&["model"]) && says(&["does not exist", "not supported when", "model_not_found"]) => {
            Some(Permanent::MODEL)
        }
        Some(404) => Some(NO_API),
        _ => None,
    };
    if let Some(permanent) = permanent {
        return Outcome::Fatal(permanent.trouble(&words));
    }
    match status {
        Some(429) => return busy(format!("the service limits the rate of requests (429): {words}")),
        Some(status @ (408 | 500..=599)) => {
            return busy(format!("the service reports an error ({status}): {words}"));
        }
        Some(_) => return Outcome::Failed(words),
        None => {}
    }
    if says(&["rate limit", "high demand", "at capacity", "overloaded"]) {
        return busy(format!("the service is overloaded: {words}"));
    }
    if says(&["connection failed", "lookup address", "error sending request"]) {
        return busy(format!("the service cannot be reached: {words}"));
    }
    if says(&["stream disconnected"]) && !says(&["content_filter"]) {
        return Outcome::Died(words);
    }
    Outcome::Failed(words)
}

/// Whether an error is a refused login. A token may be renewed meanwhile.
pub(crate) fn is_refused_login(outcome: &Outcome) -> bool {
    LOGIN.is(outcome)
}

/// Whether a repeated request decides the outcome: repeating it again would be in vain, or the program does it better.
pub(crate) fn is_decided(message: &str, outcome: &Outcome) -> bool {
    // Where proxies refuse web sockets, `codex` tries them a few times before it asks without.
    let by_web_socket = message.contains("url: ws");
    match outcome {
        Outcome::Fatal(_) if by_web_socket => status(message) == Some(401),
        Outcome::Fatal(_) => true,
        Outcome::Failed(_) => !by_web_socket,
        Outcome::Busy { .. } => status(message) == Some(429),
        Outcome::Died(_) | Outcome::Answered { .. } | Outcome::OverBudget => false,
    }
}

/// The outcome of a process that ended by itself.
pub(crate) fn death(status: Option<ExitStatus>, stderr: &str, last_error: Option<&str>) -> Outcome {
    if stderr.contains("unexpected argument") {
        let said = stderr.lines().find(|line| line.contains("unexpected argument")).unwrap_or_default();
        return Outcome::Fatal(Trouble::new(
            format!("codex is too old: {}", words(said)),
            format!("update it with {INSTALL}"),
        ));
    }
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).map(words);
    let why = last_error.map(words).or(last).unwrap_or_else(|| "no error message".to_owned());
    let how =
        status.map_or_else(|| "codex was killed".to_owned(), |status| format!("codex ended ({status})"));
    Outcome::Died(format!("{how} without an answer: {why}"))
}

/// The outcome of a process that cannot be started.
pub(crate) fn start_error(executable: &Path, error: &io::Error) -> Outcome {
    let hint = format!("install it with {INSTALL}, or set MLE_STAR_CODEX_PATH to its path");
    attempts::start_error(executable, error, &hint)
}

fn busy(reason: String) -> Outcome {
    Outcome::Busy { reason, advised: Duration::ZERO }
}

/// The HTTP status in a message, such as `unexpected status 401 Unauthorized: …`.
fn status(message: &str) -> Option<u16> {
    let after = message.split_once("status ").or_else(|| message.split_once("status: "))?.1;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// An error in one line. Errors of a service may come as its JSON.
fn words(message: &str) -> String {
    let json = serde_json::from_str::<Value>(message).ok();
    let inner = json.as_ref().and_then(|json| json["error"]["message"].as_str());
    let line = inner.unwrap_or(message).trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_failure_temporary_or_permanent() {
        let check = |message: &str, expected: &str| {
            let outcome = format!("{:?}", error(message));
            assert!(outcome.starts_with(expected), "{message}: {outcome}, expected {expected}");
        };
        let fatal = |what: &str| format!("Fatal(Trouble {{ message: \"{what}");
        let url = ", url: http://127.0.0.1/v1/responses";
        check(
            &format!("unexpected status 401 Unauthorized: Incorrect API key{url}"),
            &fatal("the login was refused"),
        );
        check("Missing environment variable: `CODEX_API_KEY`.", &fatal("the login was refused"));
        check("unexpected status 402 Payment Required: pay", &fatal("the account has no credit"));
        check("Quota exceeded. Check your plan and billing details.", &fatal("the account has no credit"));
        check("You’ve hit your usage limit. Upgrade to Pro", &fatal("the plan's usage limit"));
        check(
            &format!("unexpected status 404 Not Found: {url}"),
            &fatal("the service does not answer questions"),
        );
        check("unexpected status 502 Bad Gateway: x", "Busy { reason: \"the service reports an error (502)");
        check("rate limit exceeded: Please try again in 2s.", "Busy { reason: \"the service is overloaded");
        check(
            "We’re currently experiencing high demand, which",
            "Busy { reason: \"the service is overloaded",
        );
        check("stream disconnected before completion: oh", "Died(");
        check(
            "stream disconnected before completion: Incomplete response returned, reason: content_filter",
            "Failed(",
        );
        check("unexpected status 413 Payload Too Large: <html>", "Failed(");
    }

    #[test]
    fn a_repeated_request_decides_if_repeating_is_in_vain() {
        let check = |message: &str, expected: bool| {
            assert_eq!(is_decided(message, &error(message)), expected, "{message}");
        };
        check("unexpected status 401 Unauthorized: no, url: https://a.org/v1/responses", true);
        check("unexpected status 401 Unauthorized: no, url: wss://a.org/v1/responses", true);
        check("unexpected status 404 Not Found: no, url: wss://a.org/v1/responses", false);
        check("unexpected status 404 Not Found: no, url: https://a.org/v1/responses", true);
        check("exceeded retry limit, last status: 429 Too Many Requests", true);
        check("stream disconnected before completion: stream closed", false);
        check("We’re currently experiencing high demand", false);
        check("unexpected status 413 Payload Too Large", true);
    }
}
