//! Going on with a larger limit: what is open again, what stands, and what the result must not fall below.
//!
//! The records of a run form [lines](Line): each candidate, the merges, the checks of s_0, each refinement path, the
//! further models, the ensembles. In a line, the last script that ran for a score stands, with everything before it. From
//! the first cut after it, the line is open: what a limit refused is done, and later records count only if the same is
//! asked again. Selection, final choice and finalization look at all lines, so they are always open.
//!
//! A line is made from the outcomes of lines before it, its *basis* ([`Journal::rest_on`]). If a continuation changes
//! the basis, the records of the line are set aside. [`Journal::standing`] tells the algorithms when new work may do so:
//! if it is better than all that the run had before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::store::{Inserted, Store};
use super::{Frozen, Journal, JournalError, lock, tables};
use crate::record::{EffectRecord, EffectState, Kind, first_limit};
use crate::result::{Cut, FinalResult};
use crate::verdict::{self, Verdict, Verdicts};
use mle_star_domain::effects::{Limit, Purpose};
use mle_star_domain::metric::{Direction, Score, last_best};
use mle_star_domain::place::{Line, Phase, Place, Step};

/// What counts as before or after a larger limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is as old as what the run built on.
    Early,
    /// It was made after a limit was raised, and is better than all that the run had before.
    Above,
    /// It was made after a limit was raised, and the run had something at least as good.
    Below,
}

/// A larger limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Continuation {
    /// The number of the last record before it.
    last: i64,
    /// The score of the best solution before it; `None` without one.
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

/// The line that a record at this place belongs to; `None` for phases and bases.
fn line_of(place: &Place) -> Option<Line> {
    match (place.step(), place.phase()) {
        (Some(step), _) => Some(step.row().line),
        (None, Some(Phase::Phase2)) => place.path().map(Line::Path),
        (None, Some(Phase::Phase1) | None) => (!place.is_basis() && !place.is_mark()).then_some(Line::Start),
        (None, Some(Phase::Phase3 | Phase::Finalization)) => None,
    }
}

