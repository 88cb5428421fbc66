//! The SQLite file behind the journal: tables, statements, states of a record.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::storage::Mode;
use super::tables::{SET_META, json_error, to_json};
use super::{Entry, Frozen, Journal, JournalError, Outcome, birth, check, checksum, wait};
use crate::record::{EffectRecord, EffectState, Kind};
use mle_star_domain::effects::{Limit, Usage};
use mle_star_domain::place::Place;

pub(super) use mle_star_domain::layout::JOURNAL as FILE;

pub(super) struct Store {
    pub db: Connection,
    /// Where the database lies, if it is a copy.
    _copy: Option<TempDir>,
    /// The number of the next record; unused by readers.
    next: i64,
}

/// What SQLite syncs to the disk, by its `synchronous` levels. A process that dies loses no record at any level.
#[derive(Clone, Copy)]
enum Force {
    /// Nothing.
    Nothing = 0,
    /// Checkpoints. A power failure may lose the last records.
    Checkpoints = 1,
    /// Every record.
    Records = 2,
}

/// A record that is complete when it is written: a decision, a verdict or a failure.
pub(super) struct InsertedRecord<'a> {
    pub place: &'a Place,
    pub kind: Kind,
    pub digest: &'a str,
    /// As JSON.
    pub outcome: &'a str,
    pub limit: Option<Limit>,
}

impl<'a> InsertedRecord<'a> {
    /// A decision without a limit.
    pub fn at(place: &'a Place) -> Self {
        Self { place, kind: Kind::Decision, digest: "", outcome: "null", limit: None }
    }
}

pub(super) struct StoredOutcome {
    pub seq: i64,
    pub digest: String,
    pub outcome: String,
    pub ended_at: String,
}

/// What the run asks of its records, each in one statement.
impl Journal {
    /// The recorded limit that skipped the step at `place`, if any.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn decided(&self, place: &Place) -> Result<Option<Limit>, JournalError> {
        let sql = "SELECT limit_hit FROM effects
                   WHERE place = ?1 AND kind = 'decision' AND state = 'ended' AND limit_hit IS NOT NULL";
        let store = self.store();
        let mut statement = store.db.prepare_cached(sql)?;
        let text: Option<String> = statement.query_row([place.as_str()], |row| row.get(0)).optional()?;
        Ok(text.map(|text| parse(&text)).transpose()?)
    }

    /// Whether any effect below `place` has ended. If so, its step was begun, whatever the clock says now.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn begun_below(&self, place: &Place) -> Result<bool, JournalError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM effects WHERE place > ?1 AND place < ?2
                   AND state = 'ended' AND kind IN ('agent', 'script'))";
        Ok(self.store().db.prepare_cached(sql)?.query_row(below(place), |row| row.get(0))?)
    }

    /// The elapsed seconds at which the stage at `place` first began. The first call records them.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub fn mark(&self, place: &Place) -> Result<f64, JournalError> {
        let sql =
            "SELECT elapsed_begun FROM effects WHERE place = ?1 AND kind = 'decision' AND state = 'ended'";
        let (mut store, elapsed) = (self.store(), self.elapsed());
        let first = store.db.prepare_cached(sql)?.query_row([place.as_str()], |row| row.get(0)).optional()?;
        if first.is_none() {
            store.insert(&InsertedRecord::at(place), elapsed)?;
        }
        Ok(first.unwrap_or(elapsed))
    }

    /// Discards the record at `place`, which ended the run. A resume performs the effect again.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn void(&self, place: &Place) -> Result<(), JournalError> {
        let sql = "UPDATE effects SET state = 'void' WHERE place = ?1 AND state = 'ended' AND kind IN ('agent', 'script')";
        Ok(self.store().db.execute(sql, [place.as_str()]).map(drop)?)
    }

    /// All records, oldest first.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn effects(&self) -> Result<Vec<EffectRecord>, JournalError> {
        let store = self.store();
        let mut statement = store.db.prepare(&records("1"))?;
        Ok(statement.query_map([], |row| effect_record(row, whole, whole))?.collect::<Result<_, _>>()?)
    }
}

