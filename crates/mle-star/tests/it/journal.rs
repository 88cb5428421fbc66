//! The journal as a file: one writer, one format, no damaged or unknown file accepted.

use mle_star::journal::{EffectRecord, Journal, JournalError, MadeWith, hold, lock_file, read};
use mle_star::spending::spending;
use mle_star::testing::{World, frozen};
use mle_star_domain::config::Config;
use mle_star_domain::layout::LOCK;
use serde_json::json;

use crate::{Folder, go_on};

#[test]
fn a_second_writer_learns_which_process_holds_the_run() {
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &frozen()).unwrap();
    let Err(JournalError::Held { holder }) = Journal::open(folder.path()) else { panic!("two writers") };
    assert_eq!(holder, format!("process {}", std::process::id()));
    assert!(read(folder.path()).is_ok(), "readers are welcome");
    drop(journal);
    assert!(Journal::open(folder.path()).is_ok());
    assert!(matches!(Journal::create(folder.path(), &frozen()), Err(JournalError::Exists(_))));
}

/// A run with paid and free calls, refusals and calls that ended it.
#[tokio::test]
async fn the_ledger_tells_of_every_record_but_its_texts() {
    let (folder, mut inputs) = (Folder::fresh(), frozen());
    inputs.config.max_budget_usd = Some(1.0);
    let world = World::new().costs(Some(0.1)).breaks_once("phase1/merge-1/merger");
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    assert_eq!(journal.ledger().unwrap(), []);
    go_on(&world, &inputs, &journal).await.unwrap_err();
    drop(journal);
    let (journal, _) = Journal::open(folder.path()).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    let (whole, ledger) = (journal.effects().unwrap(), journal.ledger().unwrap());
    assert!(whole.iter().any(|effect| effect.limit.is_some()) && whole.iter().any(|e| e.outcome.is_none()));
    let config = Config::default();
    assert_eq!(spending(&ledger, &config), spending(&whole, &config));
    let without_texts = |effect: &EffectRecord| EffectRecord {
        request: json!({
            "agent": effect.request.get("agent"), "model": effect.request.get("model"), "read_back": false,
            "purpose": effect.request.get("purpose"),
        }),
        outcome: None,
        ..effect.clone()
    };
    let outcomes = |records: &[EffectRecord], field: &str| -> Vec<Option<serde_json::Value>> {
        records.iter().map(|one| one.outcome.as_ref().map(|outcome| outcome[field].clone())).collect()
    };
    for field in ["score", "kept"] {
        assert_eq!(outcomes(&ledger, field), outcomes(&whole, field));
    }
    assert!(outcomes(&ledger, "stdout").iter().flatten().all(serde_json::Value::is_null));
    let ledger: Vec<_> = ledger.into_iter().map(|one| EffectRecord { outcome: None, ..one }).collect();
    assert_eq!(ledger, whole.iter().map(without_texts).collect::<Vec<_>>());
}

/// A folder with the journal of a finished run, as it lies there while or after a process works on it.
async fn with_a_run(log: Log) -> Folder {
    let (folder, world, inputs) = (Folder::fresh(), World::new(), frozen());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    let copy = Folder::fresh();
    if log == Log::Emptied {
        drop(journal);
    }
    for name in ["journal.db", "journal.db-wal"] {
        let _ = std::fs::copy(folder.path().join(name), copy.path().join(name));
    }
    copy
}

#[derive(Clone, Copy, PartialEq)]
enum Log {
    Emptied,
    Full,
}

/// The journal and its log; an empty log counts as missing.
fn bytes(folder: &Folder) -> [Vec<u8>; 2] {
    ["journal.db", "journal.db-wal"].map(|name| std::fs::read(folder.path().join(name)).unwrap_or_default())
}

/// A copy of the journal in `folder` with one file of it changed.
fn spoiled(folder: &Folder, name: &str, spoil: impl FnOnce(&mut Vec<u8>)) -> Folder {
    let copy = Folder::fresh();
    for file in ["journal.db", "journal.db-wal"] {
        let _ = std::fs::copy(folder.path().join(file), copy.path().join(file));
    }
    let file = copy.path().join(name);
    let mut bytes = std::fs::read(&file).unwrap();
    spoil(&mut bytes);
    std::fs::write(file, bytes).unwrap();
    copy
}

