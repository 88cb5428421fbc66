//! `note`: leaves a note for the agents of a run.

use std::io::Read as _;

use mle_star_domain::trouble::Trouble;
use mle_star_run::note;
use serde_json::json;

use crate::args::NoteArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Bytes of standard input that are read: more than any note may have.
const MAX_NOTE_BYTES: u64 = 1 << 20;

/// Leaves a note.
///
/// # Errors
/// There is no such run, it takes no note, or the text is none.
pub fn note(args: &NoteArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    let text = if args.text == "-" { standard_input()? } else { args.text.clone() };
    let notes = note::leave(&folder, &text)?;
    if args.json {
        output::json(&json!({"notes": notes}))?;
    } else {
        notes.iter().for_each(|line| output::talk(line));
    }
    Ok(Exit::Done)
}

fn standard_input() -> Result<String, Trouble> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_NOTE_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| {
        Trouble::new(format!("cannot read standard input: {error}"), "give the text as an argument")
    })?;
    let not_text = |_| Trouble::new("the note on standard input is not UTF-8 text", "write it as UTF-8");
    String::from_utf8(bytes).map_err(not_text)
}