impl Store {
    pub fn create(path: &Path, frozen: &Frozen, mode: Mode) -> Result<Self, JournalError> {
        birth::make(path, frozen)?;
        let store = Self::connect(path, mode)?;
        // Starts the log without syncing it. Nothing in it has cost money yet, and the sync of the first paid
        // record includes everything before it.
        store.force(Force::Nothing)?;
        store.start_log(mode)?;
        store.set("elapsed", "0")?;
        store.force(Force::Checkpoints)?;
        Ok(store)
    }

    /// Opens a journal for writing. All checks pass before anything is changed.
    pub fn open(path: &Path, mode: Mode) -> Result<Self, JournalError> {
        check::check(path)?;
        let mut store = Self::connect(path, mode)?;
        store.start_log(mode)?;
        store.force(Force::Checkpoints)?;
        store.next =
            store.db.query_row("SELECT coalesce(max(seq), 0) + 1 FROM effects", [], |row| row.get(0))?;
        Ok(store)
    }

    fn start_log(&self, mode: Mode) -> rusqlite::Result<()> {
        match mode {
            Mode::Log => self.db.pragma_update(None, "journal_mode", "WAL"),
            Mode::Rollback => Ok(()),
        }
    }

    fn connect(path: &Path, mode: Mode) -> rusqlite::Result<Self> {
        let db = match mode {
            Mode::Log => Connection::open(path)?,
            Mode::Rollback => {
                let db = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), "unix-none")?;
                // A log that the run has from another file system is read without shared memory, written into the
                // database and removed.
                db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                db.pragma_update(None, "journal_mode", "TRUNCATE")?;
                db
            }
        };
        db.busy_timeout(Duration::from_secs(10))?;
        checksum::provide(&db)?;
        Ok(Self { db, next: 1, _copy: None })
    }

    /// A journal to which no record is added.
    pub fn reading(db: Connection, copy: Option<TempDir>) -> Self {
        Self { db, next: 0, _copy: copy }
    }

    pub fn frozen(&self, path: &Path) -> Result<Frozen, JournalError> {
        let damaged = |what: String| JournalError::Damaged { path: path.into(), what };
        let text = self.get("frozen")?.ok_or_else(|| damaged("the frozen inputs are missing".to_owned()))?;
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))
    }

    /// Whether there is any record; for writers.
    pub fn has_records(&self) -> bool {
        self.next > 1
    }

    pub fn void_unfinished(&self) -> rusqlite::Result<()> {
        self.db.execute("UPDATE effects SET state = 'void' WHERE state = 'begun'", []).map(drop)
    }

    pub fn void_unfinished_below(&self, place: &Place) -> rusqlite::Result<()> {
        let sql = "UPDATE effects SET state = 'void' WHERE state = 'begun' AND place > ?1 AND place < ?2";
        self.db.execute(sql, below(place)).map(drop)
    }

    pub fn elapsed(&self) -> rusqlite::Result<f64> {
        let sql = "SELECT max(max(elapsed_begun, coalesce(elapsed_ended, 0))) FROM effects";
        let recorded: Option<f64> = self.db.query_row(sql, [], |row| row.get(0))?;
        let beat: Option<f64> = self.get("elapsed")?.and_then(|text| text.parse().ok());
        Ok(recorded.unwrap_or(0.0).max(beat.unwrap_or(0.0)))
    }

    /// The record that counts at `place`, or one that was set aside and counts again because the request is
    /// identical.
    pub fn recorded(
        &self,
        place: &Place,
        kind: Kind,
        digest: &str,
    ) -> rusqlite::Result<Option<StoredOutcome>> {
        // No ORDER BY: with it, SQLite would plan the cached statement again for every place.
        let sql = "SELECT digest, outcome, ended_at, seq, state = 'ended' FROM effects
                   WHERE place = ?1 AND kind = ?2 AND state IN ('ended', 'aside')";
        let read = |row: &Row<'_>| Ok((row.get::<_, bool>(4)?, stored_outcome(row)?));
        let mut statement = self.db.prepare_cached(sql)?;
        let records: Vec<_> =
            statement.query_map([place.as_str(), &name(&kind)?], read)?.collect::<Result<_, _>>()?;
        let usable = records.into_iter().filter(|(counts, found)| *counts || found.digest == digest);
        let last = usable.max_by_key(|(counts, found)| (*counts, found.seq));
        if let Some((false, found)) = &last {
            self.set_state(found.seq, EffectState::Ended)?;
        }
        Ok(last.map(|(_, found)| found))
    }

    pub fn begin(&mut self, entry: &Entry<'_>, elapsed: f64) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO effects
            (seq, place, kind, state, digest, request, begun_at, elapsed_begun, begun_seal)
            VALUES (?1, ?2, ?3, 'begun', ?4, ?5, ?6, ?7, seal(?1, ?2, ?3, ?4, ?5, ?6, ?7))";
        let (place, kind) = (entry.place.as_str(), name(&entry.kind)?);
        let values = params![self.next, place, kind, entry.digest, entry.request, now(), elapsed];
        let seq = self.db.prepare_cached(sql)?.insert(values)?;
        self.next = seq + 1;
        Ok(seq)
    }

    pub fn end<T: Outcome>(
        &mut self,
        seq: i64,
        value: &T,
        elapsed: f64,
        state: EffectState,
    ) -> rusqlite::Result<jiff::Timestamp> {
        let sql = "UPDATE effects SET state = ?11, outcome = ?2, limit_hit = ?3, cost_usd = ?4,
                   tokens_input = ?5, tokens_output = ?6, tokens_cache_read = ?7, tokens_cache_write = ?8,
                   ended_at = ?9, elapsed_ended = ?10,
                   ended_seal = seal(seq, place, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) WHERE seq = ?1";
        let at = jiff::Timestamp::now();
        let usage = value.usage();
        let tokens =
            usage.map(|usage| [usage.input, usage.output, usage.cache_read, usage.cache_write].map(Some));
        let [input, output, cached, to_cache] = tokens
            .unwrap_or_default()
            .map(|count| count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)));
        // SQLite stores NaN as NULL, and the checksum covers the stored value.
        let cost = usage.and_then(|usage| usage.cost_usd).filter(|cost| !cost.is_nan());
        let outcome = to_json(value)?;
        let limit = value.limit().map(|limit| name(&limit)).transpose()?;
        let (ended_at, state) = (at.to_string(), name(&state)?);
        let values =
            params![seq, outcome, limit, cost, input, output, cached, to_cache, ended_at, elapsed, state];
        // A call that cost money, or may have, must survive a power failure. Other records keep the setting,
        // because a change makes SQLite parse every statement again.
        let write = || self.db.prepare_cached(sql)?.execute(values);
        if usage.is_some() && cost != Some(0.0) {
            self.force(Force::Records)?;
            wait::for_disk(write)?;
            self.force(Force::Checkpoints)?;
        } else {
            write()?;
        }
        Ok(at)
    }

    /// Changes the states of these records.
    pub fn set_states(&self, changes: &[(i64, EffectState)]) -> rusqlite::Result<()> {
        changes.iter().try_for_each(|(seq, state)| self.set_state(*seq, *state))
    }

    pub fn set_state(&self, seq: i64, state: EffectState) -> rusqlite::Result<()> {
        let sql = "UPDATE effects SET state = ?2 WHERE seq = ?1";
        self.db.prepare_cached(sql)?.execute(params![seq, name(&state)?]).map(drop)
    }

    /// Makes all changes of `work`, or none.
    pub fn atomically<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.db.execute_batch("BEGIN IMMEDIATE")?;
        let done = work(self).and_then(|done| self.db.execute_batch("COMMIT").map(|()| done));
        if done.is_err() {
            // If this fails, too, SQLite undoes the changes when the file is opened again.
            drop(self.db.execute_batch("ROLLBACK"));
        }
        done
    }

    pub fn copy_to(&self, path: &Path) -> rusqlite::Result<()> {
        self.db.execute("VACUUM INTO ?1", [path.to_string_lossy()]).map(drop)
    }

    /// What differs between the request of a record and `request`, in a few words.
    pub fn differs_in(&self, seq: i64, request: &str) -> rusqlite::Result<String> {
        let sql = "SELECT request FROM effects WHERE seq = ?1";
        let recorded: String = self.db.query_row(sql, [seq], |row| row.get(0))?;
        let fields = |text: &str| serde_json::from_str::<Value>(text).map_err(json_error);
        let (before, now) = (fields(&recorded)?, fields(request)?);
        // Prompts tell the time that is left, so they differ in any case.
        let parts = ["question", "script", "model", "purpose", "agent", "run"];
        let other = parts.into_iter().find(|part| before.get(part) != now.get(part));
        let rest = match now.get("question") {
            Some(_) => "question",
            None if now.get("prompt").is_some() => "prompt, its inputs or its tools",
            None => "data",
        };
        Ok(format!("the {}", other.unwrap_or(rest)))
    }

    /// The number of the record that counts at `place`.
    pub fn seq_of(&self, place: &Place, kind: Kind) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT seq FROM effects WHERE place = ?1 AND kind = ?2 AND state = 'ended'";
        let values = [place.as_str(), &name(&kind)?];
        self.db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()
    }

    /// All records without their texts, oldest first: who was asked, purposes, scores and verdicts.
    pub fn ledger(&self) -> rusqlite::Result<Vec<EffectRecord>> {
        let record = |row: &Row<'_>| effect_record(row, request_alone, outline);
        self.db.prepare_cached(&records("1"))?.query_map([], record)?.collect()
    }

    /// All readable records, oldest first, and why others cannot be read.
    pub fn readable_effects(&self) -> (Vec<EffectRecord>, Option<String>) {
        let mut effects = Vec::new();
        let read = |effects: &mut Vec<EffectRecord>| {
            let mut damage = None;
            let mut statement = self.db.prepare(&records(&checksum::is_whole()))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let seq: i64 = row.get(0)?;
                match effect_record(row, whole, whole) {
                    Ok(effect) if row.get("is_whole")? => effects.push(effect),
                    _ => damage = Some(format!("record {seq} does not match its checksum")),
                }
            }
            Ok::<_, rusqlite::Error>(damage)
        };
        let damage = read(&mut effects).unwrap_or_else(|error| Some(error.to_string()));
        (effects, damage)
    }

    /// The items of a list under a key; none without such an entry.
    pub fn get_list<T: serde::de::DeserializeOwned>(&self, key: &str) -> rusqlite::Result<Vec<T>> {
        Ok(self.get_json(key)?.unwrap_or_default())
    }

    pub fn get_json<T: serde::de::DeserializeOwned>(&self, key: &str) -> rusqlite::Result<Option<T>> {
        self.get(key)?.map(|text| serde_json::from_str(&text).map_err(json_error)).transpose()
    }

    pub fn get(&self, key: &str) -> rusqlite::Result<Option<String>> {
        self.db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
    }

    pub fn set_json(&self, key: &str, value: &impl serde::Serialize) -> rusqlite::Result<()> {
        self.set(key, &to_json(value)?)
    }

    pub fn set(&self, key: &str, value: &str) -> rusqlite::Result<()> {
        self.db.prepare_cached(SET_META)?.execute([key, value]).map(drop)
    }

    /// The places that failed, each with its cause.
    pub fn failures(&self) -> rusqlite::Result<Vec<(Place, String)>> {
        let sql = "SELECT place, outcome FROM effects WHERE kind = 'failure' AND state = 'ended'";
        let read = |row: &Row<'_>| {
            let cause: String = serde_json::from_str(row.get_ref(1)?.as_str()?).map_err(json_error)?;
            Ok((Place::from(row.get_ref(0)?.as_str()?), cause))
        };
        self.db.prepare(sql)?.query_map([], read)?.collect()
    }

    /// Writes a complete record.
    pub fn insert(&mut self, record: &InsertedRecord<'_>, elapsed: f64) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO effects (seq, place, kind, state, digest, request, outcome, limit_hit, begun_at,
                ended_at, elapsed_begun, elapsed_ended, begun_seal, ended_seal)
            VALUES (?1, ?2, ?6, 'ended', ?7, 'null', ?8, ?3, ?4, ?4, ?5, ?5,
                seal(?1, ?2, ?6, ?7, 'null', ?4, ?5),
                seal(?1, ?2, ?8, ?3, NULL, NULL, NULL, NULL, NULL, ?4, ?5))";
        let InsertedRecord { place, kind, digest, outcome, limit } = *record;
        let limit = limit.map(|limit| name(&limit)).transpose()?;
        let values = params![self.next, place.as_str(), limit, now(), elapsed, name(&kind)?, digest, outcome];
        self.next = self.db.prepare_cached(sql)?.insert(values)? + 1;
        Ok(())
    }

    fn force(&self, what: Force) -> rusqlite::Result<()> {
        self.db.pragma_update(None, "synchronous", what as i64)
    }
}

