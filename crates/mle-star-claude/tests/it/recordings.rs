//! What the real `claude` said, scenario by scenario, for its stand-in to say again.
//!
//! `UPDATE_RECORDINGS=1 cargo xtask verify` writes them anew.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::scenarios::WORD;
use super::world::World;

/// Texts that differ from one conversation to the next.
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
/// Lists about what `claude` has built in, which nobody here reads.
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

/// The stand-in.
pub fn fake_claude() -> PathBuf {
    folder().join("claude")
}

/// Are they to be written anew?
pub fn are_written() -> bool {
    env::var_os("UPDATE_RECORDINGS").is_some()
}

/// Writes the recording of a scenario.
pub fn write(scenario: &str, world: &World) {
    let recording = folder().join("recordings").join(scenario);
    fs::write(&recording, conversation(world)).unwrap();
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fake")
}

/// Puts what was heard before what was said because of it.
fn conversation(world: &World) -> String {
    let ([heard, said], world) = (world.kept(), world.path());
    let mut heard = heard.lines().map(|line| format!("> {}\n", settled(world, line)));
    let mut text = String::new();
    let mut next = |text: &mut String| text.push_str(&heard.next().unwrap_or_default());
    for line in said.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["subtype"] == "ui_invalidate" {
            // Said at one moment or another, and not for us.
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
    // What was asked last and never answered.
    next(&mut text);
    text
}

/// A line without what changes from time to time.
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
        // The identity of what `claude` itself says for the model; the service's own are short.
        let is_identity = name == "id" && value.as_str().is_some_and(|id| id.len() == 36);
        if BUILT_IN.contains(&name) && value.is_array() {
            *value = json!([]);
        } else if is_identity || NAMES.contains(&name) && value.is_string() {
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
