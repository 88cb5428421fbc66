//! Classifies how an attempt ended: with an answer, a failure of the agent, a temporary error or a permanent one.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use mle_star::attempts::{self, Outcome, Permanent};
use mle_star_domain::effects::Usage;
use mle_star_domain::trouble::Trouble;
use serde_json::Value;

use crate::protocol::{Ended, System};
use crate::transcript::Transcript;

/// The oldest `claude` that takes prompts literally, without expanding `@file` or `/command`; older ones
/// also lack options.
pub const MIN_CLAUDE_VERSION: [u32; 3] = [2, 1, 248];
/// Retries after a refused login before it is permanent: a token may be renewed meanwhile.
const LOGIN_RETRIES: u32 = 1;

const INSTALL: &str = "`npm install -g @anthropic-ai/claude-code`";
const LOGIN: Permanent =
    Permanent::login("check ANTHROPIC_API_KEY or the login that `mle-star doctor` shows");

/// Whether the attempt ended with a refused login.
pub(crate) fn is_refused_login(outcome: &Outcome) -> bool {
    LOGIN.is(outcome)
}

/// The outcome of a turn that ended, with all the text of the agent.
pub(crate) fn turn(ended: &Ended, text: &str, transcript: &Transcript) -> Outcome {
    if ended.subtype == "error_max_budget_usd" {
        return over_budget(ended, transcript);
    }
    if ended.is_error {
        return error(ended, transcript.was_retried);
    }
    if let Some(line) = &transcript.unreadable {
        return Outcome::Failed(format!("a part of the answer cannot be read: {line}"));
    }
    let text = if text.trim().is_empty() { ended.result.as_deref().unwrap_or_default() } else { text };
    let structured = ended.structured_output.clone();
    match (text.trim().is_empty(), &structured) {
        (true, None) => Outcome::Failed("the answer is empty".to_owned()),
        (true, Some(value)) => Outcome::Answered { text: value.to_string(), structured },
        (false, _) => Outcome::Answered { text: text.to_owned(), structured },
    }
}

/// `claude` calls even a finished answer an error if it went over the budget. It was paid for, so it counts.
fn over_budget(ended: &Ended, transcript: &Transcript) -> Outcome {
    let is_finished = ended.stop_reason.as_deref() == Some("end_turn") && transcript.unreadable.is_none();
    let text = transcript.text();
    match &transcript.structured {
        Some(value) => Outcome::Answered { text: value.to_string(), structured: Some(value.clone()) },
        None if is_finished && !text.trim().is_empty() => Outcome::Answered { text, structured: None },
        None => Outcome::OverBudget,
    }
}

fn error(ended: &Ended, was_retried: bool) -> Outcome {
    let words = error_text(ended);
    let api_error = ended.api_error.as_ref().and_then(Value::as_str).unwrap_or_default();
    if ended.subtype == "error_max_structured_output_retries" {
        return Outcome::Failed("the answer does not match the requested schema".to_owned());
    }
    if ended.stop_reason.as_deref() == Some("refusal") {
        return Outcome::Failed(format!("the model refused: {words}"));
    }
    if let Some(trouble) = permanent(ended.api_error_status, api_error, &words) {
        return Outcome::Fatal(trouble);
    }
    if is_temporary(ended.api_error_status, api_error, &words) {
        let reason = busy(ended.api_error_status, api_error);
        return Outcome::Busy { reason, advised: Duration::ZERO };
    }
    if words.contains("empty or malformed response") {
        // `claude` retries a broken connection by itself, but not a reply that it cannot read.
        return if was_retried {
            Outcome::Busy { reason: busy(None, ""), advised: Duration::ZERO }
        } else {
            Outcome::Died(format!("the service sent an unreadable reply: {words}"))
        };
    }
    Outcome::Failed(words)
}

