//! The messages of `claude`, as far as they matter here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// The hook that is called before each tool.
pub(crate) const BEFORE_TOOL: &str = "before-tool";

/// One line of standard output. Unknown messages are ignored: `claude` gains new ones with every release.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Message {
    System(System),
    Assistant(Turn),
    User(Turn),
    ControlRequest(ControlRequest),
    Result(Box<Ended>),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct System {
    #[serde(default)]
    pub(crate) subtype: String,
    /// In `api_retry`: the number of the retry.
    #[serde(default)]
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) retry_delay_ms: f64,
    #[serde(default)]
    pub(crate) error_status: Option<u16>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

/// A message of the agent or of its tools.
#[derive(Debug, Deserialize)]
pub(crate) struct Turn {
    pub(crate) message: Content,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    /// The message of the agent that was refused and will be replaced.
    #[serde(default)]
    pub(crate) refused_message_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Content {
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    pub(crate) content: Blocks,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Blocks {
    List(Vec<Block>),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block {
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
pub(crate) struct ControlRequest {
    pub(crate) request_id: String,
    pub(crate) request: Value,
}

/// The end of a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Ended {
    pub(crate) subtype: String,
    /// Whether the turn failed; `subtype` is `success` even then.
    pub(crate) is_error: bool,
    pub(crate) result: Option<String>,
    pub(crate) errors: Vec<Value>,
    pub(crate) structured_output: Option<Value>,
    pub(crate) api_error_status: Option<u16>,
    pub(crate) api_error: Option<Value>,
    pub(crate) stop_reason: Option<String>,
    /// The cost of the conversation, which has one turn.
    pub(crate) total_cost_usd: Option<f64>,
    /// Usage by model, including web searches and retries; the plain `usage` lacks some of them.
    #[serde(rename = "modelUsage")]
    pub(crate) model_usage: BTreeMap<String, ModelUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ModelUsage {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_input_tokens: u64,
    pub(crate) cache_creation_input_tokens: u64,
    /// `list` for a model with a known price.
    pub(crate) cost_basis: Option<String>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Turn {
    /// Whether the agent said it, not a subagent or `claude` itself.
    pub(crate) fn is_from_agent(&self) -> bool {
        self.parent_tool_use_id.is_none() && self.is_from_model()
    }

    /// Whether a model said it, not `claude` itself.
    pub(crate) fn is_from_model(&self) -> bool {
        self.message.model.as_deref() != Some("<synthetic>")
    }
}

impl Blocks {
    /// The blocks; a plain text is one block.
    pub(crate) fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::List(blocks) => blocks,
            Self::Text(text) => vec![Block::Text { text }],
        }
    }
}

impl System {
    /// The error, or `unknown`.
    pub(crate) fn error_name(&self) -> &str {
        self.error.as_ref().and_then(Value::as_str).unwrap_or("unknown")
    }
}

/// The message in a line. A null counts as absent: services differ in which fields they leave out.
pub(crate) fn message(mut line: Value) -> Option<Message> {
    remove_nulls(&mut line);
    serde_json::from_value(line).ok()
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// The text of a tool's result, which is a string or a list of parts.
pub(crate) fn text_of(content: &Value) -> String {
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
pub(crate) fn reply_to(request_id: &str, response: &Value) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": response},
    })
}

/// The answer to an unknown request.
pub(crate) fn refuse(request_id: &str) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": "not supported"},
    })
}

/// Asks `claude` to end its turn, which makes it report the cost.
pub(crate) fn interrupt() -> Value {
    json!({"type": "control_request", "request_id": "interrupt", "request": {"subtype": "interrupt"}})
}
