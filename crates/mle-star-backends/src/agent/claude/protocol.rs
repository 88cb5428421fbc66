//! The messages of `claude` as they come over the line, as far as they matter here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// The hook that is called before each tool.
pub(super) const BEFORE_TOOL: &str = "before-tool";

/// One line of standard output. What is not known is passed over: the program behind it changes every day.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Message {
    System(System),
    Assistant(Turn),
    User(Turn),
    ControlRequest(ControlRequest),
    Result(Box<Ended>),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) subtype: String,
    /// Of `api_retry`: which retry follows.
    #[serde(default)]
    pub(super) attempt: u32,
    #[serde(default)]
    pub(super) retry_delay_ms: f64,
    #[serde(default)]
    pub(super) error_status: Option<u16>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// What the agent or its tools said.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) message: Said,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    /// The agent's message that was refused and is answered anew.
    #[serde(default)]
    pub(super) refused_message_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Said {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    pub(super) content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Blocks(Vec<Block>),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        is_error: Option<bool>,
        #[serde(default)]
        content: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct ControlRequest {
    pub(super) request_id: String,
    pub(super) request: Value,
}

/// The end of a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ended {
    pub(super) subtype: String,
    /// Whether it went wrong; `subtype` does not tell.
    pub(super) is_error: bool,
    pub(super) result: Option<String>,
    pub(super) errors: Vec<Value>,
    pub(super) structured_output: Option<Value>,
    pub(super) api_error_status: Option<u16>,
    pub(super) api_error: Option<Value>,
    pub(super) stop_reason: Option<String>,
    /// Cumulative over the conversation, which has one turn here.
    pub(super) total_cost_usd: Option<f64>,
    /// Every request of the conversation by model, web searches and repeated ones included; the plain `usage`
    /// leaves some out.
    #[serde(rename = "modelUsage")]
    pub(super) model_usage: BTreeMap<String, ModelUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUsage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    /// `list` for a model with a known price.
    pub(super) cost_basis: Option<String>,
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Turn {
    /// Is it the agent's own, not that of a helper it started or of `claude` itself?
    pub(super) fn is_the_agents(&self) -> bool {
        self.parent_tool_use_id.is_none() && self.is_a_models()
    }

    /// Is it not that of `claude` itself?
    pub(super) fn is_a_models(&self) -> bool {
        self.message.model.as_deref() != Some("<synthetic>")
    }
}

impl Content {
    /// The parts; a plain text is one.
    pub(super) fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(text) => vec![Block::Text { text }],
        }
    }
}

impl System {
    /// The error in words, `unknown` included.
    pub(super) fn error_name(&self) -> &str {
        self.error.as_ref().and_then(Value::as_str).unwrap_or("unknown")
    }
}

/// The message in a line. Nothing there counts as not said: services leave different things open.
pub(super) fn message(mut line: Value) -> Option<Message> {
    leave_out_nulls(&mut line);
    serde_json::from_value(line).ok()
}

fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}

/// The text of a tool's result, which is a text or a list of parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The answer to a request of `claude`.
pub(super) fn reply_to(request_id: &str, response: &Value) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": response},
    })
}

/// The answer to a request that the program does not know.
pub(super) fn refuse(request_id: &str) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": "not supported"},
    })
}

/// Asks `claude` to end its turn and to say what it has cost.
pub(super) fn interrupt() -> Value {
    json!({"type": "control_request", "request_id": "interrupt", "request": {"subtype": "interrupt"}})
}
