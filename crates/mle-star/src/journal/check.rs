//! Checks a journal for damage before anything is written to it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::files::{log_of, rollback_of};
use super::storage::Mode;
use super::tables::{TABLES, is_known};
use super::{JournalError, checksum, image};

/// Opens a journal in place. Only the process that works on the run may do this, since SQLite writes files beside
/// it.
pub(super) fn open_in_place(path: &Path) -> Result<Connection, JournalError> {
    // SQLite would remove the log of an empty file.
    if length(path) == 0 {
        return Err(JournalError::damaged(path, "it is empty"));
    }
    let broken = |error: rusqlite::Error| JournalError::damaged(path, error.to_string());
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(broken)?;
    db.busy_timeout(Duration::from_secs(10)).map_err(broken)?;
    checksum::provide(&db).map_err(broken)?;
    is_known(&db, path)?;
    Ok(db)
}

/// Checks SQLite's structures and every record.
pub(super) fn check(path: &Path, mode: Mode) -> Result<(), JournalError> {
    // SQLite cannot undo a transaction without writing.
    let is_in_memory = mode == Mode::Rollback || length(&rollback_of(path)) > 0;
    let (db, log_is_read) = if is_in_memory {
        image::open(path)?
    } else {
        let db = open_in_place(path)?;
        let log_is_read = pragma_text(&db, "journal_mode").is_ok_and(|mode| mode == "wal");
        (db, log_is_read)
    };
    let found = first_damage(&db).unwrap_or_else(|error| Some(error.to_string()));
    match found {
        Some(what) => Err(JournalError::damaged(path, what)),
        None if !log_is_read && length(&log_of(path)) > 0 => Err(JournalError::damaged(
            path,
            "its header says that there is no log, and there is one".to_owned(),
        )),
        None => Ok(()),
    }
}

fn first_damage(db: &Connection) -> rusqlite::Result<Option<String>> {
    let structure: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if structure != "ok" {
        return Ok(Some(structure.lines().collect::<Vec<_>>().join(", ")));
    }
    if schema(db)? != schema_as_made()? {
        return Ok(Some("its tables are not those of a journal".to_owned()));
    }
    let meta = format!("SELECT key FROM meta WHERE seal IS NOT {} LIMIT 1", checksum::META);
    if let Some(key) = db.query_row(&meta, [], |row| row.get::<_, String>(0)).optional()? {
        return Ok(Some(format!("the entry \"{key}\" does not match its checksum")));
    }
    let record = format!("SELECT seq, place FROM effects WHERE NOT {} LIMIT 1", checksum::is_whole());
    let record =
        db.query_row(&record, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))).optional()?;
    Ok(record.map(|(seq, place)| format!("record {seq} ({place}) does not match its checksum")))
}

fn schema(db: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT name, sql FROM sqlite_schema ORDER BY name";
    db.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn schema_as_made() -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(TABLES)?;
    schema(&db)
}

fn pragma_text(db: &Connection, name: &str) -> rusqlite::Result<String> {
    db.pragma_query_value(None, name, |row| row.get(0))
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}