/// The outcome of an error that `claude` is about to retry; `None` to let it.
pub(crate) fn retry(system: &System) -> Option<Outcome> {
    let is_login = matches!(system.error_status, Some(401 | 403)) && system.attempt > LOGIN_RETRIES;
    is_login.then(|| permanent(system.error_status, "", system.error_name()).map(Outcome::Fatal)).flatten()
}

/// The outcome of a process that ended by itself.
pub(crate) fn death(status: Option<ExitStatus>, stderr: &str, unreadable: Option<&str>) -> Outcome {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    if let Some(line) = stderr.lines().find(|line| line.contains("unknown option")) {
        return Outcome::Fatal(too_old(line.trim()));
    }
    // Other lines, such as warnings, are not the cause.
    if let Some(trouble) = stderr.lines().find_map(|line| permanent(None, "", line)) {
        return Outcome::Fatal(trouble);
    }
    let how =
        status.map_or_else(|| "claude was killed".to_owned(), |status| format!("claude ended ({status})"));
    let why = if last.is_empty() { unreadable.unwrap_or("no error message") } else { last };
    Outcome::Died(format!("{how} without an answer: {why}"))
}

/// The outcome of a process that cannot be started.
pub(crate) fn start_error(executable: &Path, error: &io::Error) -> Outcome {
    let hint = format!("install it with {INSTALL}, or set MLE_STAR_CLAUDE_PATH to its path");
    attempts::start_error(executable, error, &hint)
}

/// The cost of a turn. It is unknown if the price of a model is: `claude` then reports that of another model.
pub(crate) fn usage(ended: &Ended) -> Usage {
    let models = || ended.model_usage.values();
    let is_guessed = models().any(|model| model.cost_basis.as_deref() == Some("unknown"));
    Usage {
        cost_usd: ended.total_cost_usd.filter(|_| !is_guessed),
        input: models().map(|model| model.input_tokens).sum(),
        output: models().map(|model| model.output_tokens).sum(),
        cache_read: models().map(|model| model.cache_read_input_tokens).sum(),
        cache_write: models().map(|model| model.cache_creation_input_tokens).sum(),
        ..Usage::default()
    }
}

/// The description of a temporary error.
pub(crate) fn busy(status: Option<u16>, error: &str) -> String {
    match (status, error) {
        (Some(429), _) => "the service limits the rate of requests (429)".to_owned(),
        (Some(401 | 403), _) => "the login was refused".to_owned(),
        (Some(529), _) | (None, "overloaded") => "the service is overloaded (529)".to_owned(),
        (Some(status), _) => format!("the service reports an error ({status})"),
        (None, "unknown" | "" | "connection_failed") => "the service cannot be reached".to_owned(),
        (None, error) => format!("the service cannot be reached ({error})"),
    }
}

fn is_temporary(status: Option<u16>, api_error: &str, words: &str) -> bool {
    if matches!(api_error, "no_response" | "computer_slept") || words.to_lowercase().contains("timed out") {
        return true;
    }
    match status {
        Some(status) => matches!(status, 408 | 429 | 500..=599),
        None => ["connection", "timeout", "overloaded", "server_error", "rate_limit"]
            .iter()
            .any(|word| api_error.contains(word)),
    }
}

/// An error that only a person can fix, or that lasts for hours.
fn permanent(status: Option<u16>, api_error: &str, words: &str) -> Option<Trouble> {
    let lower = words.to_lowercase();
    let says = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
    let permanent = match (api_error, status) {
        ("usage_limit_reached", _) => Permanent::PLAN,
        ("claude_code_version_too_old", _) => return Some(too_old(words)),
        (
            "provider_credentials"
            | "gateway_session_expired"
            | "gateway_signin_required"
            | "stored_login_refused"
            | "api_key_auth_disabled",
            _,
        ) => LOGIN,
        _ if says(&["credit balance is too low", "insufficient credit"]) => Permanent::CREDIT,
        (_, Some(402)) => Permanent::CREDIT,
        (_, Some(401 | 403)) => LOGIN,
        _ if says(&["not logged in", "please run /login", "invalid api key"]) => LOGIN,
        (_, Some(404)) => Permanent::MODEL,
        _ => return None,
    };
    Some(permanent.trouble(first_line(words)))
}

