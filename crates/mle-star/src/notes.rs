//! The user's notes in the prompts of agents.

use serde_json::{Map, Value, json};

use crate::journal::Note;

/// The heading of the notes in a prompt.
const HEAD: &str = "# Notes of the user\n\
    The user of this run wrote this after it had begun. Take it into account in your plan, and answer in the form that is \
    asked for above.";

/// Adds the notes to a prompt, as quoted text: they may hold lines that look like parts of a prompt.
pub(crate) fn add_notes(prompt: &mut String, told: &mut Map<String, Value>, notes: &[Note]) {
    prompt.extend(["\n\n", HEAD]);
    for note in notes {
        prompt.push_str("\n\nA note of the user:");
        note.text.lines().for_each(|line| prompt.extend(["\n> ", line]));
    }
    told.insert("notes".to_owned(), json!(notes.iter().map(|note| &note.text).collect::<Vec<_>>()));
}
