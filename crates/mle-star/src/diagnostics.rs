//! What a run that ends early leaves: how far it came, what it used, what exists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::effects::Usage;
use crate::journal::{EffectRecord, Kind};
use crate::place::{Phase, Place};
use crate::spending::spending;
use crate::verdict::Best;

/// How far a run came that something ended early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostics {
    /// What ended it.
    pub error: String,
    /// Seconds of the run, over all its processes.
    pub elapsed_seconds: f64,
    /// Money and tokens of all its agent calls.
    pub spent: Usage,
    /// The phase it was in.
    pub phase: Option<Phase>,
    /// The agent call or script that ended last without an error of its own.
    pub last_success: Option<Place>,
    /// Scripts that gave a score.
    pub scored: u64,
    /// The solution it would submit.
    pub solution: Option<Best>,
    /// The best solution whose run left a valid submission.
    pub submission: Option<Best>,
}

impl Diagnostics {
    /// Of a run with these records, ended by `error` after `elapsed_seconds`.
    pub(crate) fn new(error: String, elapsed_seconds: f64, effects: &[EffectRecord]) -> Self {
        let ended = |effect: &&EffectRecord| {
            effect.counts() && effect.limit.is_none() && matches!(effect.kind, Kind::Agent | Kind::Script)
        };
        let last = effects.iter().filter(ended).max_by(|a, b| a.ended_at.cmp(&b.ended_at));
        Self {
            error,
            elapsed_seconds,
            spent: spending(effects).total().usage,
            phase: effects.iter().filter_map(|effect| effect.place.phase()).max(),
            last_success: last.map(|effect| effect.place.clone()),
            scored: 0,
            solution: None,
            submission: None,
        }
    }
}
