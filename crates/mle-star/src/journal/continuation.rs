//! Continuing a run with a larger limit: which records still count, and which solution the result must not fall below.
//!
//! The records of a run belong to [sections](Section): each candidate, the merges, the checks of s_0, each refinement path,
//! the further models, the ensembles. The last script of a section that ran for a score keeps its record, and so does
//! everything before it. The first cut after that script reopens the section: what a limit refused is done now, and later
//! records count only if the same is asked again. Selection, final choice and finalization depend on all sections, so they
//! are always reopened.
//!
//! A section has *inputs*, which are results of earlier sections ([`Journal::declare_inputs`]). If a continuation changes
//! them, the records of the section are set aside. [`Journal::age`] tells the algorithms when a new solution may change
//! inputs: if it is better than all that the run had before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::store::InsertedRecord;
use super::{Frozen, Journal, JournalError, lock, tables};
use crate::record::{EffectRecord, EffectState, Kind, first_limit, verdicts};
use crate::result::{Cut, FinalResult};
use crate::verdict;
use mle_star_domain::effects::{Limit, Purpose};
use mle_star_domain::metric::{Direction, Score, last_best};
use mle_star_domain::place::{Phase, Place, Section, Step};

/// The age of a solution in a run whose limit was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The solution is as old as those that the run built on.
    Original,
    /// The solution was made after a limit was raised, and is better than all that the run had before.
    LateAndBest,
    /// The solution was made after a limit was raised, and the run had one at least as good.
    Late,
}

/// A moment at which a limit was raised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Continuation {
    /// The number of the last record before that moment.
    pub last: i64,
    /// The score of the best solution before that moment; `None` without one.
    floor: Option<f64>,
}

/// The steps that a limit cut or skipped, among the records that count, in the order of the algorithms.
pub fn cuts_of(records: &[EffectRecord]) -> Vec<Cut> {
    let open = open_from(records);
    let mut cuts: BTreeMap<(Option<Step>, Place), Cut> = BTreeMap::new();
    for record in records.iter().filter(|record| record.counts() && record.kind != Kind::Verdict) {
        let Some(limit) = record.limit else { continue };
        let step = record.place.step();
        let place = step.map_or_else(|| record.place.clone(), Step::place);
        let of_step = cuts.entry((step, place.clone())).or_insert(Cut { place, limit, open: false });
        of_step.open |= is_open(&open, record);
    }
    cuts.into_values().collect()
}

/// The section that a record at this place belongs to; `None` for marks of phases and for inputs.
fn section_of(place: &Place) -> Option<Section> {
    match (place.step(), place.phase()) {
        (Some(step), _) => Some(step.row().section),
        (None, Some(Phase::Phase2)) => place.path().map(Section::Path),
        (None, Some(Phase::Phase1) | None) => {
            (!place.is_inputs() && !place.is_mark()).then_some(Section::Start)
        }
        (None, Some(Phase::Phase3 | Phase::Finalization)) => None,
    }
}

/// The place that records the inputs of a section. All paths have the same inputs.
fn inputs_place(section: Section) -> Place {
    let (phase, name) = match section {
        Section::Baselines | Section::Start | Section::Candidate(_) => (Phase::Phase1, "candidates"),
        Section::Merges => (Phase::Phase1, "merges"),
        Section::Checks => (Phase::Phase1, "checks"),
        Section::Path(_) => (Phase::Phase2, "paths"),
        Section::Extras => (Phase::Phase3, "extras"),
        Section::Rounds => (Phase::Phase3, "rounds"),
        Section::Last => (Phase::Finalization, "last"),
    };
    Place::inputs_of(phase, name)
}

