//! Answers of tools: a short text for models, and the same as data.

use mle_star_domain::trouble::Trouble;
use mle_star_report::cut::cut;
use mle_star_report::sanitize::plain;
use serde::Serialize;
use serde_json::{Value, json};

/// The most characters of a text. The context of an agent is small.
const MOST: usize = 8000;
/// The most characters of a script: more than of a text, since a script without its middle is of little use.
pub const MOST_OF_SCRIPT: usize = 24_000;

/// What a tool answers.
pub struct Answer<T> {
    text: String,
    data: T,
}

impl<T: Serialize> Answer<T> {
    /// An answer; of a long text, the middle is left out, and a note says so.
    pub fn new(lines: &[String], data: T) -> Self {
        Self { text: cut(&lines.join("\n"), MOST), data }
    }

    /// An answer that shows a script.
    pub fn script(text: &str, data: T) -> Self {
        Self { text: cut(text, MOST_OF_SCRIPT), data }
    }

    /// The result of a call.
    pub fn into_result(self) -> Value {
        let data = serde_json::to_value(self.data).unwrap_or_default();
        json!({"content": content(&self.text), "structuredContent": data, "isError": false})
    }
}

/// An error as the program prints it.
pub fn failed(trouble: &Trouble) -> Value {
    let hint = if trouble.hint.is_empty() { String::new() } else { format!("\nhint: {}", trouble.hint) };
    let mut result =
        json!({"content": content(&format!("error: {}{hint}", trouble.message)), "isError": true});
    if !trouble.questions.is_empty() {
        result["structuredContent"] = json!({"questions": trouble.questions});
    }
    result
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": plain(text)}])
}