/// The bounds of all places that begin with "PLACE/": '0' is the character after '/'.
fn below(place: &Place) -> [String; 2] {
    [format!("{place}/"), format!("{place}0")]
}

fn records(is_whole: &str) -> String {
    format!(
        "SELECT seq, place, kind, state, request, outcome, limit_hit, cost_usd, tokens_input, tokens_output,
             tokens_cache_read, tokens_cache_write, begun_at, ended_at, elapsed_begun, elapsed_ended,
             {is_whole} AS is_whole FROM effects ORDER BY seq"
    )
}

fn stored_outcome(row: &Row<'_>) -> rusqlite::Result<StoredOutcome> {
    Ok(StoredOutcome { digest: row.get(0)?, outcome: row.get(1)?, ended_at: row.get(2)?, seq: row.get(3)? })
}

/// Reduces a text to what the record keeps of it.
type Kept = fn(&str) -> serde_json::Result<Value>;

/// A record, with its request and outcome reduced by these functions.
fn effect_record(row: &Row<'_>, request: Kept, outcome: Kept) -> rusqlite::Result<EffectRecord> {
    let json = |index, kept: Kept| {
        let text = row.get_ref(index)?.as_str_or_null()?;
        text.map(|text| kept(text).map_err(json_error)).transpose()
    };
    let tokens = |index| {
        let count = row.get::<_, Option<i64>>(index)?.unwrap_or_default();
        Ok::<u64, rusqlite::Error>(u64::try_from(count).unwrap_or_default())
    };
    Ok(EffectRecord {
        seq: row.get(0)?,
        place: Place::from(row.get::<_, String>(1)?.as_str()),
        kind: parse(&row.get::<_, String>(2)?)?,
        state: parse::<EffectState>(&row.get::<_, String>(3)?)?,
        request: json(4, request)?.unwrap_or_default(),
        outcome: json(5, outcome)?,
        limit: row.get::<_, Option<String>>(6)?.map(|text| parse(&text)).transpose()?,
        usage: Usage {
            cost_usd: row.get(7)?,
            estimated_usd: row.get_ref(5)?.as_str_or_null()?.map_or(0.0, estimated),
            unpriced: 0,
            input: tokens(8)?,
            output: tokens(9)?,
            cache_read: tokens(10)?,
            cache_write: tokens(11)?,
        },
        begun_at: row.get(12)?,
        ended_at: row.get(13)?,
        elapsed_begun: row.get(14)?,
        elapsed_ended: row.get(15)?,
    })
}

