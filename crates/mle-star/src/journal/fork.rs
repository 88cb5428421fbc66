//! Forks: the journal of a new run that begins with the records of another run before a place.
//!
//! A record comes before the place if its step does, in the order of the algorithms; within a step and outside of steps, if
//! it began before the first record at the place. Refinement paths run side by side, so the records of other paths stay.
//! Inherited records cost nothing, since the other run paid them.

use std::path::Path;

use rusqlite::{Connection, params};
use serde::Deserialize;

use super::continuation::Continuation;
use super::store::{self, Store};
use super::tables::{json_error, to_json};
use super::{Frozen, Journal, JournalError, Note, RunLock, Snapshot, birth, checksum, lock, reader};
use crate::forked::ForkedFrom;
use crate::record::{EffectRecord, EffectState, Kind};
use crate::spending::spending;
use mle_star_domain::effects::{AgentReply, Usage};
use mle_star_domain::place::{Phase, Place};

impl Journal {
    /// Creates the journal of a run that shares the records before `place` with the run in `parent`, which may be in
    /// progress. Returns it with what it shares.
    ///
    /// # Errors
    /// The parent has no record at the place, its journal cannot be read or is damaged, or the new one cannot be written.
    pub fn fork(
        parent: &Path,
        hold: &RunLock,
        frozen: &Frozen,
        place: &Place,
    ) -> Result<Vec<Place>, JournalError> {
        let from = reader::read_whole(parent)?;
        let at = from.effects.iter().filter(|record| record.counts() && record.place.is_within(place));
        let anchor = at.map(|record| record.seq).min();
        let anchor = anchor.ok_or_else(|| JournalError::NotReached { place: place.clone() })?;
        let kept: Vec<&EffectRecord> =
            from.effects.iter().filter(|record| is_before(record, place, anchor)).collect();
        let paid: Vec<EffectRecord> = kept.iter().map(|record| (*record).clone()).collect();
        let cost = spending(&paid, &from.frozen.config).total().usage.cost_usd;
        let before = inherited_cost(&from, place, anchor);
        let forked = ForkedFrom {
            run: from.frozen.run_id.clone(),
            place: place.clone(),
            inherited_cost_usd: cost.zip(before).map(|(own, before)| own + before),
            last: kept.iter().map(|record| record.seq).max().unwrap_or_default(),
        };
        let path = hold.folder().join(store::FILE);
        if path.exists() {
            return Err(JournalError::Exists(hold.folder().to_owned()));
        }
        birth::appear(&path, |part| {
            reader::connect(parent)?.copy_to(part)?;
            Ok(cut(part, &kept, frozen, &forked)?)
        })?;
        Ok(kept.into_iter().map(|record| record.place.clone()).collect())
    }

    /// The run that this one was forked from.
    pub fn forked_from(&self) -> Option<ForkedFrom> {
        self.forked.clone()
    }

    /// The model that answered the call at `place` before the run was forked: the settings may name another one since.
    pub(crate) fn inherited_model(&self, place: &Place) -> Result<Option<String>, JournalError> {
        match &self.forked {
            Some(forked) => Ok(self.store().model_of(place, forked.last)?),
            None => Ok(None),
        }
    }

    /// The calls and scripts with a record that this process has not read.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn unread(&self) -> Result<Vec<Place>, JournalError> {
        let visited = lock(&self.visited);
        let is_effect =
            |record: &EffectRecord| matches!(record.kind, Kind::Agent | Kind::Script) && record.counts();
        let records = self.ledger()?.into_iter().filter(is_effect).map(|record| record.place);
        Ok(records.filter(|place| !visited.contains(place)).collect())
    }
}

impl Store {
    /// The model of the call that counts at `place`, among the first records.
    fn model_of(&self, place: &Place, last: i64) -> rusqlite::Result<Option<String>> {
        #[derive(Deserialize)]
        struct Request {
            model: Option<String>,
        }
        let sql = "SELECT request FROM effects
                   WHERE place = ?1 AND kind = 'agent' AND state = 'ended' AND seq <= ?2";
        let mut statement = self.db.prepare_cached(sql)?;
        let mut rows = statement.query(params![place.as_str(), last])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let request: Request = serde_json::from_str(row.get_ref(0)?.as_str()?).map_err(json_error)?;
        Ok(request.model)
    }
}

