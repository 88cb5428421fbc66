//! Creates a journal atomically.
//!
//! The database is written under another name, synced to the disk and then renamed, so a process that dies
//! in between leaves no journal.

#![expect(clippy::disallowed_methods, reason = "the journal is a file")]

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, MAIN_DB};

use super::storage::Mode;
use super::tables::{APPLICATION_ID, FORMAT, LOGGING, SET_META, TABLES, json_error};
use super::{Frozen, JournalError, checksum};

/// The page size in bytes. Most changes are a few hundred bytes, and the log receives every changed page.
const PAGE: i64 = 2048;

/// Creates the journal of a new run at `path`, where no file exists.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn make(path: &Path, frozen: &Frozen, mode: Mode) -> Result<(), JournalError> {
    let mut bytes = image(frozen)?;
    if mode == Mode::Log {
        bytes[LOGGING].fill(2);
    }
    appear(path, |part| Ok(std::fs::write(part, &bytes)?))
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

/// The bytes of a journal without records.
fn image(frozen: &Frozen) -> rusqlite::Result<Vec<u8>> {
    static EMPTY: Mutex<Option<Connection>> = Mutex::new(None);
    let (now, frozen) =
        (jiff::Timestamp::now().to_string(), serde_json::to_string(frozen).map_err(json_error)?);
    let mut kept = EMPTY.lock().unwrap_or_else(PoisonError::into_inner);
    let mut db = kept.take().map_or_else(empty, Ok)?;
    db.execute_batch("BEGIN")?;
    for (key, value) in [("created_at", &now), ("frozen", &frozen)] {
        db.prepare_cached(SET_META)?.execute([key, value])?;
    }
    let bytes = db.serialize(MAIN_DB)?.to_vec();
    // The next journal starts with empty tables too; after a failure, with new ones.
    db.execute_batch("ROLLBACK")?;
    *kept = Some(db);
    Ok(bytes)
}

/// The tables of a journal in memory. The first run's tables are reused by the other runs of the process, because
/// creating them takes longer than the rest.
fn empty() -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    checksum::provide(&db)?;
    db.pragma_update(None, "page_size", PAGE)?;
    db.execute_batch(TABLES)?;
    db.pragma_update(None, "application_id", APPLICATION_ID)?;
    db.pragma_update(None, "user_version", FORMAT)?;
    Ok(db)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
