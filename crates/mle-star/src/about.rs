//! Summaries of agents' inputs and replies in one line, for events.

use serde_json::{Map, Value};

/// Describes an agent's input in one line: lengths of texts, sizes of lists, beginnings of plans.
pub(crate) fn summary(inputs: &Map<String, Value>) -> String {
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) if name == "plan" || text.chars().count() <= 40 => {
            format!("{name} \"{}\"", beginning(text.trim(), 200))
        }
        Value::String(text) => format!("{name} of {} characters", text.chars().count()),
        Value::Array(items) => format!("{} {name}", items.len()),
        other => format!("{name} {other}"),
    };
    inputs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The first characters of a text.
pub(crate) fn beginning(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}
