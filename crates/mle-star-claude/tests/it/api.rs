//! A Messages API on loopback. Its replies depend on the request alone, and it keeps every request.
//!
//! The first segment of a path is the scenario: a client of scenario `plain` has `http://127.0.0.1:PORT/plain` as
//! its base URL.

#[path = "loopback.rs"]
mod loopback;

use std::future::pending;
use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

pub use loopback::Asked;
use loopback::Service;

/// Tokens that every message reports: input, cache writes, cache reads, output.
pub const USAGE: [u64; 4] = [100, 30, 40, 20];

/// The server, which stops when dropped.
pub struct Api(Service);

/// A reply.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A whole message, streamed if requested.
    Message(Message),
    /// An error of the service.
    Error { status: u16, kind: &'static str, text: String, retry_after: Option<u32> },
    /// Success with an invalid body.
    Garbage,
    /// A connection reset in the middle of the message.
    Cut(Message),
    /// No response at all.
    Never,
}

/// A model's message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its content blocks.
    pub blocks: Vec<Value>,
    pub stop_reason: &'static str,
}

impl Api {
    /// Serves on a free port.
    pub async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        Self(
            Service::start(move |asked| {
                let answer = Arc::clone(&answer);
                async move { respond(&asked, &*answer).await }
            })
            .await,
        )
    }

    /// The base URL of a scenario.
    pub fn url(&self, scenario: &str) -> String {
        self.0.url(scenario)
    }

    /// The message requests of one scenario, in order.
    pub fn asked(&self, scenario: &str) -> Vec<Asked> {
        let is_one = |asked: &Asked| asked.scenario == scenario && asked.path == MESSAGES;
        self.all().into_iter().filter(is_one).collect()
    }

    /// All requests, in order.
    pub fn all(&self) -> Vec<Asked> {
        self.0.asked().borrow().clone()
    }

    /// Waits for the first request of a scenario.
    pub async fn is_asked(&self, scenario: &str) {
        let is_one = |asked: &Vec<Asked>| asked.iter().any(|asked| asked.scenario == scenario);
        self.0.asked().wait_for(is_one).await.unwrap();
    }
}

impl Asked {
    pub fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// The text of the first user message, which contains the prompt.
    pub fn prompt(&self) -> String {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        let first = messages.filter(|message| message["role"] == "user").map(|message| &message["content"]);
        match first.into_iter().next() {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        }
    }
}

impl Message {
    /// The result of a web search, which the service performs.
    pub fn found_on_the_web() -> Self {
        let query = json!({"query": "models for small tables"});
        let found = json!([{
            "type": "web_search_result", "title": "Trees", "url": "https://example.org/trees",
            "encrypted_content": "x", "page_age": null,
        }]);
        let blocks = vec![
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": query}),
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found}),
            json!({"type": "text", "text": "Trees are good at tables."}),
        ];
        Self { blocks, stop_reason: "end_turn" }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![json!({"type": "text", "text": text.into()})], stop_reason: "end_turn" }
    }

    /// The use of a tool; the next request contains its result.
    pub fn tool(name: &str, input: &Value) -> Self {
        let block = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": input});
        Self { blocks: vec![block], stop_reason: "tool_use" }
    }

    pub fn stops(self, stop_reason: &'static str) -> Self {
        Self { stop_reason, ..self }
    }

    fn whole(&self, asked: &Asked) -> Value {
        self.envelope(asked, &self.blocks, &json!(self.stop_reason), USAGE[3])
    }

    fn envelope(&self, asked: &Asked, content: &[Value], stop_reason: &Value, output: u64) -> Value {
        json!({
            "id": format!("msg_{}", asked.nth), "type": "message", "role": "assistant",
            "model": asked.body["model"],
            "content": content, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": self.usage(output),
        })
    }

    fn usage(&self, output: u64) -> Value {
        let [input, cache_write, cache_read, _] = USAGE;
        let searches = self.blocks.iter().filter(|block| block["type"] == "server_tool_use").count();
        json!({
            "input_tokens": input, "cache_creation_input_tokens": cache_write,
            "cache_read_input_tokens": cache_read, "output_tokens": output,
            "server_tool_use": {"web_search_requests": searches},
        })
    }

    /// The events of its stream.
    fn events(&self, asked: &Asked) -> Vec<Value> {
        let mut events =
            vec![json!({"type": "message_start", "message": self.envelope(asked, &[], &Value::Null, 1)})];
        for (index, block) in self.blocks.iter().enumerate() {
            let (start, delta) = in_parts(block);
            events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
            if let Some(delta) = delta {
                events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let delta = json!({"stop_reason": self.stop_reason, "stop_sequence": null});
        events.push(json!({"type": "message_delta", "delta": delta, "usage": self.usage(USAGE[3])}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

/// The path of requests for a message.
pub const MESSAGES: &str = "v1/messages";

/// The start of a block, and the rest of it.
fn in_parts(block: &Value) -> (Value, Option<Value>) {
    let with = |name: &str, value: Value| {
        let mut block = block.clone();
        block[name] = value;
        block
    };
    match block["type"].as_str() {
        Some("text") => (with("text", json!("")), Some(json!({"type": "text_delta", "text": block["text"]}))),
        Some("tool_use" | "server_tool_use") => {
            let input = block["input"].to_string();
            (with("input", json!({})), Some(json!({"type": "input_json_delta", "partial_json": input})))
        }
        _ => (block.clone(), None),
    }
}

async fn respond(asked: &Asked, answer: &(dyn Fn(&Asked) -> Reply + Send + Sync)) -> Response {
    match (&asked.method, asked.path.as_str()) {
        (&Method::POST, MESSAGES) => send(answer(asked), asked).await,
        (&Method::POST, "v1/messages/count_tokens") => {
            in_one_piece(StatusCode::OK, &json!({"input_tokens": asked.body.to_string().len() / 4}))
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn send(reply: Reply, asked: &Asked) -> Response {
    match reply {
        Reply::Message(message) => whole(&message, asked),
        Reply::Error { status, kind, text, retry_after } => {
            let error = json!({"type": "error", "error": {"type": kind, "message": text}});
            let mut response = in_one_piece(StatusCode::from_u16(status).unwrap(), &error);
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            }
            response
        }
        Reply::Garbage => streamed(Body::from("event: nonsense\ndata: {{{{\n\n\0 garbage\n\n")),
        Reply::Cut(message) => {
            let broken = stream::once(async { Err(io::Error::from(io::ErrorKind::ConnectionReset)) });
            streamed(Body::from_stream(stream::iter(half(&message, asked)).map(Ok).chain(broken)))
        }
        Reply::Never => pending().await,
    }
}

fn whole(message: &Message, asked: &Asked) -> Response {
    if asked.wants_stream() {
        let lines: Vec<u8> = message.events(asked).iter().flat_map(line).collect();
        streamed(Body::from(lines))
    } else {
        in_one_piece(StatusCode::OK, &message.whole(asked))
    }
}

/// The events up to the first text.
fn half(message: &Message, asked: &Asked) -> Vec<Bytes> {
    message.events(asked).iter().take(3).map(|event| Bytes::from(line(event))).collect()
}

fn line(event: &Value) -> Vec<u8> {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into_bytes()
}

fn streamed(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream"), (REQUEST_ID, "req_1")], body).into_response()
}

fn in_one_piece(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json"), (REQUEST_ID, "req_1")], body.to_string())
        .into_response()
}

const REQUEST_ID: header::HeaderName = header::HeaderName::from_static("request-id");
