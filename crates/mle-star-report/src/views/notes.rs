//! The notes that the user left for the agents.

use mle_star::journal::NoteRow;
use serde::Serialize;

use super::context::Context;
use crate::figures::shown_time;
use crate::run_view::State;
use crate::words::place_name;

/// A note of the user.
#[derive(Clone, Debug, Serialize)]
pub struct UserNote {
    /// Its text.
    pub text: String,
    /// When it was written, RFC 3339.
    pub at: String,
    /// When it was written, for people.
    pub at_shown: String,
    /// Which call saw it first, or that none has.
    pub seen: String,
}

/// The notes of a run, in the order in which they were written.
pub fn notes(context: &Context<'_>) -> Vec<UserNote> {
    let is_over = context.run.summary.run.state == State::Finished;
    let seen = |first: Option<&str>| match first {
        Some(place) => format!("first seen at {}", place_name(&place.into())),
        None if is_over => "no call saw it".to_owned(),
        None => "not seen yet".to_owned(),
    };
    let note = |NoteRow { at, text, first_seen }: &NoteRow| UserNote {
        text: text.clone(),
        at: at.clone(),
        at_shown: shown_time(at),
        seen: seen(first_seen.as_deref()),
    };
    context.run.snapshot.notes.iter().map(note).collect()
}
