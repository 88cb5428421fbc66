//! The messages of `claude` as they come over the line, as far as they matter here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// The hook that is called before each tool.
pub(crate) const BEFORE_TOOL: &str = "before-tool";

/// One line of standard output. What is not known is passed over: the program behind it changes every day.
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
    /// Of `api_retry`: which retry follows.
    #[serde(default)]
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) retry_delay_ms: f64,
    #[serde(default)]
    pub(crate) error_status: Option<u16>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

/// What the agent or its tools said.
#[derive(Debug, Deserialize)]
pub(crate) struct Turn {
    pub(crate) message: Said,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
    /// The agent's message that was refused and is answered anew.
    #[serde(default)]
    pub(crate) refused_message_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    pub(crate) content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Blocks(Vec<Block>),
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
    /// Whether it went wrong; `subtype` does not tell.
    pub(crate) is_error: bool,
    pub(crate) result: Option<String>,
    pub(crate) errors: Vec<Value>,
    pub(crate) structured_output: Option<Value>,
    pub(crate) api_error_status: Option<u16>,
    pub(crate) api_error: Option<Value>,
    pub(crate) stop_reason: Option<String>,
    /// Cumulative over the conversation, which has one turn here.
    pub(crate) total_cost_usd: Option<f64>,
    /// Every request of the conversation by model, web searches and repeated ones included; the plain `usage`
    /// leaves some out.
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

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Turn {
    /// Is it the agent's own, not that of a helper it started or of `claude` itself?
    pub(crate) fn is_the_agents(&self) -> bool {
        self.parent_tool_use_id.is_none() && self.is_a_models()
    }

    /// Is it not that of `claude` itself?
    pub(crate) fn is_a_models(&self) -> bool {
        self.message.model.as_deref() != Some("<synthetic>")
    }
}

impl Content {
    /// The parts; a plain text is one.
    pub(crate) fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(text) => vec![Block::Text { text }],
        }
    }
}

impl System {
    /// The error in words, `unknown` included.
    pub(crate) fn error_name(&self) -> &str {
        self.error.as_ref().and_then(Value::as_str).unwrap_or("unknown")
    }
}

/// The message in a line. Nothing there counts as not said: services leave different things open.
pub(crate) fn message(mut line: Value) -> Option<Message> {
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

/// The answer to a request that the program does not know.
pub(crate) fn refuse(request_id: &str) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": "not supported"},
    })
}

/// Asks `claude` to end its turn and to say what it has cost.
pub(crate) fn interrupt() -> Value {
    json!({"type": "control_request", "request_id": "interrupt", "request": {"subtype": "interrupt"}})
}
