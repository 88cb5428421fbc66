//! Making a journal: whole, or not at all.
//!
//! The file is made in memory, forced to the disk under another name and then given its own, so whoever dies on the
//! way leaves no journal.

#![expect(clippy::disallowed_methods, reason = "the journal is a file")]

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, MAIN_DB};

use super::store::{APPLICATION_ID, FORMAT, SET_META, TABLES, json_error};
use super::{Frozen, JournalError, seal};

/// Where SQLite's header says, for writers and for readers, how changes are made: 2 is with a log. Only a file can
/// have one, so databases in memory say 1.
pub(super) const LOGGING: Range<usize> = 18..20;

/// Bytes of a page. Most changes are of a few hundred, and the log gets the pages that they are on.
const PAGE: i64 = 2048;

/// Makes the journal of a new run at `path`, where none is.
///
/// # Errors
/// The folder cannot be written.
pub(super) fn make(path: &Path, frozen: &Frozen) -> Result<(), JournalError> {
    // The log of a journal that somebody removed would count as this one's.
    ["db-journal", "db-wal", "db-shm"].iter().try_for_each(|left| remove(&path.with_extension(left)))?;
    let part = path.with_extension("db.part");
    let mut file = File::create(&part)?;
    file.write_all(&image(frozen)?)?;
    file.sync_all()?;
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
    let mut bytes = db.serialize(MAIN_DB)?.to_vec();
    bytes[LOGGING].fill(2);
    // The next one begins with empty tables, too; after a failure with new ones.
    db.execute_batch("ROLLBACK")?;
    *kept = Some(db);
    Ok(bytes)
}

/// The tables of a journal in memory. Those of the first run are kept for the others of the process: making them takes
/// longer than the rest.
fn empty() -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    seal::provide(&db)?;
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
