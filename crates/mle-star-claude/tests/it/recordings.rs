//! Recordings of the real `claude`, one per scenario, which the fake one replays.
//!
//! `INSTA_UPDATE=always cargo xtask verify` renews them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::scenarios::WORD;
use super::world::World;

/// Lists of what `claude` has built in, which no test reads.
const BUILT_IN: [&str; 4] = ["agents", "commands", "models", "skills"];

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

/// A line without what is long in every conversation, and with a name for the folder.
fn settled(world: &Path, line: &str) -> String {
    let mut message: Value = serde_json::from_str(line).unwrap();
    settle(&mut message);
    let text = message.to_string().replace(&world.display().to_string(), "/world");
    text.replace(&WORD.repeat(1 << 18), "@MEGABYTE@")
}

fn settle(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    // The names show what was registered.
                    Value::Object(definitions) if name == "agents" => {
                        definitions.values_mut().for_each(|definition| *definition = json!("settled"));
                    }
                    Value::Array(_) if BUILT_IN.contains(&name.as_str()) => *value = json!([]),
                    value => settle(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(settle),
        _ => {}
    }
}
