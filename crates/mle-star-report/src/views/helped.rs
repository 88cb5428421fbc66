//! What helped: how much of the rise of the best score each kind of change made.

use std::collections::BTreeMap;

use mle_star_domain::place;
use serde::Serialize;
use serde_json::{Value, json};

use super::ablation;
use super::context::Context;
use super::plans::did;
use super::scores::scored;
use super::steps::{Step, StepKind};

/// A kind of change.
#[derive(Debug, Default, Serialize)]
struct Kind {
    name: String,
    /// Whether its solutions are models of their own, which replace nothing.
    is_model: bool,
    /// How much the best score rose by changes of this kind.
    gain: f64,
    tried: usize,
    kept: usize,
    /// The change with the largest gain, and its step.
    best: Option<(f64, String, place::Place)>,
}

/// The kinds of changes, those with the largest gain first; `None` before the first score of a model.
pub fn helped(context: &Context<'_>) -> Option<Value> {
    let (gains, [from, to]) = gains(context);
    let mut kinds: Vec<Kind> = Vec::new();
    let scored = context.steps.iter().filter(|step| step.score().is_some());
    for step in scored.filter(|step| step.kind != StepKind::Baseline) {
        let name = kind(context, step);
        let at = kinds.iter().position(|kind| kind.name == name).unwrap_or(kinds.len());
        if at == kinds.len() {
            let is_model = step.kind == StepKind::Candidate;
            kinds.push(Kind { name, is_model, ..Kind::default() });
        }
        kinds[at].take(context, step, gains.get(&step.step).copied());
    }
    kinds.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    let has_gain = kinds.first().is_some_and(|kind| kind.gain > 0.0);
    has_gain.then(|| json!({"rows": kinds, "from": from, "to": to}))
}

/// How much each step raised the best score, from that of the baselines or else the first, and that and the last best score.
fn gains(context: &Context<'_>) -> (BTreeMap<place::Step, f64>, [f64; 2]) {
    let (mut gains, mut ends) = (BTreeMap::new(), [0.0; 2]);
    for one in scored(context.run).into_iter().filter(|one| one.improved) {
        let Some(step) = one.place.step() else { continue };
        match one.gain.filter(|_| !matches!(step, place::Step::Baseline(_))) {
            Some(gain) => _ = gains.insert(step, gain),
            None => ends[0] = one.score,
        }
        ends[1] = one.score;
    }
    (gains, ends)
}

impl Kind {
    fn take(&mut self, context: &Context<'_>, step: &Step<'_>, gain: Option<f64>) {
        self.tried += 1;
        self.kept += usize::from(step.is_kept());
        let Some(gain) = gain else { return };
        self.gain += gain;
        if self.best.as_ref().is_none_or(|(most, ..)| gain > *most) {
            self.best = Some((gain, did(context, step), step.place.clone()));
        }
    }
}

/// The kind of a step's change: that of its step, and of the block that an attempt refines, as its agent names it.
fn kind(context: &Context<'_>, step: &Step<'_>) -> String {
    let block = |path, outer| {
        let target = ablation::target(context, place::Step::Outer { path, outer })?;
        let name = serde_json::to_value(target.category?).ok()?;
        Some(format!("refined: {}", name.as_str()?.replace('_', " ")))
    };
    match (step.kind, step.step) {
        (_, place::Step::Extra(_)) => "further models".to_owned(),
        (StepKind::Candidate, _) => "first models".to_owned(),
        (StepKind::Merge, _) => "merged models".to_owned(),
        (StepKind::Data, _) => "unused data".to_owned(),
        (StepKind::LeakageCheck, _) => "a leak removed".to_owned(),
        (StepKind::Round, _) => "ensembles".to_owned(),
        (_, place::Step::Attempt { path, outer, .. }) => {
            block(path, outer).unwrap_or_else(|| "refined: a block".to_owned())
        }
        _ => step.step.title(),
    }
}
