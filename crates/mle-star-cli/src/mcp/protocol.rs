//! The Model Context Protocol: lines of JSON-RPC 2.0 on stdin and stdout.
//!
//! Up to version 2025-11-25 a client begins with `initialize`. A later one describes itself in the `_meta` of each
//! request, and can ask with `server/discover` what the server speaks.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use mle_star_domain::trouble::Trouble;
use mle_star_report::sanitize::first_line;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::INSTRUCTIONS;
use super::call::call;
use super::caller::Client;
use super::tools::{TOOLS, Tool};

/// The versions that are spoken, oldest first.
const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", LAST_INITIALIZED, SELF_CONTAINED];
const LAST_INITIALIZED: &str = "2025-11-25";
const SELF_CONTAINED: &str = "2026-07-28";

/// Fields of `_meta`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const UNSUPPORTED_VERSION: i32 = -32022;

/// How long calls may take to answer after the end of the input.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves the runs of a directory until the client closes stdin.
///
/// # Errors
/// The client does not speak the protocol.
pub async fn serve(runs_dir: &Path) -> Result<(), Trouble> {
    let (output, messages) = unbounded_channel();
    let writer = tokio::spawn(write(messages));
    let (end, ended) = watch::channel(false);
    let runs_dir = runs_dir.display().to_string();
    let mut server = Server { runs_dir, output, ended, lifecycle: None, calls: HashMap::new() };
    let served = server.listen().await;
    // Calls that wait answer now. The writer ends with the last of them.
    end.send_replace(true);
    drop(server);
    let _ = tokio::time::timeout(PATIENCE, writer).await;
    served
}