/// A `claude` that lacks an option.
fn too_old(said: &str) -> Trouble {
    let [major, minor, patch] = MIN_CLAUDE_VERSION;
    Trouble::new(
        format!("claude is too old: {said}"),
        format!("update it to {major}.{minor}.{patch} or newer: {INSTALL}"),
    )
}

fn error_text(ended: &Ended) -> String {
    let result = ended.result.as_deref().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let errors = || ended.errors.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ");
    let text = result.unwrap_or_else(errors);
    if text.is_empty() { ended.subtype.clone() } else { first_line(&text).to_owned() }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ended(value: Value) -> Ended {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_error_is_a_failure_temporary_or_permanent() {
        let check = |value: Value, expected: &str| {
            let outcome = turn(&ended(value), "", &Transcript::default());
            let outcome = format!("{outcome:?}");
            assert!(outcome.starts_with(expected), "{outcome}, expected {expected}");
        };
        let error = |status: u16, text: &str| json!({"subtype": "success", "is_error": true, "api_error_status": status, "result": text});
        check(error(500, "API Error"), "Busy");
        check(error(403, "forbidden"), "Fatal(Trouble { message: \"the login was refused");
        check(
            json!({"is_error": true, "stop_reason": "refusal", "result": "no"}),
            "Failed(\"the model refused",
        );
        check(json!({"is_error": true, "result": "Not logged in · Please run /login"}), "Fatal");
        let typed = |kind: &str| json!({"is_error": true, "api_error": kind, "result": "API Error"});
        check(typed("usage_limit_reached"), "Fatal(Trouble { message: \"the plan's usage limit");
        check(typed("gateway_session_expired"), "Fatal(Trouble { message: \"the login was refused");
        check(typed("claude_code_version_too_old"), "Fatal(Trouble { message: \"claude is too old");
        check(typed("no_response"), "Busy");
        check(json!({"is_error": true, "result": "Request timed out."}), "Busy");
        check(json!({"is_error": true, "subtype": "error_new"}), "Failed(\"error_new\")");
    }

    #[test]
    fn a_structured_answer_counts_although_it_went_over_the_budget() {
        let mut transcript = Transcript::default();
        transcript.structured = Some(json!({"a": 1}));
        let over = ended(json!({"subtype": "error_max_budget_usd", "stop_reason": "tool_use"}));
        assert!(matches!(turn(&over, "", &transcript), Outcome::Answered { structured: Some(_), .. }));
    }

    #[test]
    fn the_line_that_says_why_is_quoted() {
        let check = |stderr: &str, said: &str| {
            let outcome = format!("{:?}", death(None, stderr, None));
            assert!(outcome.starts_with("Fatal") && outcome.contains(said), "{outcome}");
            assert!(!outcome.contains("Warning") && !outcome.contains("Did you mean"), "{outcome}");
        };
        let login = "Invalid API key · Please run /login";
        check(&format!("(node:71) ExperimentalWarning: x\n{login}"), login);
        let option = "error: unknown option '--json-schema'";
        check(&format!("{option}\n(Did you mean --json-x?)"), option);
    }

    #[test]
    fn a_guessed_price_is_unknown() {
        let check = |value: Value, cost: Option<f64>| assert_eq!(usage(&ended(value)).cost_usd, cost);
        check(json!({"total_cost_usd": 0.5, "modelUsage": {"m": {"costBasis": "list"}}}), Some(0.5));
        check(json!({"total_cost_usd": 0.5, "modelUsage": {"m": {"costBasis": "unknown"}}}), None);
        check(json!({}), None);
    }
}
