//! The journal as a file: one writer, one format, nothing taken from a stranger.

use mle_star::journal::{Journal, JournalError, read};
use mle_star::testing::frozen;

use crate::Folder;

#[test]
fn a_second_writer_is_told_who_holds_the_run() {
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &frozen()).unwrap();
    let Err(JournalError::Held { holder }) = Journal::open(folder.path()) else { panic!("two writers") };
    assert_eq!(holder, format!("process {}", std::process::id()));
    assert!(read(folder.path()).is_ok(), "readers are welcome");
    drop(journal);
    assert!(Journal::open(folder.path()).is_ok());
    assert!(matches!(Journal::create(folder.path(), &frozen()), Err(JournalError::Exists(_))));
}

#[test]
fn foreign_and_damaged_files_are_refused_untouched() {
    let check = |spoil: &dyn Fn(&std::path::Path), expected: &str| {
        let folder = Folder::fresh();
        drop(Journal::create(folder.path(), &frozen()).unwrap());
        let file = folder.path().join("journal.db");
        spoil(&file);
        let before = std::fs::read(&file).unwrap();
        let Err(error) = Journal::open(folder.path()) else { panic!("{expected}: it was opened") };
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!error.hint().is_empty());
        assert_eq!(std::fs::read(&file).unwrap(), before);
    };
    let pragma = |sql: &'static str| {
        move |file: &std::path::Path| rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap()
    };
    check(&pragma("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE);"), "format 99");
    check(&pragma("PRAGMA application_id = 7; PRAGMA wal_checkpoint(TRUNCATE);"), "another kind of file");
    check(
        &|file| std::fs::write(file, "not a database at all, but long enough to be read").unwrap(),
        "not a",
    );
}

#[test]
fn a_journal_whose_making_was_cut_short_is_none() {
    let folder = Folder::fresh();
    std::fs::write(folder.path().join("journal.db"), "").unwrap();
    assert!(matches!(Journal::open(folder.path()), Err(JournalError::Missing(_))));
    drop(Journal::create(folder.path(), &frozen()).unwrap());
    assert!(Journal::open(folder.path()).is_ok());
}

#[test]
fn a_missing_journal_says_so() {
    let folder = Folder::fresh();
    assert!(matches!(Journal::open(folder.path()), Err(JournalError::Missing(_))));
    assert!(matches!(read(folder.path()), Err(JournalError::Missing(_))));
}