async fn write(mut messages: UnboundedReceiver<Value>) {
    let mut output = tokio::io::stdout();
    while let Some(mut message) = messages.recv().await {
        message["jsonrpc"] = "2.0".into();
        let line = format!("{message}\n");
        // A client that has left is noticed by the end of the input.
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

struct Server {
    /// Where runs are found and started; absolute.
    runs_dir: String,
    /// Messages to write: a client that reads slowly must not keep the server from reading.
    output: UnboundedSender<Value>,
    ended: watch::Receiver<bool>,
    /// `None` before the first request.
    lifecycle: Option<Lifecycle>,
    /// Calls in progress, by the ID of their request.
    calls: HashMap<Value, AbortHandle>,
}

/// How a request tells who its client is.
#[derive(Clone, Copy, PartialEq)]
enum Lifecycle {
    /// The client has sent `initialize`.
    Initialized,
    /// The request itself says it.
    SelfContained,
}

impl Server {
    async fn listen(&mut self) -> Result<(), Trouble> {
        let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            // What is no JSON at all gets no answer: there is no ID to answer to.
            if let Ok(message) = serde_json::from_slice(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line)) {
                self.receive(&message)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, message: &Value) -> Result<(), Trouble> {
        let method = message["method"].as_str();
        let is_response = message.get("result").is_some() || message.get("error").is_some();
        let is_valid = message["jsonrpc"] == "2.0" && is_response == method.is_none();
        match (method, message.get("id")) {
            (Some(method), Some(id @ (Value::Number(_) | Value::String(_)))) if is_valid => {
                match self.answer(id, method, &message["params"]) {
                    Ok(None) => {}
                    Ok(Some(result)) => self.send(json!({"id": id, "result": result})),
                    Err(error) => self.send(json!({"id": id, "error": error})),
                }
            }
            (Some(_), Some(_)) => self.send(json!({"error": error(INVALID_REQUEST, "Invalid request")})),
            _ if !is_valid => self.send(json!({"error": error(INVALID_REQUEST, "Invalid request")})),
            _ if self.lifecycle.is_none() => {
                let message = first_line(&message.to_string(), 300);
                let message =
                    format!("the client does not speak MCP: expected a request, but received {message}");
                return Err(Trouble::new(message, "start this command from an MCP client"));
            }
            (Some("notifications/cancelled"), _) => {
                if let Some(call) = self.calls.remove(&message["params"]["requestId"]) {
                    call.abort();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The result or error of a request; `None` if it comes later.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) -> Result<Option<Value>, Value> {
        match (method, params["protocolVersion"].as_str()) {
            ("initialize", Some(version)) => return Ok(Some(self.initialize(version))),
            ("ping", _) => return Ok(Some(json!({}))),
            _ => {}
        }
        let lifecycle = self.lifecycle_of(method, &params["_meta"])?;
        match method {
            "server/discover" => Ok(Some(discovery())),
            "tools/list" => {
                let tools: Vec<Value> = TOOLS.iter().map(Tool::definition).collect();
                let result = json!({"tools": tools});
                let is_initialized = lifecycle == Lifecycle::Initialized;
                Ok(Some(if is_initialized { result } else { cacheable(result) }))
            }
            "tools/call" => self.call(id, params, lifecycle).map(|()| None),
            _ => Err(error(METHOD_NOT_FOUND, method)),
        }
    }

    fn initialize(&mut self, wanted: &str) -> Value {
        self.lifecycle = Some(Lifecycle::Initialized);
        let is_spoken = wanted != SELF_CONTAINED && VERSIONS.contains(&wanted);
        let version = if is_spoken { wanted } else { LAST_INITIALIZED };
        json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        })
    }

    /// The lifecycle of a request; the first one decides whether later ones must be self-contained.
    fn lifecycle_of(&mut self, method: &str, meta: &Value) -> Result<Lifecycle, Value> {
        let version = meta[VERSION].as_str();
        if let Some(version) = version.filter(|version| !VERSIONS.contains(version)) {
            let mut error = error(UNSUPPORTED_VERSION, "Unsupported protocol version");
            error["data"] = json!({"requested": version, "supported": VERSIONS});
            return Err(error);
        }
        let is_newest = version == Some(SELF_CONTAINED);
        let is_discovery = method == "server/discover";
        let is_described = version.is_some() && meta[CAPABILITIES].is_object();
        if !is_described && (is_newest || is_discovery || self.lifecycle != Some(Lifecycle::Initialized)) {
            let message =
                format!("without initialize, _meta of a request must have {VERSION} and {CAPABILITIES}");
            return Err(error(INVALID_PARAMS, message));
        }
        // A client may ask for versions, and then choose one with `initialize`.
        if !is_discovery {
            self.lifecycle.get_or_insert(Lifecycle::SelfContained);
        }
        Ok(if is_newest { Lifecycle::SelfContained } else { Lifecycle::Initialized })
    }

    /// Begins a call, which answers when it is done.
    fn call(&mut self, id: &Value, params: &Value, lifecycle: Lifecycle) -> Result<(), Value> {
        let name = params["name"].as_str().unwrap_or_default();
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
            return Err(error(INVALID_PARAMS, format!("unknown tool: {name}")));
        };
        let arguments = match &params["arguments"] {
            Value::Null => json!({}),
            arguments @ Value::Object(_) => arguments.clone(),
            _ => return Err(error(INVALID_PARAMS, "arguments must be an object")),
        };
        let progress_token = params["_meta"]["progressToken"].clone();
        let caller = Client { progress_token, output: self.output.clone(), ended: self.ended.clone() };
        let work = call(tool, arguments, self.runs_dir.clone(), caller);
        let (output, answered) = (self.output.clone(), id.clone());
        let task = tokio::spawn(async move {
            let mut result = work.await;
            if lifecycle == Lifecycle::SelfContained {
                result["resultType"] = "complete".into();
            }
            let _ = output.send(json!({"id": answered, "result": result}));
        });
        self.calls.retain(|_, call| !call.is_finished());
        self.calls.insert(id.clone(), task.abort_handle());
        Ok(())
    }

    fn send(&self, message: Value) {
        let _ = self.output.send(message);
    }
}

fn error(code: i32, message: impl Into<String>) -> Value {
    json!({"code": code, "message": message.into()})
}

fn server_info() -> Value {
    json!({"name": "mle-star", "version": env!("CARGO_PKG_VERSION")})
}

fn discovery() -> Value {
    cacheable(json!({
        "supportedVersions": VERSIONS,
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
    }))
}

/// Adds what clients of the newest version require of lists: here, that none may be kept.
fn cacheable(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = 0.into();
    result["cacheScope"] = "private".into();
    result
}
