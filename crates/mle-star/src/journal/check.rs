//! Checks a journal for damage before anything is written to it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::files::log_of;
use super::tables::{TABLES, pragma};
use super::{JournalError, checksum, copy};

/// Checks SQLite's structures and every record, in a copy.
pub(super) fn check(path: &Path) -> Result<(), JournalError> {
    let (db, _folder) = copy::open(path)?;
    let log_is_read = pragma::<String>(&db, "journal_mode").is_ok_and(|mode| mode == "wal");
    let has_log = std::fs::metadata(log_of(path)).is_ok_and(|meta| meta.len() > 0);
    let unread = || {
        let is_unread = has_log && !log_is_read;
        is_unread.then(|| "its header says that there is no log, and there is one".to_owned())
    };
    let found = first_damage(&db).unwrap_or_else(|error| Some(error.to_string())).or_else(unread);
    found.map_or(Ok(()), |what| Err(JournalError::damaged(path, what)))
}

fn first_damage(db: &Connection) -> rusqlite::Result<Option<String>> {
    let structure: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if structure != "ok" {
        return Ok(Some(structure.lines().collect::<Vec<_>>().join(", ")));
    }
    let new = Connection::open_in_memory()?;
    new.execute_batch(TABLES)?;
    if schema(db)? != schema(&new)? {
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
