//! The replies of the service, by scenario.

use serde_json::{Value, json};

use super::api::{Asked, Message, Reply};

/// The plain answer.
pub const ANSWER: &str = "The answer.";
/// The repeated word of a long answer.
pub const WORD: &str = "word ";
/// The prompt for the registered agent in `subagent`.
pub const SUBAGENT_PROMPT: &str = "Repair it.";

/// The reply of a scenario.
pub fn answer(asked: &Asked) -> Reply {
    let (nth, text) = (asked.nth, || Reply::Message(Message::text(ANSWER)));
    let once = |first: Reply| if nth == 0 { first } else { text() };
    match asked.scenario.as_str() {
        "plain" => text(),
        "structured" => tool("StructuredOutput", &json!({"answer": 3})),
        "structured_as_text" => text(),
        "over_budget" => text(),
        "over_budget_cut" => Reply::Message(Message::text("The first half, ").stops("max_tokens")),
        "schema_never_met" => tool("StructuredOutput", &json!({"answer": "three"})),
        "rate_limit_then_ok" => once(rate_limit()),
        "rate_limit" => rate_limit(),
        "server_error_then_ok" => once(error(500, "api_error", "Internal server error")),
        "unauthorized" => error(401, "authentication_error", "invalid x-api-key"),
        "bad_request" => error(400, "invalid_request_error", "messages: something is wrong"),
        "no_credit" => {
            error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
        }
        "no_model" => {
            error(404, "not_found_error", &format!("model: {}", asked.body["model"].as_str().unwrap()))
        }
        "garbage" => Reply::Garbage,
        "garbage_then_ok" => once(Reply::Garbage),
        "cut_then_ok" => once(Reply::Cut(Message::text("Lost."))),
        "never" => Reply::Never,
        "refusal" => Reply::Message(Message::text("I cannot").stops("refusal")),
        "empty" => empty(),
        "empty_then_ok" => once(empty()),
        "continued" => once(Reply::Message(Message::text("The first half, ").stops("max_tokens"))),
        "continued_forever" => Reply::Message(Message::text("more ").stops("max_tokens")),
        "megabyte" => Reply::Message(Message::text(WORD.repeat(1 << 18))),
        "bash" => with_tool(asked, "Bash", &json!({"command": "echo made > made.txt && cat made.txt"})),
        "bash_denied" => with_tool(asked, "Bash", &json!({"command": "rm -rf /"})),
        "bash_hangs" => with_tool(asked, "Bash", &json!({"command": "tail -f /dev/null"})),
        "read" => with_tool(asked, "Read", &json!({"file_path": "input/train.csv"})),
        "read_denied" => with_tool(asked, "Read", &json!({"file_path": "/etc/passwd"})),
        "subagent" => subagent(asked),
        "web_search" => web_search(asked),
        "web_fetch" => {
            with_tool(asked, "WebFetch", &json!({"url": "https://example.org/page", "prompt": "what"}))
        }
        other => panic!("no scenario {other}"),
    }
}

fn tool(name: &str, input: &Value) -> Reply {
    Reply::Message(Message::tool(name, input))
}

/// Uses a tool, then answers.
fn with_tool(asked: &Asked, name: &str, input: &Value) -> Reply {
    if asked.nth == 0 { tool(name, input) } else { Reply::Message(Message::text(ANSWER)) }
}

/// Delegates to a registered agent, which sends its own request.
fn subagent(asked: &Asked) -> Reply {
    let input = json!({
        "description": "repair", "prompt": SUBAGENT_PROMPT, "subagent_type": "debugger",
        "run_in_background": false,
    });
    with_tool(asked, "Agent", &input)
}

/// `claude` sends a separate request for a web search.
fn web_search(asked: &Asked) -> Reply {
    let searches = |tool: &Value| tool["type"].as_str().is_some_and(|kind| kind.starts_with("web_search"));
    let is_search = asked.body["tools"].as_array().into_iter().flatten().any(searches);
    if !is_search {
        return with_tool(asked, "WebSearch", &json!({"query": "models for small tables"}));
    }
    Reply::Message(Message::found_on_the_web())
}

fn error(status: u16, kind: &'static str, text: &str) -> Reply {
    Reply::Error { status, kind, text: text.to_owned(), retry_after: None }
}

fn rate_limit() -> Reply {
    let text = "This request would exceed your rate limit.".to_owned();
    Reply::Error { status: 429, kind: "rate_limit_error", text, retry_after: Some(1) }
}

fn empty() -> Reply {
    Reply::Message(Message { blocks: Vec::new(), stop_reason: "end_turn" })
}
