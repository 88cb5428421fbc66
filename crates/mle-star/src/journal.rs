//! The journal of a run. It performs each effect at most once and stores the outcome before the run uses it.
//!
//! A [`Journal`] is one SQLite file in the run folder with one writer. [`Journal::once`] is the central method: it
//! reads back an effect whose outcome is recorded, and performs and records any other. Decisions that depend on
//! the time or the budget are records too ([`Journal::decide`]), so a run is a function of its journal. Readers
//! such as reports and lists use [`read`].

#![expect(clippy::disallowed_types, reason = "the journal and its lock are files, the only ones here")]

mod birth;
mod check;
mod checksum;
mod continuation;
mod copy;
mod error;
mod files;
mod fork;
mod lock;
mod notes;
mod owner;
mod reader;
mod storage;
mod store;
mod tables;
mod wait;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

pub use crate::forked::ForkedFrom;
use continuation::Continuation;
pub use continuation::{Age, cuts_of};
pub use error::JournalError;
pub use lock::{Lock, RunLock, hold, is_locked, is_unsupported, lock_file, try_lock, wait_for_lock};
pub use notes::{MAX_NOTE_CHARS, MAX_NOTES, Note, NoteRow, leave_note};
pub use reader::{Snapshot, read};
use storage::Mode;
pub use storage::{Storage, storage};
use store::{InsertedRecord, Store, StoredOutcome};

use crate::diagnostics::Diagnostics;
use crate::lessons::EarlierRun;
pub use crate::made_with::{KeptFrom, MadeWith, in_words};
pub use crate::record::{EffectRecord, EffectState, Kind};
use crate::stop::Stop;
use crate::verdict::Verdict;
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::Config;
use mle_star_domain::effects::{AgentReply, Answer, Limit, ScriptEnd, ScriptOutcome, Usage};
use mle_star_domain::place::{Place, Step};
use mle_star_domain::protocol::Protocol;
use mle_star_domain::question;
use mle_star_domain::task::Task;

/// The inputs of a run, fixed when the run is created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    /// The run ID.
    pub run_id: String,
    /// The task, with every inferred value.
    pub task: Task,
    /// The configuration, with every default.
    pub config: Config,
    /// The prompt templates by file name.
    pub prompts: std::collections::BTreeMap<String, String>,
    /// The models from the user's file; `None` if the retriever chooses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_models: Option<Vec<RetrievedModel>>,
    /// What the runs tried that the user chose to learn from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<EarlierRun>,
    /// A digest of the data folder.
    pub data_id: String,
    /// How solutions are evaluated; `None` for the paper's way, with nothing added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The data in a few lines, for the prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_summary: Option<String>,
    /// Whether further tables can be joined to the training table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub linked_tables: bool,
    /// The text that scripts of the offline agents compute the metric with; `None` if they write none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric_source: Option<String>,
    /// What the run's first process says before it works.
    pub opening: Opening,
}

/// Where the inputs of a run come from and what was inferred, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// What everyone is told.
    pub said: Vec<String>,
    /// What a terminal leaves out.
    pub details: Vec<String>,
}

impl Frozen {
    /// Whether scripts of the search draw a sample of the training rows: the table has more than they may use, or its rows are
    /// not known.
    pub(crate) fn samples(&self) -> bool {
        let rows = self.protocol.as_ref().map_or(0, |protocol| protocol.rows);
        rows == 0 || rows > u64::from(self.config.subsample_limit)
    }
}

/// The only writer of a run's journal.
pub struct Journal {
    store: Mutex<Store>,
    visited: Mutex<HashSet<Place>>,
    closed: Mutex<HashSet<Step>>,
    /// When this process started work on the run. The run's clock stands still until then.
    started: OnceLock<Instant>,
    elapsed_before: f64,
    /// Whether there can be records of an earlier process. Records of this process are never looked up.
    has_past: bool,
    /// The larger limits that it got.
    continued: Mutex<Vec<Continuation>>,
    /// The run that it was forked from.
    forked: Option<ForkedFrom>,
    hold: RunLock,
}

/// The identity and the input of an effect.
pub struct Entry<'a> {
    place: &'a Place,
    kind: Kind,
    digest: String,
    request: String,
}

