//! What `claude` has said in one conversation.

use std::collections::HashMap;

use mle_star_domain::effects::Lookup;
use serde_json::Value;

use crate::invocation::STRUCTURED_OUTPUT;
use crate::protocol::{self, Block, Message, Turn};

/// Web tools, with the argument that is looked up.
const WEB: [(&str, &str); 2] = [("WebSearch", "query"), ("WebFetch", "url")];
/// How much of an unreadable line is shown, in characters.
const SHOWN: usize = 200;

#[derive(Default)]
pub(crate) struct Transcript {
    /// The agent's own texts in order, with the IDs of their messages.
    pieces: Vec<(Option<String>, String)>,
    /// A tool was used since the last text, so the next text begins a new paragraph.
    is_interrupted: bool,
    /// Tools in use by the ID of their use, with their input.
    tools: HashMap<String, (String, Value)>,
    /// The last structured answer, which `claude` may not have checked.
    pub(crate) structured: Option<Value>,
    pub(crate) lookups: Vec<Lookup>,
    /// The first line that looks like a message but cannot be read as one.
    pub(crate) unreadable: Option<String>,
    /// `claude` has retried a request by itself.
    pub(crate) was_retried: bool,
    /// A request may have been sent to the service.
    pub(crate) is_requested: bool,
    /// A model may have answered, at least in part.
    pub(crate) is_answered: bool,
}

/// The result of a tool.
pub(crate) struct ToolResult {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) failure: Option<String>,
}

impl Transcript {
    /// Reads one line. A truncated message or an unknown form of the answer is remembered, since a part of the
    /// answer may be lost; anything else that is no message is ignored.
    pub(crate) fn read(&mut self, line: &str) -> Option<Message> {
        let value = serde_json::from_str::<Value>(line);
        let kind = value.as_ref().ok().and_then(|value| value.get("type")).and_then(Value::as_str);
        let matters = match (&value, kind) {
            (Err(_), _) => line.starts_with('{'),
            (Ok(_), kind) => matches!(kind, Some("assistant" | "result")),
        };
        let message = value.ok().and_then(protocol::message);
        if let Some(Message::Assistant(turn)) = &message {
            self.is_answered |= turn.is_from_model();
        }
        if message.is_none() && matters {
            self.is_answered = true;
            self.unreadable.get_or_insert_with(|| line.chars().take(SHOWN).collect());
        }
        message
    }

    /// All text. A continued answer goes on where it stopped.
    pub(crate) fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Adds what the agent said.
    pub(crate) fn add(&mut self, turn: Turn) {
        let id = turn.message.id;
        for block in turn.message.content.into_blocks() {
            match block {
                Block::Text { text } => {
                    let is_new = std::mem::take(&mut self.is_interrupted) && !self.pieces.is_empty();
                    let text = if is_new { format!("\n\n{text}") } else { text };
                    self.pieces.push((id.clone(), text));
                }
                Block::ToolUse { id, name, input } => {
                    self.is_interrupted = true;
                    if name == STRUCTURED_OUTPUT {
                        self.structured = Some(input.clone());
                    }
                    self.tools.insert(id, (name, input));
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
    }

    /// Adds what the tools returned; returns the results of the agent's own tools.
    pub(crate) fn add_results(&mut self, turn: Turn) -> Vec<ToolResult> {
        // A refused message is answered again.
        if turn.refused_message_id.is_some() {
            self.pieces.retain(|(message, _)| *message != turn.refused_message_id);
        }
        let blocks = turn.message.content.into_blocks().into_iter();
        blocks.filter_map(|block| self.result(block)).collect()
    }

    fn result(&mut self, block: Block) -> Option<ToolResult> {
        let Block::ToolResult { tool_use_id, is_error, content } = block else { return None };
        let (tool, input) = self.tools.remove(&tool_use_id)?;
        if tool == STRUCTURED_OUTPUT {
            return None;
        }
        let failure = is_error.unwrap_or(false).then(|| protocol::text_of(&content));
        if let Some((_, argument)) = WEB.iter().find(|(name, _)| *name == tool) {
            let what = input.get(argument).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.lookups.push(Lookup { tool: tool.clone(), what, failure: failure.clone() });
        }
        Some(ToolResult { tool, input, failure })
    }
}
