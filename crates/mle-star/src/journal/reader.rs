//! Reads a journal without locking its run, for lists, reports and pages. Nothing is written.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::continuation::Continuation;
use super::storage::Mode;
use super::store::{self, Store};
use super::tables::prepare;
use super::{ForkedFrom, Frozen, JournalError, NoteRow, copy, lock, notes};
use crate::diagnostics::Diagnostics;
use crate::made_with::MadeWith;
use crate::record::{EffectRecord, Kind, first_limit, verdicts};
use crate::verdict::Verdicts;
use mle_star_domain::effects::Limit;
use mle_star_domain::place::{Place, Step};

/// The contents of a journal at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The run's inputs.
    pub frozen: Frozen,
    /// When the run was created, RFC 3339.
    pub created_at: String,
    /// The program versions used so far, one entry for each change. Empty if they were not recorded.
    pub made_with: Vec<MadeWith>,
    /// Seconds the run has taken so far.
    pub elapsed: f64,
    /// All readable records, oldest first.
    pub effects: Vec<EffectRecord>,
    /// What last ended the run early.
    pub stopped: Option<Diagnostics>,
    /// The run that it was forked from.
    pub forked_from: Option<ForkedFrom>,
    /// The notes of the user, in the order in which they were written.
    pub notes: Vec<NoteRow>,
    /// The number of the last record before a limit was raised for the last time; 0 if none was.
    pub continued_after: i64,
    /// The damage found while reading.
    pub damage: Option<String>,
}

impl Snapshot {
    /// The verdicts of the steps that have ended.
    pub fn verdicts(&self) -> Verdicts {
        verdicts(&self.effects)
    }

    /// The first limit of the whole run that cut or skipped something since the limits are what they are.
    pub fn first_limit(&self) -> Option<Limit> {
        first_limit(&self.effects, self.continued_after)
    }

    /// The steps in which a leak was found after the first run, so that a corrected script ran again.
    pub fn corrected(&self) -> BTreeSet<Step> {
        let is_one = |effect: &&EffectRecord| effect.kind == Kind::Script && effect.place.is_corrected();
        self.effects.iter().filter(is_one).filter_map(|effect| effect.place.step()).collect()
    }

    /// The paths and phases that failed, each with its cause.
    pub fn failures(&self) -> Vec<(Place, String)> {
        let failures = self.effects.iter().filter(|effect| effect.kind == Kind::Failure && effect.counts());
        let cause = |effect: &EffectRecord| effect.outcome.as_ref()?.as_str().map(str::to_owned);
        failures.filter_map(|effect| Some((effect.place.clone(), cause(effect)?))).collect()
    }
}

/// Reads the journal in a run folder, even while the run is in progress. Reads as much as possible of a damaged
/// journal. Nothing is written, so read access is enough.
///
/// # Errors
/// The journal is missing, of another format, or so damaged that not even the run's inputs can be read.
pub fn read(folder: &Path) -> Result<Snapshot, JournalError> {
    let (snapshot, damage) = read_with_damage(folder)?;
    Ok(Snapshot { damage: damage.map(|error| error.to_string()), ..snapshot })
}

/// Reads a journal that is not damaged.
///
/// # Errors
/// The journal cannot be read, or only in part.
pub(super) fn read_whole(folder: &Path) -> Result<Snapshot, JournalError> {
    let (snapshot, damage) = read_with_damage(folder)?;
    damage.map_or(Ok(snapshot), Err)
}

fn read_with_damage(folder: &Path) -> Result<(Snapshot, Option<JournalError>), JournalError> {
    let path = folder.join(store::FILE);
    let store = connect(folder)?;
    let frozen = store.frozen(&path)?;
    let (effects, damage) = store.readable_effects();
    let damage = damage.map(|what| JournalError::damaged(&path, what));
    let continued: Vec<Continuation> = store.get_list("continued").unwrap_or_default();
    let snapshot = Snapshot {
        frozen,
        created_at: store.get("created_at").unwrap_or_default().unwrap_or_default(),
        made_with: store.get_list("made_with").unwrap_or_default(),
        elapsed: store.elapsed().unwrap_or_default(),
        stopped: store.get_json::<Option<Diagnostics>>("stopped").unwrap_or_default().flatten(),
        forked_from: store.get_json("forked_from").unwrap_or_default(),
        notes: notes::rows(folder, store.get_list("notes").unwrap_or_default(), &effects),
        continued_after: continued.last().map_or(0, |continuation| continuation.last),
        effects,
        damage: None,
    };
    Ok((snapshot, damage))
}

/// Opens the journal in a run folder for reading.
pub(super) fn connect(folder: &Path) -> Result<Store, JournalError> {
    let path = folder.join(store::FILE);
    if path.symlink_metadata().is_err() {
        return Err(JournalError::Missing(path));
    }
    // POSIX locks belong to the process: if the process that works on the run closed the file, it would drop the
    // locks of its own connection.
    if lock::is_ours(folder) && Mode::of(folder) == Mode::Log {
        return Ok(Store::reading(open_in_place(&path)?, None));
    }
    let (db, copy) = copy::open(&path)?;
    Ok(Store::reading(db, Some(copy)))
}

/// Only the process that works on the run may do this, since SQLite writes files beside the journal.
fn open_in_place(path: &Path) -> Result<Connection, JournalError> {
    let broken = |error: rusqlite::Error| JournalError::damaged(path, error.to_string());
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(broken)?;
    db.busy_timeout(Duration::from_secs(10)).map_err(broken)?;
    prepare(&db, path)?;
    Ok(db)
}