/// A value from the journal.
#[derive(Clone, Debug)]
pub struct Recorded<T> {
    /// The value.
    pub value: T,
    /// When the effect ended.
    pub at: jiff::Timestamp,
    /// Whether the value was read back. Otherwise, the effect was performed now.
    pub replayed: bool,
    /// Whether the effect was performed before a limit was raised.
    pub earlier: bool,
}

/// An outcome that the journal can store.
pub trait Outcome: Serialize + DeserializeOwned + Send {
    /// The cost and tokens of an agent's reply.
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// The limit that refused the effect, if any.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// The outcome to store for an effect that was interrupted but paid for; `None` if there is none to store.
    fn of_paid(_reason: &str, _usage: Usage) -> Option<Self> {
        None
    }
}

impl<'a> Entry<'a> {
    /// An effect of this kind at `place`. `input` is everything that determines the outcome; on a resume, it must
    /// serialize to the same JSON. `request` is what the journal stores of it for people.
    ///
    /// # Errors
    /// `input` or `request` cannot be serialized as JSON.
    pub fn new(
        place: &'a Place,
        kind: Kind,
        input: &impl Serialize,
        request: &impl Serialize,
    ) -> Result<Self, JournalError> {
        let digest = hash(&tables::to_json(input)?);
        Ok(Self { place, kind, digest, request: tables::to_json(request)? })
    }
}

impl Journal {
    /// Creates the journal of a new run in the existing `folder`, atomically.
    ///
    /// # Errors
    /// The folder already has a journal or cannot be written.
    pub fn create(folder: &Path, frozen: &Frozen) -> Result<Self, JournalError> {
        Self::create_in(hold(folder)?, frozen)
    }

    /// Like [`Journal::create`], in a folder whose lock this process already holds.
    ///
    /// # Errors
    /// As for [`Journal::create`].
    pub fn create_in(hold: RunLock, frozen: &Frozen) -> Result<Self, JournalError> {
        let path = hold.folder().join(store::FILE);
        if path.exists() {
            return Err(JournalError::Exists(hold.folder().to_owned()));
        }
        let store = wait::for_disk(|| Store::create(&path, frozen, Mode::of(hold.folder())))?;
        Ok(Self::new(store, hold, None))
    }

    /// Opens the journal of an interrupted run for writing. Effects without an outcome will be performed again.
    ///
    /// # Errors
    /// Another process has locked it, or it is missing, damaged or of another format. The file is unchanged in
    /// each case.
    pub fn open(folder: &Path) -> Result<(Self, Frozen), JournalError> {
        let path = folder.join(store::FILE);
        if !path.exists() {
            return Err(JournalError::Missing(path));
        }
        let hold = hold(folder)?;
        let store = Store::open(&path, Mode::of(folder))?;
        let frozen = store.frozen(&path)?;
        store.void_unfinished()?;
        let (elapsed, continued, forked) =
            (store.elapsed()?, store.get_list("continued")?, store.get_json("forked_from")?);
        let mut journal = Self::new(store, hold, Some(elapsed));
        journal.forked = forked;
        *lock(&journal.continued) = continued;
        Ok((journal, frozen))
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        self.hold.folder()
    }

    /// Seconds that the run has taken so far, including earlier processes.
    pub fn elapsed(&self) -> f64 {
        self.elapsed_before + self.started.get().map_or(0.0, |started| started.elapsed().as_secs_f64())
    }

