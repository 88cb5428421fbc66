//! A copy of a journal in a temporary folder, for readers.
//!
//! SQLite writes files beside a database with a log even when it only reads. Readers therefore open a copy of the files,
//! in which SQLite reads the log, or undoes an unfinished transaction. They take no SQLite lock and need no write access.
//!
//! The copy is consistent. A writer only appends to its log, and the log is copied last, so whatever a checkpoint
//! wrote into the database meanwhile is still in it. If the log is restarted or a transaction begins or ends in between,
//! the files are copied again.

#![expect(clippy::disallowed_types, reason = "the journal is a file")]

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

use super::JournalError;
use super::files::{log_of, open_regular, rollback_of};
use super::store::FILE;
use super::tables::prepare;

/// The largest file that is copied, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// How long copying is retried. SQLite restarts a log about every thousand pages, so one retry is nearly always enough; on a
/// busy machine, a writer without a log may end several transactions during each copy.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause before a retry.
const PAUSE: Duration = Duration::from_millis(1);
const HEADER: u64 = 32;
/// Where a database counts the transactions that were written into it, and the end of that number.
const COUNTER: Range<usize> = 24..28;

/// Opens a copy of a journal, which lies in the folder.
pub(super) fn open(path: &Path) -> Result<(Connection, TempDir), JournalError> {
    let folder = copied(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => JournalError::damaged(path, "it is a link"),
        _ => JournalError::damaged(path, error.to_string()),
    })?;
    let broken = |error: rusqlite::Error| JournalError::damaged(path, error.to_string());
    let db = Connection::open(folder.path().join(FILE)).map_err(broken)?;
    prepare(&db, path)?;
    Ok((db, folder))
}

/// A consistent copy of the files.
fn copied(path: &Path) -> io::Result<TempDir> {
    let began = Instant::now();
    loop {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join(FILE);
        let before = stamp(path)?;
        copy_file(path, &copy)?;
        if_there(copy_file(&log_of(path), &log_of(&copy)))?;
        if_there(copy_file(&rollback_of(path), &rollback_of(&copy)))?;
        if stamp(path)? == before {
            return Ok(folder);
        }
        if began.elapsed() > PATIENCE {
            return Err(io::Error::new(ErrorKind::ResourceBusy, "it changes faster than it can be read"));
        }
        thread::sleep(PAUSE);
    }
}

/// Changes whenever the log is restarted, a transaction of a rollback journal begins or ends, or something is written to
/// the database.
fn stamp(path: &Path) -> io::Result<([Vec<u8>; 3], u64, i64, i64)> {
    let database = open_regular(path)?;
    let meta = database.metadata()?;
    let counter = start(database, COUNTER.end as u64)?.get(COUNTER).unwrap_or_default().to_vec();
    let header = |path| if_there(open_regular(path).and_then(|file| start(file, HEADER)));
    let (rollback, log) = (header(&rollback_of(path))?, header(&log_of(path))?);
    Ok(([counter, rollback, log], meta.len(), meta.mtime(), meta.mtime_nsec()))
}

fn start(file: File, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = open_regular(from)?;
    if file.metadata()?.len() > MAX_BYTES {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is larger than 1 GiB"));
    }
    io::copy(&mut file, &mut File::create(to)?).map(drop)
}

fn if_there<T: Default>(found: io::Result<T>) -> io::Result<T> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::journal::check;
    use crate::journal::storage::Mode;
    use crate::journal::store::{self, InsertedRecord, Store};
    use crate::testing::frozen;
    use mle_star_domain::effects::Limit;
    use mle_star_domain::place::Place;

    fn records(db: &Connection) -> i64 {
        let structure: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(structure, "ok");
        db.query_row("SELECT count(*) FROM effects", [], |row| row.get(0)).unwrap()
    }

    fn decide(store: &mut Store, place: &str) {
        let place = Place::from(place);
        let record = InsertedRecord { limit: Some(Limit::Time), ..InsertedRecord::at(&place) };
        store.insert(&record, 0.0).unwrap();
    }

    #[test]
    fn what_is_read_beside_a_writer_is_whole_and_never_older_than_before() {
        check_beside(Mode::Log, 6000);
        check_beside(Mode::Rollback, 600);
    }

    fn check_beside(mode: Mode, count: i64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(store::FILE);
        let mut store = Store::create(&path, &frozen(), mode).unwrap();
        let is_over = AtomicBool::new(false);
        let readings = thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..count {
                    decide(&mut store, &number.to_string());
                }
                is_over.store(true, Ordering::SeqCst);
            });
            let (mut last, mut readings) = (0, 0);
            while !is_over.load(Ordering::SeqCst) {
                let found = records(&open(&path).unwrap().0);
                assert!(found >= last, "{found} after {last}");
                (last, readings) = (found, readings + 1);
            }
            readings
        });
        assert!(readings > 10, "{readings}");
        assert_eq!(records(&open(&path).unwrap().0), count);
        assert_eq!(log_of(&path).exists(), mode == Mode::Log);
        drop(store);
        assert!(!log_of(&path).exists());
        assert_eq!(records(&open(&path).unwrap().0), count);
    }

    #[test]
    fn what_a_dead_process_left_in_a_transaction_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(store::FILE);
        let mut store = Store::create(&path, &frozen(), Mode::Rollback).unwrap();
        decide(&mut store, "before");
        let transaction = store.db.unchecked_transaction().unwrap();
        // More than the cache holds, so pages are written before the end.
        transaction.pragma_update(None, "cache_size", 1).unwrap();
        let sql = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                   UPDATE meta SET value = (SELECT group_concat(i, hex(randomblob(20))) FROM n)";
        transaction.execute(sql, []).unwrap();
        let left = tempfile::tempdir().unwrap();
        let copy = left.path().join(store::FILE);
        for name in [store::FILE, "journal.db-journal"] {
            fs::copy(folder.path().join(name), left.path().join(name)).unwrap();
        }
        assert!(fs::metadata(rollback_of(&copy)).unwrap().len() > 10_000);
        for _ in 0..2 {
            assert_eq!(records(&open(&copy).unwrap().0), 1);
            check::check(&copy).unwrap();
        }
        for mode in [Mode::Rollback, Mode::Log, Mode::Rollback] {
            assert_eq!(Store::open(&copy, mode).unwrap().frozen(&copy).unwrap(), frozen(), "{mode:?}");
        }
    }
}
