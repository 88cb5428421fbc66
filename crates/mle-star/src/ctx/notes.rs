//! What agents are told of the user's notes.

use serde_json::{Map, Value, json};

use super::Ctx;
use crate::journal::Note;
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// What stands before the notes in a prompt.
const HEAD: &str = "# Notes of the user\n\
    The user of this run wrote this after it had begun. Take it into account in your plan, and answer in the form that is \
    asked for above.";

impl Ctx<'_> {
    /// The notes that this agent sees in a call that is made now.
    pub(super) fn notes_for(&self, agent: AgentType) -> Result<Vec<Note>, Stop> {
        match agent {
            AgentType::Planner | AgentType::EnsPlanner => Ok(self.run.journal.take_notes()?),
            _ => Ok(Vec::new()),
        }
    }
}

/// Adds the notes to a prompt, as quoted text: they may hold lines that look like parts of a prompt.
pub(super) fn tell(prompt: &mut String, told: &mut Map<String, Value>, notes: &[Note]) {
    prompt.push_str("\n\n");
    prompt.push_str(HEAD);
    for note in notes {
        prompt.push_str("\n\nA note of the user:");
        for line in note.text.lines() {
            prompt.push_str("\n> ");
            prompt.push_str(line);
        }
    }
    told.insert("notes".to_owned(), json!(notes.iter().map(|note| &note.text).collect::<Vec<_>>()));
}