/// Where the basis of a line is recorded. All paths have the same.
fn basis_of(line: Line) -> Place {
    let (phase, name) = match line {
        Line::Baselines | Line::Start | Line::Candidate(_) => (Phase::Phase1, "candidates"),
        Line::Merges => (Phase::Phase1, "merges"),
        Line::Checks => (Phase::Phase1, "checks"),
        Line::Path(_) => (Phase::Phase2, "paths"),
        Line::Extras => (Phase::Phase3, "extras"),
        Line::Rounds => (Phase::Phase3, "rounds"),
        Line::Last => (Phase::Finalization, "last"),
    };
    Place::basis(phase, name)
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

    /// Declares what a line is made from, before its first effect. If that has changed since a limit was raised, the
    /// recorded line is set aside, and counts again only where the same is asked. Returns whether it was.
    ///
    /// # Errors
    /// It has changed without a larger limit, or the journal cannot be read or written.
    pub fn rest_on(&self, line: Line, basis: &[&str]) -> Result<bool, JournalError> {
        let (place, digest) = (basis_of(line), super::hash(&json(&basis).map_err(JournalError::from)?));
        let mut store = self.store();
        let known = if self.has_past { store.recorded(&place, Kind::Decision, "") } else { Ok(None) };
        let known = known.map_err(JournalError::from)?;
        if known.as_ref().is_some_and(|known| known.digest == digest) {
            return Ok(false);
        }
        let last = lock(&self.continued).last().map(|continuation| continuation.last);
        let was_before = |seq: i64| last.is_some_and(|last| seq <= last);
        if known.as_ref().is_some_and(|known| !was_before(known.seq)) {
            let what = "the solutions before it".to_owned();
            return Err(JournalError::OtherInput { place, what });
        }
        // A journal of an earlier version has no bases: then the line is not known to have another.
        let changes = match (&known, last) {
            (None, None) => Vec::new(),
            _ => set_aside(&store.ledger().map_err(JournalError::from)?, line),
        };
        let changed = !changes.is_empty();
        let changes: Vec<_> =
            changes.into_iter().chain(known.map(|known| (known.seq, EffectState::Void))).collect();
        let (digest, elapsed) = (digest.as_str(), self.elapsed());
        let written = store.atomically(|store| {
            store.set_states(&changes)?;
            store.insert(&Inserted { digest, ..Inserted::at(&place) }, elapsed)
        });
        written.map_err(JournalError::from)?;
        Ok(changed)
    }

    /// Whether the script that ran at `run`, with this score, is as old as what the run built on.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn standing(&self, run: &Place, score: Score) -> Result<Standing, JournalError> {
        let continued = lock(&self.continued).clone();
        if continued.is_empty() {
            return Ok(Standing::Early);
        }
        let seq = self.store().seq_of(run, Kind::Script)?.unwrap_or(i64::MAX);
        let floor = continued.iter().rev().find(|continuation| continuation.last < seq);
        Ok(match floor.and_then(|continuation| continuation.floor) {
            None => Standing::Early,
            Some(floor) if score.beats(score.of_value(floor)) => Standing::Above,
            Some(_) => Standing::Below,
        })
    }

    /// Whether the verdict of a step that counts was recorded before a limit was raised for the last time.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn is_from_before(&self, step: Step) -> Result<bool, JournalError> {
        let seq = self.store().seq_of(&step.place(), Kind::Verdict)?;
        Ok(seq.is_some_and(|seq| seq <= self.continued_after()))
    }

    /// The number of the last record before the limit was raised for the last time; 0 if it never was.
    pub(super) fn continued_after(&self) -> i64 {
        continued_after(&lock(&self.continued))
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

impl Store {
    pub(super) fn continued(&self) -> rusqlite::Result<Vec<Continuation>> {
        Ok(self.get_json("continued")?.unwrap_or_default())
    }
}

/// The number of the last record before the limit was raised for the last time; 0 if it never was.
pub(super) fn continued_after(continued: &[Continuation]) -> i64 {
    continued.last().map_or(0, |continuation| continuation.last)
}

impl Continuation {
    /// The number of the last record before it.
    pub(super) fn last(&self) -> i64 {
        self.last
    }
}

/// What becomes of the records when a limit is raised.
fn reopened(records: &[EffectRecord]) -> Vec<(i64, EffectState)> {
    let open = open_from(records);
    let change = |record: &EffectRecord| match record.kind {
        // Phases get their shares of the time that is left.
        Kind::Decision if record.place.is_mark() => Some((record.seq, EffectState::Void)),
        _ => is_open(&open, record).then(|| (record.seq, closed(record))),
    };
    records.iter().filter(|record| record.counts()).filter_map(change).collect()
}

/// What becomes of the records of a line whose basis has changed. Paths share one.
fn set_aside(records: &[EffectRecord], line: Line) -> Vec<(i64, EffectState)> {
    let is_of = |record: &&EffectRecord| {
        record.counts() && line_of(&record.place).is_some_and(|of| basis_of(of) == basis_of(line))
    };
    records.iter().filter(is_of).map(|record| (record.seq, closed(record))).collect()
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

fn is_open(open: &BTreeMap<Line, i64>, record: &EffectRecord) -> bool {
    let fails_in_last = record.kind == Kind::Failure
        && matches!(record.place.phase(), Some(Phase::Phase3 | Phase::Finalization));
    let line = if fails_in_last { Some(Line::Last) } else { line_of(&record.place) };
    line.and_then(|line| open.get(&line)).is_some_and(|from| record.seq >= *from)
}

/// The number of the first open record of each line that is open.
fn open_from(records: &[EffectRecord]) -> BTreeMap<Line, i64> {
    let live: Vec<(Line, &EffectRecord)> = records
        .iter()
        .filter(|record| record.counts())
        .filter_map(|record| Some((line_of(&record.place)?, record)))
        .collect();
    let has =
        |holds: &dyn Fn(Line, &EffectRecord) -> bool| live.iter().any(|(line, record)| holds(*line, record));
    let is_settled = |line: Line| match line {
        Line::Baselines => true,
        Line::Start => has(&|of, record| of != Line::Baselines && is_scored(record)),
        // Their models were tried later.
        Line::Candidate(_) => has(&|of, _| of == Line::Extras),
        Line::Checks => has(&|of, record| matches!(of, Line::Path(_)) && is_scored(record)),
        Line::Path(_) => has(&|of, record| of == line && record.kind == Kind::Failure),
        Line::Merges | Line::Extras | Line::Rounds | Line::Last => false,
    };
    let mut scored: BTreeMap<Line, i64> = BTreeMap::new();
    for (line, record) in live.iter().filter(|(_, record)| is_scored(record)) {
        scored.insert(*line, record.seq);
    }
    let mut open = BTreeMap::from([(Line::Last, 0)]);
    for (line, record) in &live {
        let is_cut = record.limit.is_some() && record.kind != Kind::Verdict;
        let is_after = scored.get(line).is_none_or(|last| record.seq > *last);
        if is_cut && is_after && !is_settled(*line) {
            open.entry(*line).or_insert(record.seq);
        }
    }
    open
}

/// Whether it is a script that ran for a score and has one.
fn is_scored(record: &EffectRecord) -> bool {
    let purpose = record.request.get("purpose").cloned().map(serde_json::from_value);
    let is_for_a_score = matches!(purpose, Some(Ok(Purpose::Score)));
    let has_score = record.outcome.as_ref().is_some_and(|outcome| !outcome["score"].is_null());
    record.kind == Kind::Script && record.limit.is_none() && is_for_a_score && has_score
}

/// The score of the solution that the run would submit now; before the end of Phase 1, that of its last merge.
fn best_so_far(records: &[EffectRecord], direction: Direction) -> Option<f64> {
    let verdicts = records.iter().filter(|record| record.counts() && record.kind == Kind::Verdict);
    let read = |record: &EffectRecord| {
        let verdict: Verdict = serde_json::from_value(record.outcome.clone()?).ok()?;
        let step = record.place.step().filter(|step| !matches!(step, Step::Baseline(_)))?;
        Some((step, verdict))
    };
    let verdicts: Verdicts = verdicts.filter_map(read).collect();
    let merged = || {
        let merges = verdicts.iter().rev().filter(|(step, _)| matches!(step, Step::Merge(_)));
        merges.filter_map(|(_, verdict)| verdict.best.as_ref()).next()
    };
    verdict::answer(&verdicts, direction).or_else(merged).map(|best| best.score)
}

fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(tables::json_error)
}