fn whole(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text)
}

/// The score of a script, or a verdict as it is.
fn outline(text: &str) -> serde_json::Result<Value> {
    let mut outcome: Value = serde_json::from_str(text)?;
    if let Some(fields) = outcome.as_object_mut().filter(|fields| fields.contains_key("stdout")) {
        fields.retain(|name, _| name == "score");
    } else if outcome.get("answer").is_some() {
        outcome = Value::Null;
    }
    Ok(outcome)
}

/// The agent and its model, or the purpose of a script.
fn request_alone(text: &str) -> serde_json::Result<Value> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Request {
        agent: Option<String>,
        model: Option<String>,
        read_back: bool,
        purpose: Option<Value>,
    }
    let request: Option<Request> = serde_json::from_str(text)?;
    let Request { agent, model, read_back, purpose } = request.unwrap_or_default();
    Ok(json!({"agent": agent, "model": model, "read_back": read_back, "purpose": purpose}))
}

/// The estimated part of the cost of the call with this outcome.
fn estimated(outcome: &str) -> f64 {
    #[derive(serde::Deserialize)]
    struct Reply {
        usage: Usage,
    }
    // Few outcomes have it, so few are read.
    let has_any = outcome.contains("\"estimated_usd\":");
    let reply = has_any.then(|| serde_json::from_str::<Reply>(outcome).ok()).flatten();
    reply.map_or(0.0, |reply| reply.usage.estimated_usd)
}

fn name(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    let value = serde_json::to_value(value).map_err(json_error)?;
    Ok(value.as_str().unwrap_or_default().to_owned())
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(json_error)
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}
