//! Leaves notes for the agents of a run that has begun.

use std::path::Path;

use mle_star::journal::{MAX_NOTE_CHARS, MAX_NOTES, leave_note};
use mle_star_domain::config::AgentsChoice;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::{self, State};
use mle_star_report::sanitize::is_invisible;

use crate::runs::{inputs, name};

/// Leaves a note for the planners of a run. Returns what becomes of it, in a sentence or two.
///
/// # Errors
/// The text is empty or too long, the run is finished or has too many notes, or its folder cannot be written.
pub fn leave(folder: &Path, text: &str) -> Result<Vec<String>, Trouble> {
    let text = checked(text)?;
    let view = run_view::read(folder).map_err(|error| error.trouble())?;
    let id = name(folder).unwrap_or_default();
    let state = view.summary.run.state;
    if state == State::Finished {
        let hint = "notes are for running and interrupted runs; `mle-star fork RUN --at PLACE` makes a new run from a place of it";
        return Err(Trouble::new(format!("run {id} is finished, so no agent would read the note"), hint));
    }
    if view.snapshot.notes.len() >= MAX_NOTES {
        let message = format!("run {id} has {MAX_NOTES} notes already, and takes no more");
        return Err(Trouble::new(message, "its agents see all of them"));
    }
    leave_note(folder, &text).map_err(|error| {
        let Trouble { message, hint, .. } = inputs::unwritable(folder, &error);
        Trouble::new(message, hint)
    })?;
    let when = match state {
        State::Running => "planners see the note from their next call on",
        State::Unfinished | State::Finished => "planners see the note once the run is resumed",
    };
    let ignored = view.snapshot.frozen.config.agents == AgentsChoice::Offline;
    let ignored =
        ignored.then(|| "the agents of this run are offline: they plan by rules and ignore notes".to_owned());
    Ok([when.to_owned()].into_iter().chain(ignored).collect())
}

/// The text without invisible characters and blank margins.
fn checked(text: &str) -> Result<String, Trouble> {
    let text = text.replace("\r\n", "\n");
    let text: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_invisible(*c)).collect();
    let text = text.trim();
    match text.chars().count() {
        0 => Err(Trouble::new("the note is empty", "give its text, or - to read it from standard input")),
        count if count > MAX_NOTE_CHARS => {
            let message = format!("the note has {count} characters, and a note has at most {MAX_NOTE_CHARS}");
            Err(Trouble::new(message, "say what matters most, or leave several notes"))
        }
        _ => Ok(text.to_owned()),
    }
}