impl Journal {
    /// Continues the run with the larger limit in `frozen`, all in one transaction. `earlier` is the run's result, if it
    /// has one: what comes must be at least as good.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub fn reopen_with(&self, frozen: &Frozen, earlier: Option<&FinalResult>) -> Result<(), JournalError> {
        let mut store = self.store();
        let records = store.ledger()?;
        let changes = reopened(&records);
        let (direction, mut continued) = (frozen.task.metric_direction, lock(&self.continued));
        let before = continued.last().and_then(|last: &Continuation| last.floor);
        let is_own =
            |result: &&FinalResult| result.final_step().is_some_and(|step| matches!(step, Step::Baseline(_)));
        let known = earlier.filter(|result| !is_own(result)).map(FinalResult::search_score);
        let floors = [before, known, best_so_far(&records, direction)].into_iter().flatten();
        let floor = last_best(floors.filter_map(|floor| Score::new(floor, direction)), |score| *score);
        let last = records.last().map_or(0, |record| record.seq);
        continued.push(Continuation { last, floor: floor.map(Score::value) });
        store.atomically(|store| {
            store.set_json("frozen", frozen)?;
            store.set_json("continued", &*continued)?;
            if let Some(earlier) = earlier {
                store.set_json("earlier", earlier)?;
            }
            store.set_states(&changes)
        })?;
        Ok(())
    }

    /// The result before a limit was raised, which stays unless a later one is at least as good.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn earlier_result(&self) -> Result<Option<FinalResult>, JournalError> {
        if lock(&self.continued).is_empty() {
            return Ok(None);
        }
        Ok(self.store().get_json("earlier")?)
    }

    /// Declares the inputs of a section, before its first effect. If they have changed since a limit was raised, the records
    /// of the section are set aside, and count again only where the same is asked. Returns whether they were set aside.
    ///
    /// # Errors
    /// The inputs have changed without a larger limit, or the journal cannot be read or written.
    pub fn declare_inputs(&self, section: Section, inputs: &[&str]) -> Result<bool, JournalError> {
        let (place, digest) = (inputs_place(section), super::hash(&tables::to_json(&inputs)?));
        let mut store = self.store();
        let known = if self.has_past { store.recorded(&place, Kind::Decision, "")? } else { None };
        if known.as_ref().is_some_and(|known| known.digest == digest) {
            return Ok(false);
        }
        let last = lock(&self.continued).last().map(|continuation| continuation.last);
        let was_before = |seq: i64| last.is_some_and(|last| seq <= last);
        if known.as_ref().is_some_and(|known| !was_before(known.seq)) {
            let what = "the solutions before it".to_owned();
            return Err(JournalError::OtherInput { place, what });
        }
        let changes = if last.is_some() { set_aside(&store.ledger()?, section) } else { Vec::new() };
        let changed = !changes.is_empty();
        let changes: Vec<_> =
            changes.into_iter().chain(known.map(|known| (known.seq, EffectState::Void))).collect();
        let (digest, elapsed) = (digest.as_str(), self.elapsed());
        store.atomically(|store| {
            store.set_states(&changes)?;
            store.insert(&InsertedRecord { digest, ..InsertedRecord::at(&place) }, elapsed)
        })?;
        Ok(changed)
    }

    /// The age of the solution whose script ran at `run`, with this score.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn age(&self, run: &Place, score: Score) -> Result<Age, JournalError> {
        let continued = lock(&self.continued).clone();
        if continued.is_empty() {
            return Ok(Age::Original);
        }
        let seq = self.store().seq_of(run, Kind::Script)?.unwrap_or(i64::MAX);
        let floor = continued.iter().rev().find(|continuation| continuation.last < seq);
        Ok(match floor.and_then(|continuation| continuation.floor) {
            None => Age::Original,
            Some(floor) if score.beats(score.of_value(floor)) => Age::LateAndBest,
            Some(_) => Age::Late,
        })
    }

    /// Whether the verdict of a step was recorded before a limit was raised for the last time.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn is_from_before(&self, step: Step) -> Result<bool, JournalError> {
        let seq = self.store().seq_of(&step.place(), Kind::Verdict)?;
        Ok(seq.is_some_and(|seq| seq <= self.continued_after()))
    }

    /// The number of the last record before the limit was raised for the last time; 0 if it never was.
    pub(super) fn continued_after(&self) -> i64 {
        lock(&self.continued).last().map_or(0, |continuation| continuation.last)
    }

    /// The steps that a limit cut or skipped.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn cuts(&self) -> Result<Vec<Cut>, JournalError> {
        Ok(cuts_of(&self.store().ledger()?))
    }

    /// The first limit of the whole run that cut or skipped something since the limits are what they are.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn first_limit(&self) -> Result<Option<Limit>, JournalError> {
        Ok(first_limit(&self.ledger()?, self.continued_after()))
    }
}

