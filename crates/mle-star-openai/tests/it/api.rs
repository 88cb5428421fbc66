//! An endpoint on loopback. Its replies depend on the request alone, and it keeps every request.
//!
//! The first segment of a path is the scenario: the endpoint of scenario `plain` is `http://127.0.0.1:PORT/plain/v1`.

#[path = "../../../mle-star-claude/tests/it/loopback.rs"]
#[expect(dead_code, reason = "its other users make more of it")]
mod loopback;

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

pub use loopback::Asked;
use loopback::Service;

/// The server, which stops when dropped.
pub struct Api(Service);

/// A reply.
pub enum Reply {
    /// A whole body.
    Whole { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// Pieces of a stream of events, and how it ends.
    Pieces { pieces: Vec<String>, end: End },
    /// No response at all.
    Never,
}

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Close,
    Reset,
    /// It stays open.
    Hang,
}

impl Api {
    /// Serves on a free port.
    pub async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        Self(
            Service::start(move |asked| {
                let answer = Arc::clone(&answer);
                async move { send(answer(&asked)).await }
            })
            .await,
        )
    }

    /// The base address of a scenario.
    pub fn url(&self, scenario: &str) -> String {
        format!("{}/v1", self.0.url(scenario))
    }

    /// The requests of a scenario, in order.
    pub fn asked(&self, scenario: &str) -> Vec<Asked> {
        self.0.asked().borrow().iter().filter(|asked| asked.scenario == scenario).cloned().collect()
    }
}

impl Asked {
    /// The last message, or the input.
    pub fn prompt(&self) -> String {
        let last = self.body["messages"].as_array().and_then(|messages| messages.last());
        let text = last.map_or(&self.body["input"], |message| &message["content"]);
        text.as_str().unwrap_or_default().to_owned()
    }
}

/// The events of a chat answer: its text in two pieces, its end, its usage.
pub fn chat_events(text: &str, finish: &str, usage: &Value) -> Vec<String> {
    let choice = |delta: Value, finish: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (one, two) = text.split_at(half);
    let mut events = vec![
        choice(json!({"role": "assistant", "content": ""}), Value::Null),
        choice(json!({"content": one}), Value::Null),
        choice(json!({"content": two}), Value::Null),
        choice(json!({}), json!(finish)),
    ];
    if !usage.is_null() {
        events.push(json!({"choices": [], "usage": usage}));
    }
    let lines = events.iter().map(|event| format!("data: {event}\n\n"));
    lines.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

/// The usage that answers report.
pub fn usage() -> Value {
    json!({"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 400}})
}

/// A streamed chat answer.
pub fn says(text: &str) -> Reply {
    streams(chat_events(text, "stop", &usage()), End::Close)
}

/// Pieces of a stream.
pub fn streams(pieces: Vec<String>, end: End) -> Reply {
    Reply::Pieces { pieces, end }
}

/// A JSON document.
pub fn document(status: u16, body: &Value) -> Reply {
    whole(status, "application/json", &body.to_string())
}

/// A body of any type.
pub fn whole(status: u16, kind: &str, body: &str) -> Reply {
    Reply::Whole { status, headers: vec![("content-type", kind.to_owned())], body: body.to_owned() }
}

/// An error of the endpoint.
pub fn error(status: u16, kind: &str, message: &str) -> Reply {
    document(status, &json!({"error": {"message": message, "type": kind, "code": kind}}))
}

async fn send(reply: Reply) -> Response {
    match reply {
        Reply::Never => pending().await,
        Reply::Whole { status, headers, body } => {
            let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
            response.headers_mut().remove(header::CONTENT_TYPE);
            for (name, value) in headers {
                let value = HeaderValue::from_str(&value).unwrap();
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
            response
        }
        Reply::Pieces { pieces, end } => streamed(pieces, end),
    }
}

fn streamed(pieces: Vec<String>, end: End) -> Response {
    let pieces = stream::iter(pieces).then(|piece| async {
        // Each is sent by itself.
        tokio::time::sleep(Duration::ZERO).await;
        Ok::<_, io::Error>(Bytes::from(piece))
    });
    let body = match end {
        End::Close => Body::from_stream(pieces),
        End::Reset => {
            let reset = stream::once(async { Err(io::Error::from(io::ErrorKind::ConnectionReset)) });
            Body::from_stream(pieces.chain(reset))
        }
        End::Hang => Body::from_stream(pieces.chain(stream::pending())),
    };
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response()
}