/// Opening it fails with this message and leaves every byte unchanged.
fn check_refused(folder: &Folder, expected: &str) {
    let before = bytes(folder);
    let error = Journal::open(folder.path()).map(drop).unwrap_err();
    assert!(error.to_string().contains(expected), "{expected}: {error}");
    assert!(error.to_string().contains("journal.db"), "{error}");
    assert!(!error.hint().is_empty());
    let _ = read(folder.path());
    assert!(bytes(folder) == before, "{expected}: it was changed");
}

#[tokio::test]
async fn foreign_and_damaged_files_are_refused_untouched() {
    let run = with_a_run(Log::Emptied).await;
    let check = |spoil: &dyn Fn(&mut Vec<u8>), expected: &str| {
        check_refused(&spoiled(&run, "journal.db", spoil), expected);
    };
    check(&|bytes| bytes[63] = 1, "format 1;");
    check(&|bytes| bytes[63] = 99, "format 99;");
    check(&|bytes| bytes[71] = 7, "another kind of file");
    check(&|bytes| *bytes = b"not a database at all, but long enough to be read".to_vec(), "not a");
    check(&|bytes| bytes.truncate(bytes.len() / 2), "malformed");
    check(&|bytes| bytes.truncate(4096), "malformed");
    check(&|bytes| replace(bytes, b"\"run_id\":\"toy", b"\"run_id\":\"boy"), "the entry \"frozen\"");
    let kept = spoiled(&run, "journal.db", |_| ());
    let edit = "UPDATE effects SET outcome = replace(outcome, 'code', 'Code') WHERE place = 'phase1/candidate-0/run'";
    rusqlite::Connection::open(kept.path().join("journal.db")).unwrap().execute(edit, []).unwrap();
    check_refused(&kept, "(phase1/candidate-0/run) does not match its checksum");
    let (whole, shown) = (read(run.path()).unwrap(), read(kept.path()).unwrap());
    assert_eq!(shown.effects.len() + 1, whole.effects.len(), "the others are shown");
    assert!(shown.damage.unwrap().contains("record "));
}

/// Replaces the first occurrence.
/// Replaces every occurrence: SQLite may leave an old copy of a text in unused space.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let all = bytes.windows(old.len()).enumerate().filter(|(_, window)| *window == old);
    let places: Vec<usize> = all.map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + new.len()].copy_from_slice(new);
    }
}

#[tokio::test]
async fn a_log_that_was_cut_short_loses_what_was_cut_off_and_nothing_else() {
    let run = with_a_run(Log::Full).await;
    let whole = read(run.path()).unwrap().effects;
    let ended = |effects: &[EffectRecord]| effects.iter().filter(|e| e.outcome.is_some()).count();
    let length = bytes(&run)[1].len();
    for cut in [length - 1, length - 5000, length / 2, length / 3 + 7] {
        let cut = spoiled(&run, "journal.db-wal", |bytes| bytes.truncate(cut));
        let (journal, _) = Journal::open(cut.path()).unwrap();
        let kept = journal.effects().unwrap();
        assert!(ended(&kept) < ended(&whole));
        assert!(kept.iter().filter(|effect| effect.outcome.is_some()).all(|effect| whole.contains(effect)));
    }
}

/// Flips a bit at random positions: the file is refused, or its contents are the same.
fn check_flips(run: &Folder, name: &str, count: u64) -> usize {
    let whole = read(run.path()).unwrap();
    let mut random = 0x5eed_u64;
    let mut refused = 0;
    for _ in 0..count {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (mut at, bit) = (0, (random >> 20) & 7);
        let flipped = spoiled(run, name, |bytes| {
            at = usize::try_from(random >> 33).unwrap() % bytes.len();
            bytes[at] ^= 1 << bit;
        });
        let before = bytes(&flipped);
        if let Ok((journal, frozen)) = Journal::open(flipped.path()) {
            assert_eq!(frozen, whole.frozen, "{name} at {at}, bit {bit}");
            let effects = journal.effects().unwrap();
            assert_eq!(effects, whole.effects, "{name} at {at}, bit {bit}");
        } else {
            refused += 1;
            assert!(bytes(&flipped) == before, "{name} was changed: {at}, bit {bit}");
        }
    }
    refused
}