/// The new states of the records that a larger limit reopens.
fn reopened(records: &[EffectRecord]) -> Vec<(i64, EffectState)> {
    let open = open_from(records);
    let change = |record: &EffectRecord| match record.kind {
        // Phases get their shares of the time that is left.
        Kind::Decision if record.place.is_mark() => Some((record.seq, EffectState::Void)),
        _ => is_open(&open, record).then(|| (record.seq, closed(record))),
    };
    records.iter().filter(|record| record.counts()).filter_map(change).collect()
}

/// The new states of the records of a section whose inputs have changed. All paths share their inputs.
fn set_aside(records: &[EffectRecord], section: Section) -> Vec<(i64, EffectState)> {
    let place = inputs_place(section);
    let has_these_inputs = |record: &&EffectRecord| {
        record.counts() && section_of(&record.place).is_some_and(|of| inputs_place(of) == place)
    };
    records.iter().filter(has_these_inputs).map(|record| (record.seq, closed(record))).collect()
}

/// The state of a record that no longer counts: an answer counts again if the same is asked, a refusal does not.
fn closed(record: &EffectRecord) -> EffectState {
    let is_refusal = record.limit.is_some() && record.kind != Kind::Verdict;
    match record.kind {
        Kind::Decision | Kind::Failure => EffectState::Void,
        _ if is_refusal => EffectState::Void,
        _ => EffectState::Aside,
    }
}

fn is_open(open: &BTreeMap<Section, i64>, record: &EffectRecord) -> bool {
    let fails_in_last = record.kind == Kind::Failure
        && matches!(record.place.phase(), Some(Phase::Phase3 | Phase::Finalization));
    let section = if fails_in_last { Some(Section::Last) } else { section_of(&record.place) };
    section.and_then(|section| open.get(&section)).is_some_and(|from| record.seq >= *from)
}

/// The number of the first reopened record of each section that is reopened.
fn open_from(records: &[EffectRecord]) -> BTreeMap<Section, i64> {
    let live: Vec<(Section, &EffectRecord)> = records
        .iter()
        .filter(|record| record.counts())
        .filter_map(|record| Some((section_of(&record.place)?, record)))
        .collect();
    let has = |holds: &dyn Fn(Section, &EffectRecord) -> bool| {
        live.iter().any(|(section, record)| holds(*section, record))
    };
    let is_settled = |section: Section| match section {
        Section::Baselines => true,
        Section::Start => has(&|of, record| of != Section::Baselines && is_scored(record)),
        // Their models were tried later.
        Section::Candidate(_) => has(&|of, _| of == Section::Extras),
        Section::Checks => has(&|of, record| matches!(of, Section::Path(_)) && is_scored(record)),
        Section::Path(_) => has(&|of, record| of == section && record.kind == Kind::Failure),
        Section::Merges | Section::Extras | Section::Rounds | Section::Last => false,
    };
    let mut scored: BTreeMap<Section, i64> = BTreeMap::new();
    for (section, record) in live.iter().filter(|(_, record)| is_scored(record)) {
        scored.insert(*section, record.seq);
    }
    let mut open = BTreeMap::from([(Section::Last, 0)]);
    for (section, record) in &live {
        let is_cut = record.limit.is_some() && record.kind != Kind::Verdict;
        let is_after = scored.get(section).is_none_or(|last| record.seq > *last);
        if is_cut && is_after && !is_settled(*section) {
            open.entry(*section).or_insert(record.seq);
        }
    }
    open
}

/// Whether the record is that of a script which ran for a score and has one.
fn is_scored(record: &EffectRecord) -> bool {
    let purpose = record.request.get("purpose").cloned().map(serde_json::from_value);
    let is_for_a_score = matches!(purpose, Some(Ok(Purpose::Score)));
    let has_score = record.outcome.as_ref().is_some_and(|outcome| !outcome["score"].is_null());
    record.kind == Kind::Script && record.limit.is_none() && is_for_a_score && has_score
}

/// The score of the solution that the run would submit now; before the end of Phase 1, that of its last merge.
fn best_so_far(records: &[EffectRecord], direction: Direction) -> Option<f64> {
    let mut verdicts = verdicts(records);
    verdicts.retain(|step, _| !matches!(step, Step::Baseline(_)));
    let merged = || {
        let merges = verdicts.iter().rev().filter(|(step, _)| matches!(step, Step::Merge(_)));
        merges.filter_map(|(_, verdict)| verdict.best.as_ref()).next()
    };
    verdict::answer(&verdicts, direction).or_else(merged).map(|best| best.score)
}
