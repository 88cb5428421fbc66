//! Creates a journal atomically.
//!
//! The database is written under another name, synced to the disk and then renamed, so a process that dies
//! in between leaves no journal.

#![expect(clippy::disallowed_methods, reason = "the journal is a file")]

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::tables::{APPLICATION_ID, FORMAT, SET_META, TABLES, to_json};
use super::{Frozen, JournalError, checksum};

/// The page size in bytes. Most changes are a few hundred bytes, and the log receives every changed page.
const PAGE: i64 = 2048;

/// Creates the journal of a new run at `path`, where no file exists.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn make(path: &Path, frozen: &Frozen) -> Result<(), JournalError> {
    appear(path, |part| Ok(fill(part, frozen)?))
}

/// Lets a journal appear at `path`, where no file exists: `write` makes it at the path that it is given.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn appear(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    // SQLite would apply a log left by a removed journal to this one.
    let left = ["db-journal", "db-wal", "db-shm", "db.part"].map(|left| path.with_extension(left));
    left.iter().try_for_each(|left| remove(left))?;
    let part = path.with_extension("db.part");
    write(&part)?;
    File::open(&part)?.sync_all()?;
    Ok(std::fs::rename(part, path)?)
}

/// Writes a journal without records.
fn fill(path: &Path, frozen: &Frozen) -> rusqlite::Result<()> {
    // Nobody else knows the file, and it is synced as a whole.
    let db = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), "unix-none")?;
    checksum::provide(&db)?;
    for (name, value) in [("page_size", PAGE), ("synchronous", 0), ("application_id", APPLICATION_ID)] {
        db.pragma_update(None, name, value)?;
    }
    db.pragma_update(None, "journal_mode", "OFF")?;
    db.execute_batch(TABLES)?;
    db.pragma_update(None, "user_version", FORMAT)?;
    let frozen = to_json(frozen)?;
    for (key, value) in [("created_at", jiff::Timestamp::now().to_string()), ("frozen", frozen)] {
        db.execute(SET_META, [key, &value])?;
    }
    Ok(())
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
