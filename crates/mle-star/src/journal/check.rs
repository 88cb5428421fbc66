//! Checks a journal for damage before anything is written to it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::files::log_of;
use super::tables::TABLES;
use super::{JournalError, checksum, copy};

/// Checks SQLite's structures and every record, in a copy.
pub(super) fn check(path: &Path) -> Result<(), JournalError> {
    let (db, _folder) = copy::open(path)?;
    let log_is_read = pragma_text(&db, "journal_mode").is_ok_and(|mode| mode == "wal");
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