#[tokio::test]
async fn a_flipped_bit_is_noticed_or_changes_nothing() {
    let refused = check_flips(&with_a_run(Log::Emptied).await, "journal.db", 400);
    assert!(refused > 200, "{refused}");
}

#[test]
fn a_journal_whose_making_was_cut_short_is_none() {
    let check = |left: &[&str]| {
        let folder = Folder::fresh();
        left.iter().for_each(|name| std::fs::write(folder.path().join(name), [1; 600]).unwrap());
        assert!(matches!(Journal::open(folder.path()), Err(JournalError::Missing(_))), "{left:?}");
        drop(Journal::create(folder.path(), &frozen()).unwrap());
        assert_eq!(Journal::open(folder.path()).unwrap().1, frozen(), "{left:?}");
        assert!(!folder.path().join("journal.db.part").exists());
    };
    check(&["journal.db.part"]);
    // The log of a removed journal.
    check(&["journal.db-journal", "journal.db-wal", "journal.db-shm"]);
}

/// A killed program's children have its lock until they close what they inherited.
#[test]
fn the_lock_of_a_process_that_has_ended_is_waited_for() {
    let folder = Folder::fresh();
    let inherited = lock_file(&folder.path().join(LOCK)).unwrap();
    // Numbers of processes end at 4194304.
    std::fs::write(folder.path().join(LOCK), "process 4194305").unwrap();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        drop(inherited);
    });
    assert!(hold(folder.path()).is_ok());
    closing.join().unwrap();
}

#[test]
fn a_missing_journal_says_so() {
    let folder = Folder::fresh();
    assert!(matches!(Journal::open(folder.path()), Err(JournalError::Missing(_))));
    assert!(matches!(read(folder.path()), Err(JournalError::Missing(_))));
}

#[test]
fn the_first_process_to_lock_a_folder_creates_the_run() {
    let folder = Folder::fresh();
    let first = hold(folder.path()).unwrap();
    assert!(matches!(hold(folder.path()), Err(JournalError::Held { .. })));
    let journal = Journal::create_in(first, &frozen()).unwrap();
    assert!(matches!(hold(folder.path()), Err(JournalError::Held { .. })));
    drop(journal);
    let late = Journal::create_in(hold(folder.path()).unwrap(), &frozen());
    assert!(matches!(late, Err(JournalError::Exists(_))));
}

#[tokio::test]
async fn what_a_run_is_made_with_is_noted_when_it_changes() {
    let (folder, world, inputs) = (Folder::fresh(), World::new(), frozen());
    let with = |mle_star: &str| MadeWith {
        mle_star: mle_star.to_owned(),
        at: "2026-01-01T00:00:00Z".to_owned(),
        ..MadeWith::default()
    };
    let known = |folder: &Folder| {
        let made_with = read(folder.path()).unwrap().made_with;
        made_with.into_iter().map(|with| (with.mle_star, with.resumed)).collect::<Vec<_>>()
    };
    let entry = |mle_star: &str, resumed| (mle_star.to_owned(), resumed);
    // The metadata of a version that does not record program versions.
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    assert_eq!(known(&folder), []);
    assert_eq!(journal.note_made_with(with("1")).unwrap(), None);
    let later = MadeWith { at: "2026-01-02T00:00:00Z".to_owned(), ..with("1") };
    assert_eq!(journal.note_made_with(later).unwrap(), None);
    assert_eq!(known(&folder), [entry("1", false)]);
    let result = go_on(&world, &inputs, &journal).await.unwrap().result;
    assert_eq!(result.made_with, [with("1")]);
    drop(journal);
    let (journal, _) = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.note_made_with(with("2")).unwrap(), Some(with("1")));
    assert_eq!(known(&folder), [entry("1", false), entry("2", true)]);

    let old = with_a_run(Log::Emptied).await;
    let (journal, _) = Journal::open(old.path()).unwrap();
    assert_eq!(journal.note_made_with(with("2")).unwrap(), None);
    assert_eq!(known(&old), [entry("2", true)]);
}
