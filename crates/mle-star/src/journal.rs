//! The run's memory: every effect once, durable before its value is used.
//!
//! A [`Journal`] is one SQLite file in the run folder with one writer. [`Journal::once`] is the heart: an
//! effect whose outcome is recorded is read back, any other is performed and recorded. Decisions taken from
//! the clock or the purse are records too ([`Journal::decide`]), so a run is a function of its journal.
//! Everything that only looks (reports, lists) uses [`read`].

#![expect(clippy::disallowed_types, reason = "the journal and its lock are files, the only ones here")]

mod birth;
mod check;
mod error;
mod image;
mod lock;
mod made_with;
mod reader;
mod seal;
mod store;
mod wait;
mod wal;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

pub use error::JournalError;
pub use lock::{Hold, hold};
pub use made_with::{MadeWith, in_words};
pub use reader::{EffectRecord, EffectState, Snapshot, cost, first_limit, read};
use store::{Found, Inserted, Store};

use crate::answers::RetrievedModel;
use crate::config::Config;
use crate::diagnostics::Diagnostics;
use crate::effects::{AgentReply, Answer, Limit, ScriptEnd, ScriptOutcome, Usage};
use crate::place::{Place, Step};
use crate::stop::Stop;
use crate::task::Task;
use crate::verdict::Verdict;

/// The inputs of a run as they were frozen before anything was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    /// The run's name.
    pub run_id: String,
    /// The task, every guess made.
    pub task: Task,
    /// The configuration, every default filled in.
    pub config: Config,
    /// Every template by its file name.
    pub prompts: std::collections::BTreeMap<String, String>,
    /// The models that the user gave, as they were in the file; `None`: the retriever is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_models: Option<Vec<RetrievedModel>>,
    /// A digest of the data folder.
    pub data_id: String,
}

/// The one writer of a run's journal.
pub struct Journal {
    store: Mutex<Store>,
    visited: Mutex<HashSet<Place>>,
    closed: Mutex<HashSet<Step>>,
    /// When this process began to work on the run; until then no time passes.
    started: OnceLock<Instant>,
    elapsed_before: f64,
    /// May there be records of another process? None of this one is ever asked for again.
    has_past: bool,
    hold: Hold,
}

/// What kind of effect a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An agent was asked.
    Agent,
    /// A script was run.
    Script,
    /// Something was decided from the clock or the purse.
    Decision,
    /// A step ended.
    Verdict,
    /// A path or a phase failed and the run went on without it.
    Failure,
}

/// What identifies an effect before it is performed.
pub struct Entry<'a> {
    place: &'a Place,
    kind: Kind,
    digest: String,
    request: String,
}

/// A value that is in the journal.
#[derive(Clone, Debug)]
pub struct Recorded<T> {
    /// The value.
    pub value: T,
    /// When the effect ended.
    pub at: jiff::Timestamp,
    /// Was it read back instead of done again?
    pub replayed: bool,
}

/// An outcome as the journal sees it.
pub trait Outcome: Serialize + DeserializeOwned + Send {
    /// Money and tokens, for an agent's reply.
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// The limit that refused the effect, when one did.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// What is kept of an effect that a stop ended; `None` when nothing is known of it.
    fn of_stop(_stop: &Stop) -> Option<Self> {
        None
    }
}

impl<'a> Entry<'a> {
    /// Where, what, everything that determines the outcome (a resume must bring the same JSON), and what is kept of the
    /// request for people.
    ///
    /// # Errors
    /// What cannot be JSON.
    pub fn new(
        place: &'a Place,
        kind: Kind,
        input: &impl Serialize,
        request: &impl Serialize,
    ) -> Result<Self, JournalError> {
        let json = |error| JournalError::from(store::json_error(error));
        let digest = hash(&serde_json::to_string(input).map_err(json)?);
        Ok(Self { place, kind, digest, request: serde_json::to_string(request).map_err(json)? })
    }
}

impl Journal {
    /// Makes the journal of a new run in `folder`, which exists: whole, or not at all.
    ///
    /// # Errors
    /// When the folder already holds a journal or cannot be written.
    pub fn create(folder: &Path, frozen: &Frozen) -> Result<Self, JournalError> {
        Self::create_in(hold(folder)?, frozen)
    }

    /// The same in a folder that this process already has hold of.
    ///
    /// # Errors
    /// As for [`Journal::create`].
    pub fn create_in(hold: Hold, frozen: &Frozen) -> Result<Self, JournalError> {
        let path = hold.folder().join(store::FILE);
        if path.exists() {
            return Err(JournalError::Exists(hold.folder().to_owned()));
        }
        let store = wait::for_disk(|| Store::create(&path, frozen))?;
        Ok(Self::new(store, hold, None))
    }

