//! The replies of the service in the responses format, by scenario.

use serde_json::{Value, json};

use crate::api::{Asked, End, Reply, error, streams};

/// The plain answer.
pub const ANSWER: &str = "The answer.";

/// The reply of a scenario.
pub fn answer(asked: &Asked) -> Reply {
    let text = || says(ANSWER);
    let once = |first: Reply| if asked.nth == 0 { first } else { text() };
    let is_structured = asked.body["text"]["format"].is_object();
    match asked.scenario.as_str() {
        "plain" => text(),
        "structured" if is_structured => says(r#"{"answer": 3}"#),
        "schema_refused" if is_structured => {
            error(400, "invalid_json_schema", "Invalid schema for response_format: text.format")
        }
        "schema_refused" => says(r#"{"answer": 4}"#),
        "megabyte" => says(&"word ".repeat(1 << 18)),
        "rate_limit" => error(429, "rate_limit_exceeded", "Rate limit reached"),
        "rate_limit_then_ok" => once(error(429, "rate_limit_exceeded", "Rate limit reached")),
        "server_error_then_ok" => once(error(500, "server_error", "Internal")),
        "cut_then_ok" => once(streams(events(&[message("Lost.")]).into_iter().take(3).collect(), End::Close)),
        "empty_then_ok" => once(says("")),
        "never" => Reply::Never,
        "unauthorized" => error(401, "invalid_api_key", "Incorrect API key provided: sk-very-secret"),
        "no_model" => {
            error(404, "model_not_found", "The model `m` does not exist or you do not have access to it.")
        }
        "bad_request" => error(400, "invalid_request_error", "something is wrong"),
        "too_long" => {
            error(400, "context_length_exceeded", "Your input exceeds the context window of this model.")
        }
        "cut_off" => ends_early(),
        "search" => says_after(&[search("models for small tables"), page("https://example.org/page")]),
        "tool" => once(streams(events(&[call()]), End::Close)),
        other => panic!("no scenario {other}"),
    }
}

/// A whole answer.
pub fn says(text: &str) -> Reply {
    streams(events(&[message(text)]), End::Close)
}

fn says_after(items: &[Value]) -> Reply {
    streams(events(&[items, &[message(ANSWER)]].concat()), End::Close)
}

fn message(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content})
}

fn search(query: &str) -> Value {
    let action = json!({"type": "search", "query": query});
    json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action})
}

fn page(url: &str) -> Value {
    let action = json!({"type": "open_page", "url": url});
    json!({"type": "web_search_call", "id": "ws_2", "status": "completed", "action": action})
}

/// The use of a tool that agents do not have.
fn call() -> Value {
    let arguments = json!({"cmd": "echo made > made.txt"}).to_string();
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command", "arguments": arguments})
}

/// The events of a stream with these items.
fn events(items: &[Value]) -> Vec<String> {
    let usage = json!({
        "input_tokens": 1000, "input_tokens_details": {"cached_tokens": 400},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 1020,
    });
    let mut events = vec![json!({"type": "response.created", "response": {"id": "resp_1"}})];
    for item in items {
        events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    }
    let response = json!({"id": "resp_1", "status": "completed", "output": items, "usage": usage});
    events.push(json!({"type": "response.completed", "response": response}));
    events.iter().map(line).collect()
}

fn ends_early() -> Reply {
    let why = json!({"reason": "max_output_tokens"});
    let response = json!({"id": "r", "status": "incomplete", "incomplete_details": why});
    streams(vec![line(&json!({"type": "response.incomplete", "response": response}))], End::Close)
}

fn line(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}
