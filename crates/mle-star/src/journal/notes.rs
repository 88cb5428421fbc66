//! Notes of the user to the agents of a run that has begun.
//!
//! A process that works on a run holds its journal, so a note is left as a file in the run folder. The process takes the
//! files into the journal before the next call that sees notes; an interrupted run takes them when it is resumed. The record
//! of such a call holds how many notes it saw.

#![expect(clippy::disallowed_methods, reason = "notes are left as files beside the journal")]

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Journal, JournalError};
use crate::record::{EffectRecord, Kind};
use mle_star_domain::layout;
use mle_star_domain::place::Place;

/// The longest note, in characters.
pub const MAX_NOTE_CHARS: usize = 4000;
/// The most notes of a run.
pub const MAX_NOTES: usize = 20;

/// A note of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The file of the note in the run folder.
    file: String,
    /// When it was written, RFC 3339.
    pub at: String,
    /// The text of the note.
    pub text: String,
}

/// A note, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoteRow {
    /// When it was written, RFC 3339.
    pub at: String,
    /// The text of the note.
    pub text: String,
    /// The first call that saw it; `None` while none has.
    pub first_seen: Option<String>,
}

impl Journal {
    /// Takes the notes that were left since the last time into the journal. Returns all notes, in the order in which they
    /// were taken.
    ///
    /// # Errors
    /// The notes cannot be read, or the journal cannot be written.
    pub fn take_notes(&self) -> Result<Vec<Note>, JournalError> {
        let store = self.store();
        let mut notes = store.get_list("notes")?;
        let new = new_notes(self.folder(), &notes)?;
        if !new.is_empty() {
            notes.extend(new);
            store.set_json("notes", &notes)?;
        }
        Ok(notes)
    }
}

/// Leaves a note for a run. It appears with its whole content.
///
/// # Errors
/// The run folder cannot be written.
pub fn leave_note(folder: &Path, text: &str) -> io::Result<()> {
    let (notes, now) = (folder.join(layout::NOTES), jiff::Timestamp::now());
    fs::create_dir_all(&notes)?;
    let file = format!("{:020}-{}.json", now.as_nanosecond(), std::process::id());
    let note = Note { at: now.to_string(), text: text.to_owned(), file: file.clone() };
    let partial = notes.join(format!(".{file}.part"));
    fs::write(&partial, serde_json::to_vec(&note)?)?;
    fs::rename(partial, notes.join(file))
}

/// The notes of a run, those first that are in its journal.
pub(super) fn rows(folder: &Path, mut notes: Vec<Note>, effects: &[EffectRecord]) -> Vec<NoteRow> {
    notes.extend(new_notes(folder, &notes).unwrap_or_default());
    let saw = |effect: &EffectRecord| effect.request["notes"].as_u64().filter(|_| effect.limit.is_none());
    let first = |count: usize| {
        let calls = effects.iter().filter(|effect| effect.kind == Kind::Agent);
        let mut seen = calls.filter(|effect| saw(effect).is_some_and(|notes| notes as usize >= count));
        seen.next().map(|effect| Place::to_string(&effect.place))
    };
    let row = |(index, Note { at, text, .. })| NoteRow { at, text, first_seen: first(index + 1) };
    notes.into_iter().enumerate().map(row).collect()
}

/// The notes in the folder that are not among these, in the order in which they were written.
fn new_notes(folder: &Path, known: &[Note]) -> io::Result<Vec<Note>> {
    let notes = folder.join(layout::NOTES);
    let entries = match fs::read_dir(&notes) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names: io::Result<Vec<String>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let is_new = |name: &String| name.ends_with(".json") && known.iter().all(|note| note.file != *name);
    let mut names: Vec<String> = names?.into_iter().filter(is_new).collect();
    names.sort();
    let room = MAX_NOTES.saturating_sub(known.len());
    Ok(names.into_iter().filter_map(|name| read(&notes, name)).take(room).collect())
}

/// The note in a file; `None` if it is none.
fn read(notes: &Path, file: String) -> Option<Note> {
    /// In bytes: each character of a note may take several.
    const MAX_NOTE_BYTES: u64 = 16 * MAX_NOTE_CHARS as u64;
    let path = notes.join(&file);
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_NOTE_BYTES).read_to_string(&mut text).ok()?;
    let note: Note = serde_json::from_str(&text).ok()?;
    Some(Note { file, ..note }).filter(|note| note.text.chars().count() <= MAX_NOTE_CHARS)
}