    /// Opens the journal of an interrupted run for writing; effects that had begun and not ended will be
    /// done again.
    ///
    /// # Errors
    /// When another process holds it, or it is missing, damaged or of another format; then nothing of it was changed.
    pub fn open(folder: &Path) -> Result<(Self, Frozen), JournalError> {
        let path = folder.join(store::FILE);
        if !path.exists() {
            return Err(JournalError::Missing(path));
        }
        let hold = hold(folder)?;
        let store = Store::open(&path)?;
        let frozen = store.frozen(&path)?;
        store.void_unfinished()?;
        let elapsed = store.elapsed()?;
        Ok((Self::new(store, hold, Some(elapsed)), frozen))
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        self.hold.folder()
    }

    /// Seconds the run has taken so far, earlier processes included.
    pub fn elapsed(&self) -> f64 {
        self.elapsed_before + self.started.get().map_or(0.0, |started| started.elapsed().as_secs_f64())
    }

    /// The run's time begins to pass, or goes on; what was done before, such as making an environment, is free.
    pub fn start_clock(&self) {
        self.started.get_or_init(Instant::now);
    }

    /// Notes the time, so that a killed process loses little of it.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn heartbeat(&self) -> Result<(), JournalError> {
        Ok(self.store().heartbeat(self.elapsed())?)
    }

    /// The outcome recorded at this place, or `effect` performed and recorded.
    ///
    /// # Errors
    /// The effect's own stop; another input than the recorded one; a place used twice in one run.
    pub async fn once<T: Outcome>(
        &self,
        entry: Entry<'_>,
        effect: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Recorded<T>, Stop> {
        self.visit(entry.place)?;
        if let Some(found) = self.recorded(&entry)? {
            return self.read_back(entry.place, &found);
        }
        let seq = self.store().begin(&entry, self.elapsed()).map_err(JournalError::from)?;
        let end = |value: &T, state| {
            self.store().end(seq, value, self.elapsed(), state).map_err(JournalError::from)
        };
        match effect.await {
            Ok(value) => {
                let at = end(&value, EffectState::Ended)?;
                Ok(Recorded { value, at, replayed: false })
            }
            Err(stop) => {
                if let Some(value) = T::of_stop(&stop) {
                    end(&value, EffectState::Void)?;
                }
                Err(stop)
            }
        }
    }

    /// The limit that was recorded for leaving out the step at `place`.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn decided(&self, place: &Place) -> Result<Option<Limit>, JournalError> {
        Ok(self.store().decided(place)?)
    }

    /// Has any effect below `place` ended? Then its step was begun, whatever the clock says now.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn begun_below(&self, place: &Place) -> Result<bool, JournalError> {
        Ok(self.store().ended_below(place)?)
    }

    /// Records that the step at `place` is left out because of `limit`.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn decide(&self, place: &Place, limit: Limit) -> Result<(), JournalError> {
        Ok(self.store().decide(place, limit, self.elapsed())?)
    }

    /// Records how the step ended. A replay that comes to another verdict than the recorded one does not go on.
    ///
    /// # Errors
    /// Another verdict than the recorded one; a step closed twice; a journal that cannot be written.
    pub fn close(&self, step: Step, verdict: &Verdict) -> Result<(), Stop> {
        let place = step.place();
        let entry = Entry::new(&place, Kind::Verdict, verdict, &())?;
        if !lock(&self.closed).insert(step) {
            return Err(Stop::Bug { place, what: "the step was closed twice in one run".to_owned() });
        }
        match self.recorded(&entry) {
            Err(Stop::Journal(JournalError::OtherInput { .. })) => {
                Err(JournalError::OtherVerdict { step }.into())
            }
            Err(stop) => Err(stop),
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                let outcome =
                    serde_json::to_string(verdict).map_err(store::json_error).map_err(JournalError::from)?;
                let (kind, digest, limit) = (Kind::Verdict, entry.digest.as_str(), verdict.limit);
                let record = Inserted { place: &place, kind, digest, outcome: &outcome, limit };
                Ok(self.store().insert(&record, self.elapsed()).map_err(JournalError::from)?)
            }
        }
    }

    /// Is there a verdict of this step from an earlier process?
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn is_closed(&self, step: Step) -> Result<bool, JournalError> {
        Ok(self.has_past && self.store().recorded(&step.place(), Kind::Verdict, "")?.is_some())
    }

    /// Records that the path or phase at `place` failed, once.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn fail(&self, place: &Place, cause: &str) -> Result<(), JournalError> {
        let outcome = serde_json::to_string(cause).map_err(store::json_error)?;
        let record = Inserted { kind: Kind::Failure, outcome: &outcome, ..Inserted::at(place) };
        Ok(self.store().insert(&record, self.elapsed())?)
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

    /// The elapsed seconds at which the stage called `place` first began.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub fn mark(&self, place: &Place) -> Result<f64, JournalError> {
        Ok(self.store().mark(place, self.elapsed())?)
    }

    /// Makes the record at `place` not count: it ended the run, and a resume does it again.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn void(&self, place: &Place) -> Result<(), JournalError> {
        Ok(self.store().void(place)?)
    }

    /// Goes back to the first step that a limit left out, under `frozen` with a larger limit. What was recorded
    /// after that step is set aside and counts again only where exactly the same is asked for. Both happen, or
    /// neither.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn reopen_with(&self, frozen: &Frozen) -> Result<(), JournalError> {
        Ok(self.store().reopen_with(frozen)?)
    }

    /// Notes the programs that this process works with, unless the process before it worked with the same; gives
    /// those of the process before it where they were others.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_made_with(&self, now: MadeWith) -> Result<Option<MadeWith>, JournalError> {
        let store = self.store();
        let mut all = store.made_with()?;
        let before = all.last().cloned();
        if before.as_ref().is_some_and(|before| before.is_like(&now)) {
            return Ok(None);
        }
        all.push(MadeWith { resumed: store.has_effects()?, ..now });
        store.set_made_with(&all)?;
        Ok(before)
    }

    /// The programs that made the run so far, one entry for each change; none in a journal of a version that did
    /// not note them.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn made_with(&self) -> Result<Vec<MadeWith>, JournalError> {
        Ok(self.store().made_with()?)
    }

    /// Notes what ended the run early; the last of several counts.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_stop(&self, diagnostics: &Diagnostics) -> Result<(), JournalError> {
        Ok(self.store().set_stopped(diagnostics)?)
    }

    /// Every record, oldest first.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn effects(&self) -> Result<Vec<EffectRecord>, JournalError> {
        Ok(self.store().effects()?)
    }

    /// Every record without its texts, oldest first: of a request it has the agent alone, and an outcome is `null`
    /// where there is one. It takes little memory however long the run was.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn ledger(&self) -> Result<Vec<EffectRecord>, JournalError> {
        Ok(self.store().ledger()?)
    }

    /// With the seconds that earlier processes took, where there were any.
    fn new(store: Store, hold: Hold, elapsed: Option<f64>) -> Self {
        let (store, visited, closed) = (Mutex::new(store), Mutex::default(), Mutex::default());
        let started = OnceLock::new();
        let (elapsed_before, has_past) = (elapsed.unwrap_or_default(), elapsed.is_some());
        Self { store, visited, closed, started, elapsed_before, has_past, hold }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    fn visit(&self, place: &Place) -> Result<(), Stop> {
        if lock(&self.visited).insert(place.clone()) {
            return Ok(());
        }
        Err(Stop::Bug { place: place.clone(), what: "the same place was used twice in one run".to_owned() })
    }

    fn recorded(&self, entry: &Entry<'_>) -> Result<Option<Found>, Stop> {
        if !self.has_past {
            return Ok(None);
        }
        let found =
            self.store().recorded(entry.place, entry.kind, &entry.digest).map_err(JournalError::from)?;
        match found {
            Some(found) if found.digest != entry.digest => {
                Err(JournalError::OtherInput { place: entry.place.clone() }.into())
            }
            found => Ok(found),
        }
    }

    fn read_back<T: Outcome>(&self, place: &Place, found: &Found) -> Result<Recorded<T>, Stop> {
        let path = self.folder().join(store::FILE);
        let damaged = |what: String| check::damaged(&path, format!("the record at {place}: {what}"));
        let value = serde_json::from_str(&found.outcome).map_err(|error| damaged(error.to_string()))?;
        let at = found.ended_at.parse().map_err(|error: jiff::Error| damaged(error.to_string()))?;
        Ok(Recorded { value, at, replayed: true })
    }
}

impl Drop for Journal {
    /// Moves what the log holds to where it belongs; what fails here is done when the journal is opened again.
    fn drop(&mut self) {
        drop(wait::for_disk(|| self.store().empty_log()));
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

    /// Done again on a resume, and paid for all the same.
    fn of_stop(stop: &Stop) -> Option<Self> {
        match stop {
            Stop::Agents { trouble, usage } if usage.cost_usd.is_some() => {
                Some(Self::failed(trouble.message.clone(), *usage))
            }
            _ => None,
        }
    }
}

impl Outcome for ScriptOutcome {
    fn limit(&self) -> Option<Limit> {
        match self.end {
            ScriptEnd::Refused { limit } => Some(limit),
            ScriptEnd::Exited { .. } | ScriptEnd::Signalled { .. } | ScriptEnd::TimedOut => None,
        }
    }
}

/// The digest of an input: the same for the same JSON value.
pub fn digest(input: &Value) -> String {
    hash(&input.to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
