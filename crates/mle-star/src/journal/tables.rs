//! The tables of a journal in SQLite, and how a file shows that it has them.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::FromSql;

use super::{JournalError, checksum};

/// The version of the tables below.
pub(super) const FORMAT: i64 = 3;
/// SQLite's application ID of a journal: "MLES".
pub(super) const APPLICATION_ID: i64 = 0x4d4c_4553;

/// A record's `state` is `begun`, then `ended`. It is `void` if it does not count because it was interrupted or
/// ended the run, and `aside` if a larger limit reopened the run at an earlier step.
pub(super) const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
CREATE TABLE effects (
    seq INTEGER PRIMARY KEY,
    place TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    digest TEXT NOT NULL,
    request TEXT NOT NULL,
    outcome TEXT,
    limit_hit TEXT,
    cost_usd REAL,
    tokens_input INTEGER, tokens_output INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER,
    begun_at TEXT NOT NULL, ended_at TEXT,
    elapsed_begun REAL NOT NULL, elapsed_ended REAL,
    begun_seal TEXT NOT NULL, ended_seal TEXT
) STRICT;
CREATE UNIQUE INDEX one_live_record ON effects (place, kind) WHERE state IN ('begun', 'ended');
CREATE INDEX by_place ON effects (place);
";

pub(super) const SET_META: &str = "INSERT INTO meta VALUES (?1, ?2, seal(?1, ?2))
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, seal = excluded.seal";

/// Prepares a connection for reading: checks that this is a journal of a supported format.
pub(super) fn prepare(db: &Connection, path: &Path) -> Result<(), JournalError> {
    let broken = |error: rusqlite::Error| JournalError::damaged(path, error.to_string());
    checksum::provide(db).map_err(broken)?;
    if pragma::<i64>(db, "application_id").map_err(broken)? != APPLICATION_ID {
        return Err(JournalError::damaged(path, "it is another kind of file"));
    }
    match pragma(db, "user_version").map_err(broken)? {
        FORMAT => Ok(()),
        found => Err(JournalError::Format { path: path.into(), found }),
    }
}

/// A value as SQLite keeps it.
pub(super) fn to_json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(json_error)
}

pub(super) fn json_error(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

pub(super) fn pragma<T: FromSql>(db: &Connection, name: &str) -> rusqlite::Result<T> {
    db.pragma_query_value(None, name, |row| row.get(0))
}