    /// Writes a copy of the journal into an empty folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn copy_to(&self, folder: &Path) -> Result<(), JournalError> {
        Ok(self.store().copy_to(&folder.join(store::FILE))?)
    }

    /// The number of effects and verdicts that this process has read or made.
    pub(crate) fn used(&self) -> usize {
        lock(&self.visited).len() + lock(&self.closed).len()
    }

    /// Starts or continues the run's clock. Work before this call, such as creating an environment, does not
    /// count.
    pub fn start_clock(&self) {
        self.started.get_or_init(Instant::now);
    }

    /// Records the elapsed time, so that little of it is lost if the process is killed.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn heartbeat(&self) -> Result<(), JournalError> {
        Ok(self.store().set("elapsed", &self.elapsed().to_string())?)
    }

    /// Returns the outcome recorded at this place, or performs and records `effect`.
    ///
    /// # Errors
    /// The effect returned a stop, the recorded input differs, or the place was already used in this run.
    pub async fn once<T: Outcome>(
        &self,
        entry: Entry<'_>,
        effect: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Recorded<T>, Stop> {
        if !lock(&self.visited).insert(entry.place.clone()) {
            let what = "the same place was used twice in one run".to_owned();
            return Err(Stop::Bug { place: entry.place.clone(), what });
        }
        if let Some(found) = self.recorded(&entry)? {
            return Ok(self.read_back(entry.place, &found)?);
        }
        let seq = self.store().begin(&entry, self.elapsed()).map_err(JournalError::from)?;
        let end = |value: &T, state| {
            self.store().end(seq, value, self.elapsed(), state).map_err(JournalError::from)
        };
        match effect.await {
            Ok(value) => {
                let at = end(&value, EffectState::Ended)?;
                Ok(Recorded { value, at, replayed: false, earlier: false })
            }
            Err(stop) => {
                if let Stop::Agents { trouble, usage } = &stop
                    && usage.cost_usd.is_some()
                    && let Some(value) = T::of_paid(&trouble.message, *usage)
                {
                    end(&value, EffectState::Void)?;
                }
                Err(stop)
            }
        }
    }

    /// Records that `limit` skips the step at `place`.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn decide(&self, place: &Place, limit: Limit) -> Result<(), JournalError> {
        let record = InsertedRecord { limit: Some(limit), ..InsertedRecord::at(place) };
        Ok(self.store().insert(&record, self.elapsed())?)
    }

    /// Is there a record of this effect from an earlier process?
    ///
    /// # Errors
    /// Another input than the recorded one; a journal that cannot be read.
    pub fn has(&self, entry: &Entry<'_>) -> Result<bool, JournalError> {
        Ok(self.recorded(entry)?.is_some())
    }

    /// Whether an earlier process performed an effect of this kind at this place, whatever its input was.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn has_any(&self, place: &Place, kind: Kind) -> Result<bool, JournalError> {
        Ok(self.has_past && self.store().recorded(place, kind, "")?.is_some())
    }

    /// Records the verdict of a step. A replay that reaches another verdict than the recorded one stops the run.
    ///
    /// # Errors
    /// The recorded verdict differs, the step was already closed, or the journal cannot be written.
    pub fn close(&self, step: Step, verdict: &Verdict) -> Result<(), JournalError> {
        let place = step.place();
        let entry = Entry::new(&place, Kind::Verdict, verdict, &())?;
        if !lock(&self.closed).insert(step) {
            return Err(JournalError::Bug { place, what: "the step was closed twice in one run" });
        }
        match self.recorded(&entry) {
            Err(JournalError::OtherInput { .. }) => Err(JournalError::OtherVerdict { step }),
            Err(error) => Err(error),
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                let outcome = tables::to_json(verdict)?;
                let (kind, digest, limit) = (Kind::Verdict, entry.digest.as_str(), verdict.limit);
                let record = InsertedRecord { place: &place, kind, digest, outcome: &outcome, limit };
                Ok(self.store().insert(&record, self.elapsed())?)
            }
        }
    }

    /// Records that the path or phase at `place` failed. If several parts of it fail, the first cause stays.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn fail(&self, place: &Place, cause: &str) -> Result<(), JournalError> {
        let outcome = tables::to_json(&cause)?;
        let record = InsertedRecord { kind: Kind::Failure, outcome: &outcome, ..InsertedRecord::at(place) };
        let mut store = self.store();
        store.void_unfinished_below(place)?;
        if store.failures()?.iter().any(|(failed, _)| failed == place) {
            return Ok(());
        }
        Ok(store.insert(&record, self.elapsed())?)
    }

    /// The paths and phases that failed in earlier processes, each with its cause.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn failures(&self) -> Result<Vec<(Place, String)>, JournalError> {
        if !self.has_past {
            return Ok(Vec::new());
        }
        Ok(self.store().failures()?)
    }

    /// Records the versions of the programs that this process uses and what it keeps scripts from, unless they are those
    /// of the previous process. Returns the previous entry if it differs.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_made_with(&self, now: MadeWith) -> Result<Option<MadeWith>, JournalError> {
        let store = self.store();
        let mut all: Vec<MadeWith> = store.get_list("made_with")?;
        let before = all.last().cloned();
        if before.as_ref().is_some_and(|before| before.is_like(&now)) {
            return Ok(None);
        }
        all.push(MadeWith { resumed: store.has_records(), ..now });
        store.set_json("made_with", &all)?;
        Ok(before)
    }

    /// The program versions used for the run so far, one entry for each change.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn made_with(&self) -> Result<Vec<MadeWith>, JournalError> {
        Ok(self.store().get_list("made_with")?)
    }

    /// Records what ended the run early. A later call replaces it.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_stop(&self, diagnostics: Option<&Diagnostics>) -> Result<(), JournalError> {
        if diagnostics.is_none() && !self.has_past {
            return Ok(());
        }
        Ok(self.store().set_json("stopped", &diagnostics)?)
    }

    /// All records without their texts, oldest first: a request holds who was asked or what for, an outcome the score or
    /// the verdict. This takes little memory even for long runs.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn ledger(&self) -> Result<Vec<EffectRecord>, JournalError> {
        Ok(self.store().ledger()?)
    }

    /// `elapsed` is the time that earlier processes took; `None` for a new run.
    fn new(store: Store, hold: RunLock, elapsed: Option<f64>) -> Self {
        let (store, visited, closed) = (Mutex::new(store), Mutex::default(), Mutex::default());
        let started = OnceLock::new();
        let (elapsed_before, has_past) = (elapsed.unwrap_or_default(), elapsed.is_some());
        let continued = Mutex::default();
        Self { store, visited, closed, started, elapsed_before, has_past, continued, forked: None, hold }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    fn recorded(&self, entry: &Entry<'_>) -> Result<Option<StoredOutcome>, JournalError> {
        if !self.has_past {
            return Ok(None);
        }
        let store = self.store();
        match store.recorded(entry.place, entry.kind, &entry.digest)? {
            // With a larger limit, what came before may have become something else.
            Some(found) if found.digest != entry.digest && found.seq <= self.continued_after() => {
                store.set_state(found.seq, EffectState::Aside)?;
                // An older record that was set aside may be of just this input.
                Ok(store.recorded(entry.place, entry.kind, &entry.digest)?)
            }
            Some(found) if found.digest != entry.digest => {
                let what = store.differs_in(found.seq, &entry.request)?;
                Err(JournalError::OtherInput { place: entry.place.clone(), what })
            }
            found => Ok(found),
        }
    }

    fn read_back<T: Outcome>(
        &self,
        place: &Place,
        found: &StoredOutcome,
    ) -> Result<Recorded<T>, JournalError> {
        let path = self.folder().join(store::FILE);
        let damaged = |what: String| JournalError::damaged(&path, format!("the record at {place}: {what}"));
        let value = serde_json::from_str(&found.outcome).map_err(|error| damaged(error.to_string()))?;
        let at = found.ended_at.parse().map_err(|error: jiff::Error| damaged(error.to_string()))?;
        Ok(Recorded { value, at, replayed: true, earlier: found.seq <= self.continued_after() })
    }
}

