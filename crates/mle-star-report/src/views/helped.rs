//! What helped: how much of the rise of the best score each kind of change made.

use std::collections::BTreeMap;

use mle_star_domain::place::{Place, StepKind};
use serde::Serialize;
use serde_json::{Value, json};

use super::solutions::Solution;
use super::{Context, RunReport};

/// What raised the best validation score, in the metric's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Helped {
    /// The score of the baselines, or else the first one.
    pub from: f64,
    /// The last best score.
    pub to: f64,
    /// The kinds of changes, those with the largest gain first.
    pub rows: Vec<KindOfChange>,
}

/// A kind of change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KindOfChange {
    /// Its name.
    pub name: String,
    /// Whether its solutions are models of their own, which replace nothing.
    pub is_model: bool,
    /// How much the best score rose by changes of this kind.
    pub gain: f64,
    /// The number of solutions with a score.
    pub tried: usize,
    /// The number of those that the algorithm continued with.
    pub kept: usize,
    /// The change with the largest gain.
    pub best: Option<Change>,
}

/// A change that raised the best score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The step that made it.
    pub place: Place,
    /// The change in a few words.
    pub did: String,
    /// How much it raised the best score.
    pub gain: f64,
}

/// The kinds of changes; `None` before the first score of a model.
pub fn helped(_: &Context<'_>, report: &RunReport) -> Option<Value> {
    report.helped.as_ref().map(|helped| json!(helped))
}

impl Helped {
    /// What helped among these solutions, which are in the order in which they ended; `None` if nothing did.
    pub fn of(solutions: &[Solution]) -> Option<Self> {
        let (mut helped, mut kinds) = (Self::default(), BTreeMap::<&str, KindOfChange>::new());
        for one in solutions {
            let gain = one.rise.filter(|_| !one.is_reference);
            if let Some(score) = one.score.filter(|_| one.improved) {
                helped.to = score;
                helped.from = if gain.is_some() { helped.from } else { score };
            }
            if one.score.is_some() && !one.is_reference {
                kinds.entry(&one.kind).or_default().take(one, gain);
            }
        }
        helped.rows = kinds.into_values().collect();
        helped.rows.sort_by(|one, other| other.gain.total_cmp(&one.gain));
        Some(helped).filter(|helped| helped.rows.first().is_some_and(|kind| kind.gain > 0.0))
    }
}

impl KindOfChange {
    fn take(&mut self, one: &Solution, gain: Option<f64>) {
        self.name.clone_from(&one.kind);
        self.is_model = one.place.step().is_some_and(|step| step.row().kind == StepKind::Candidate);
        self.tried += 1;
        self.kept += usize::from(one.kept);
        let Some(gain) = gain else { return };
        self.gain += gain;
        if self.best.as_ref().is_none_or(|best| gain > best.gain) {
            self.best = Some(Change { place: one.place.clone(), did: one.did.clone(), gain });
        }
    }
}