/// Whether a record comes before `place`, whose first record that counts is `anchor`.
fn is_before(record: &EffectRecord, place: &Place, anchor: i64) -> bool {
    let of = &record.place;
    if !matches!(record.state, EffectState::Ended | EffectState::Aside) || of.is_within(place) {
        return false;
    }
    // The comparison of the tables follows the baseline, which a fork at the whole phase makes again.
    if of.is_within(&Place::tables()) && *place == Place::from(Phase::Phase1) {
        return false;
    }
    if of.is_mark() {
        let (own, other) = (of.phase(), place.phase());
        return if of.last() == "end" { own.is_some() && own < other } else { own <= other };
    }
    // The end of a step, path or phase that the place is a part of.
    if matches!(record.kind, Kind::Verdict | Kind::Failure) && place.is_within(of) {
        return false;
    }
    let is_beside = place.phase() == Some(Phase::Phase2) && place.path().is_some() && of.path().is_some();
    if is_beside && of.path() != place.path() {
        return true;
    }
    match (of.step(), place.step()) {
        (Some(one), Some(other)) if one == other => record.seq < anchor,
        (Some(one), Some(other)) => one < other,
        _ if of.phase() == place.phase() => record.seq < anchor,
        _ => of.phase() < place.phase(),
    }
}

/// What the calls cost that a run has from its own parent; `None` if that is unknown, as for a part of them.
fn inherited_cost(from: &Snapshot, place: &Place, anchor: i64) -> Option<f64> {
    let Some(forked) = &from.forked_from else { return Some(0.0) };
    let mut inherited =
        from.effects.iter().filter(|record| record.kind == Kind::Agent && record.seq <= forked.last);
    let all = inherited.all(|record| is_before(record, place, anchor));
    forked.inherited_cost_usd.filter(|cost| all || *cost == 0.0)
}

/// Makes the journal of the fork from a copy of the whole journal.
fn cut(copy: &Path, kept: &[&EffectRecord], frozen: &Frozen, forked: &ForkedFrom) -> rusqlite::Result<()> {
    let db = Connection::open(copy)?;
    db.pragma_update(None, "journal_mode", "MEMORY")?;
    checksum::provide(&db)?;
    let mut store = Store::reading(db, None);
    let notes = kept.iter().filter_map(|record| record.request["notes"].as_u64()).max().unwrap_or_default();
    store.atomically(|store| {
        let db = &store.db;
        db.execute_batch("CREATE TEMP TABLE kept (seq INTEGER PRIMARY KEY)")?;
        for record in kept {
            db.prepare_cached("INSERT INTO kept VALUES (?1)")?.execute([record.seq])?;
        }
        db.execute_batch(
            "DELETE FROM effects WHERE seq NOT IN (SELECT seq FROM kept);
             DELETE FROM meta WHERE key IN ('stopped', 'elapsed', 'earlier')",
        )?;
        for record in kept.iter().filter(|record| record.kind == Kind::Agent) {
            make_free(db, record)?;
        }
        let mut continued: Vec<Continuation> = store.get_list("continued")?;
        continued.retain(|continuation| continuation.last < forked.last);
        let mut known: Vec<Note> = store.get_list("notes")?;
        known.truncate(usize::try_from(notes).unwrap_or(usize::MAX));
        store.set_json("continued", &continued)?;
        store.set_json("notes", &known)?;
        store.set("created_at", &jiff::Timestamp::now().to_string())?;
        store.set_json("frozen", frozen)?;
        store.set_json("forked_from", forked)
    })
}

/// Takes cost and tokens out of a record.
fn make_free(db: &Connection, record: &EffectRecord) -> rusqlite::Result<()> {
    let Some(outcome) = record.outcome.clone() else { return Ok(()) };
    let reply: AgentReply = serde_json::from_value::<AgentReply>(outcome).map_err(json_error)?;
    let outcome = to_json(&AgentReply { usage: Usage::free(), ..reply })?;
    let sql = "UPDATE effects SET outcome = ?2, cost_usd = 0.0, tokens_input = 0, tokens_output = 0,
               tokens_cache_read = 0, tokens_cache_write = 0,
               ended_seal = seal(seq, place, ?2, limit_hit, 0.0, 0, 0, 0, 0, ended_at, elapsed_ended) WHERE seq = ?1";
    db.prepare_cached(sql)?.execute(params![record.seq, outcome]).map(drop)
}