impl Drop for Journal {
    /// Copies the log into the database, as SQLite does when it closes the file. After a failure, the next process that opens the
    /// journal does it.
    fn drop(&mut self) {
        drop(wait::for_disk(|| self.store().db.execute_batch("PRAGMA wal_checkpoint(PASSIVE)")));
    }
}

impl Outcome for AgentReply {
    fn usage(&self) -> Option<Usage> {
        Some(self.usage)
    }

    fn limit(&self) -> Option<Limit> {
        match self.answer {
            Answer::Refused { limit } => Some(limit),
            Answer::Text { .. } | Answer::Failed { .. } => None,
        }
    }

    /// A resume performs the call again, but this one was paid for.
    fn of_paid(reason: &str, usage: Usage) -> Option<Self> {
        Some(Self::failed(reason, usage))
    }
}

impl Outcome for ScriptOutcome {
    fn limit(&self) -> Option<Limit> {
        match self.end {
            ScriptEnd::Refused { limit } => Some(limit),
            _ => self.cut_by,
        }
    }
}

impl Outcome for question::Answer {
    fn limit(&self) -> Option<Limit> {
        match self {
            Self::Combination(outcome) => outcome.limit(),
            _ => None,
        }
    }
}

/// The digest of an input. Equal JSON values have equal digests.
pub fn digest(input: &Value) -> String {
    hash(&input.to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
