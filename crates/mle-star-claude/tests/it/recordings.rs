//! Recordings of the real `claude`, one per scenario, which the fake one replays.
//!
//! `INSTA_UPDATE=always cargo xtask verify` renews them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::scenarios::WORD;
use super::world::World;

/// Fields that differ between conversations.
const NAMES: [&str; 9] = [
    "session_id",
    "uuid",
    "timestamp",
    "prompt_id",
    "request_id",
    "transcript_path",
    "auto",
    "messaging_socket_path",
    "refused_user_message_uuid",
];
/// Lists of what `claude` has built in, which no test reads.
const BUILT_IN: [&str; 8] = [
    "commands",
    "models",
    "agents",
    "skills",
    "slash_commands",
    "capabilities",
    "available_output_styles",
    "plugins",
];

/// The fake `claude`.
pub fn fake_claude() -> PathBuf {
    folder().join("claude")
}

/// Whether to renew the recordings.
pub fn are_renewed() -> bool {
    env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

/// Writes the recording of a scenario.
pub fn write(scenario: &str, world: &World) {
    let recording = folder().join("recordings").join(scenario);
    fs::write(&recording, conversation(world)).unwrap();
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fake")
}

/// Merges input and output, with each input line before the output that it caused.
fn conversation(world: &World) -> String {
    let ([heard, said], world) = (world.kept(), world.path());
    let mut heard = heard.lines().map(|line| format!("> {}\n", settled(world, line)));
    let mut text = String::new();
    let mut next = |text: &mut String| text.push_str(&heard.next().unwrap_or_default());
    for line in said.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["subtype"] == "ui_invalidate" {
            // It comes at any time and has no content.
            continue;
        }
        let is = |kind: &str| message["type"] == kind;
        if is("control_response") || message["subtype"] == "init" {
            next(&mut text);
        }
        text.push_str(&format!("< {}\n", settled(world, line)));
        if is("control_request") {
            next(&mut text);
        }
    }
    // The last input may have no answer.
    next(&mut text);
    text
}

/// A line with fixed values for what differs between conversations.
fn settled(world: &Path, line: &str) -> String {
    let mut message: Value = serde_json::from_str(line).unwrap();
    settle(&mut message);
    let text = message.to_string().replace(&world.display().to_string(), "/world");
    let text = text.replace(&WORD.repeat(1 << 18), "@MEGABYTE@");
    match text.split_once("127.0.0.1:") {
        Some((before, after)) => {
            format!("{before}127.0.0.1:1{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit()))
        }
        None => text,
    }
}

fn settle(value: &mut Value) {
    match value {
        Value::Object(members) => settle_members(members),
        Value::Array(values) => values.iter_mut().for_each(settle),
        _ => {}
    }
}

fn settle_members(members: &mut Map<String, Value>) {
    for (name, value) in members {
        let name = name.as_str();
        // Messages that `claude` makes itself have UUIDs; those of the service have short IDs.
        let is_uuid = name == "id" && value.as_str().is_some_and(|id| id.len() == 36);
        if BUILT_IN.contains(&name) && value.is_array() {
            *value = json!([]);
        } else if let ("agents", Value::Object(definitions)) = (name, &mut *value) {
            // The names show what was registered; the templates would be in every recording.
            definitions.values_mut().for_each(|definition| *definition = json!("settled"));
        } else if is_uuid || NAMES.contains(&name) && value.is_string() {
            *value = json!("settled");
        } else if name == "retry_delay_ms" {
            *value = json!(if value.as_f64() < Some(1000.0) { 500 } else { 1000 });
        } else if value.is_number() && (name.ends_with("_ms") || name == "durationSeconds" || name == "pid") {
            *value = json!(0);
        } else {
            settle(value);
        }
    }
}
