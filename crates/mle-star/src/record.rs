//! The records of a journal, as they are read.

use mle_star_domain::effects::{Limit, Usage};
use mle_star_domain::place::Place;
use mle_star_domain::question::Question;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verdict::Verdicts;

/// One record of a journal: an effect of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectRecord {
    /// The number of the record, in order of beginning.
    pub seq: i64,
    /// The step of the algorithms that it belongs to.
    pub place: Place,
    /// The kind of effect.
    pub kind: Kind,
    /// Whether it counts.
    pub state: EffectState,
    /// The request: the prompt, or the script.
    pub request: Value,
    /// The outcome as JSON; `None` before the effect has ended.
    pub outcome: Option<Value>,
    /// The limit that refused or decided it.
    pub limit: Option<Limit>,
    /// Cost and tokens.
    pub usage: Usage,
    /// The time of its beginning, in RFC 3339.
    pub begun_at: String,
    /// The time of its end, in RFC 3339.
    pub ended_at: Option<String>,
    /// Seconds from the start of the run to its beginning.
    pub elapsed_begun: f64,
    /// Seconds from the start of the run to its end.
    pub elapsed_ended: Option<f64>,
}

impl EffectRecord {
    /// Whether it counts.
    pub fn counts(&self) -> bool {
        self.state == EffectState::Ended
    }
}

/// Whether a record counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectState {
    /// The effect is in progress, or its process died.
    Begun,
    /// The record counts.
    Ended,
    /// The effect was interrupted or ended the run. A resume performs it again.
    Void,
    /// The record does not count any more, because a larger limit reopened the run at an earlier step.
    Aside,
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An agent call.
    Agent,
    /// A script run.
    Script,
    /// The score of a script's predictions for held-out rows.
    Look,
    /// The choice of weights for the predictions of earlier runs.
    Selection,
    /// What the program found in a script.
    Gate,
    /// The time for a probe or for the submission script, or any other question about predictions.
    Probe,
    /// A decision that depends on the time or the budget.
    Decision,
    /// The verdict of a step.
    Verdict,
    /// A path or a phase failed and the run went on without it.
    Failure,
}

impl Kind {
    /// The kind of the record of a question.
    pub(crate) fn of(question: &Question) -> Self {
        match question {
            Question::Look { .. } => Self::Look,
            Question::Select { .. } => Self::Selection,
            Question::Combine { .. } => Self::Script,
            _ => Self::Probe,
        }
    }
}

/// The verdicts among the records that count.
pub(crate) fn verdicts(effects: &[EffectRecord]) -> Verdicts {
    let verdicts = effects.iter().filter(|effect| effect.kind == Kind::Verdict && effect.counts());
    let read = |effect: &EffectRecord| {
        let verdict = serde_json::from_value(effect.outcome.clone()?).ok()?;
        Some((effect.place.step()?, verdict))
    };
    verdicts.filter_map(read).collect()
}

/// The first limit of the whole run that skipped something, among the records that count and have a larger number than
/// `after`.
pub(crate) fn first_limit(effects: &[EffectRecord], after: i64) -> Option<Limit> {
    let counting = effects.iter().filter(|effect| effect.counts() && effect.seq > after);
    counting.filter_map(|effect| effect.limit).find(|limit| *limit != Limit::Share)
}
