//! Reading a journal without holding its run: for lists, reports and pages. Nothing is written.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::store::{self, Store};
use super::{Frozen, JournalError, Kind, MadeWith, check, image, lock};
use crate::diagnostics::Diagnostics;
use crate::effects::{Limit, Usage};
use crate::place::Place;
use crate::verdict::Verdicts;

/// A journal at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The run's inputs.
    pub frozen: Frozen,
    /// When the run was made, RFC 3339.
    pub created_at: String,
    /// The programs that made it so far, one entry for each change; none where that was not noted.
    pub made_with: Vec<MadeWith>,
    /// Seconds the run has taken so far.
    pub elapsed: f64,
    /// Every record that can be read, oldest first.
    pub effects: Vec<EffectRecord>,
    /// What ended the run early the last time.
    pub stopped: Option<Diagnostics>,
    /// What is wrong with the journal, as far as reading it shows.
    pub damage: Option<String>,
}

impl Snapshot {
    /// How every step ended that has ended. A journal of an older format has none.
    pub fn verdicts(&self) -> Verdicts {
        let verdicts = self.effects.iter().filter(|effect| effect.kind == Kind::Verdict && effect.counts());
        let read = |effect: &EffectRecord| {
            let verdict = serde_json::from_value(effect.outcome.clone()?).ok()?;
            Some((effect.place.step()?, verdict))
        };
        verdicts.filter_map(read).collect()
    }

    /// The paths and phases that failed, each with its cause.
    pub fn failures(&self) -> Vec<(Place, String)> {
        let failures = self.effects.iter().filter(|effect| effect.kind == Kind::Failure && effect.counts());
        let cause = |effect: &EffectRecord| effect.outcome.as_ref()?.as_str().map(str::to_owned);
        failures.filter_map(|effect| Some((effect.place.clone(), cause(effect)?))).collect()
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectRecord {
    /// Order of beginning.
    pub seq: i64,
    /// Where.
    pub place: Place,
    /// What.
    pub kind: Kind,
    /// Does it count?
    pub state: EffectState,
    /// What was asked: the prompt, or the script.
    pub request: Value,
    /// What came back, as the outcome's JSON; `None` while it has not ended.
    pub outcome: Option<Value>,
    /// The limit that refused it or decided it.
    pub limit: Option<Limit>,
    /// Money and tokens.
    pub usage: Usage,
    /// RFC 3339.
    pub begun_at: String,
    /// RFC 3339.
    pub ended_at: Option<String>,
    /// Seconds into the run.
    pub elapsed_begun: f64,
    /// Seconds into the run.
    pub elapsed_ended: Option<f64>,
}

impl EffectRecord {
    /// Does it count?
    pub fn counts(&self) -> bool {
        self.state == EffectState::Ended
    }
}

/// Does a record count?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectState {
    /// It is being done, or its process died.
    Begun,
    /// It counts.
    Ended,
    /// It was interrupted, or ended the run, and is done again.
    Void,
    /// A larger limit reopened the run before it.
    Aside,
}

/// The first limit of the run's own that left something out, among the records that count.
pub fn first_limit(effects: &[EffectRecord]) -> Option<Limit> {
    let counting = effects.iter().filter(|effect| effect.counts());
    counting.filter_map(|effect| effect.limit).find(|limit| *limit != Limit::Share)
}

/// US dollars of the agent calls at the places that `belongs` picks, also of those that do not count any more;
/// `None` when the cost of one of them is unknown.
pub fn cost(effects: &[EffectRecord], belongs: impl Fn(&Place) -> bool) -> Option<f64> {
    let calls = effects.iter().filter(|effect| effect.kind == Kind::Agent && effect.outcome.is_some());
    calls.filter(|effect| belongs(&effect.place)).map(|effect| effect.usage.cost_usd).sum()
}

/// Reads the journal in a run folder, also while the run goes on. Of a damaged journal, reads as much as possible.
/// Nothing is written, so read access is enough.
///
/// # Errors
/// When it is missing, of another format, or so damaged that not even the run's inputs can be read.
pub fn read(folder: &Path) -> Result<Snapshot, JournalError> {
    let path = folder.join(store::FILE);
    if path.symlink_metadata().is_err() {
        return Err(JournalError::Missing(path));
    }
    // In the process that works on the run, closing the file would drop the locks that its own connection holds.
    let (db, log) =
        if lock::is_ours(folder) { (check::open_in_place(&path)?, None) } else { image::open(&path)? };
    let store = Store::reading(db);
    let frozen = store.frozen(&path)?;
    let (effects, damage) = store.readable_effects();
    let damage = damage.map(|what| check::damaged(&path, what)).or(log).map(|error| error.to_string());
    let elapsed = store.elapsed().unwrap_or_default();
    let created_at = store.get("created_at").unwrap_or_default().unwrap_or_default();
    let made_with = store.made_with().unwrap_or_default();
    let stopped = store.stopped().unwrap_or_default();
    Ok(Snapshot { frozen, created_at, made_with, elapsed, effects, stopped, damage })
}
