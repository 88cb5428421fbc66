//! What helped: how much of the rise of the best score each kind of change made.

use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place;
use serde::Serialize;
use serde_json::{Value, json};

use super::ablation;
use super::context::Context;
use super::leaderboard::change;
use super::scores::scored;
use super::steps::{Step, StepKind};
use crate::chart::strips;

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

/// The kinds of changes, those with the largest gain first; `None` before the second score.
pub fn helped(context: &Context<'_>) -> Option<Value> {
    let direction = context.run.snapshot.frozen.task.metric_direction;
    let gains = gains(context, direction);
    let mut kinds: Vec<Kind> = Vec::new();
    let scored = context.steps.iter().filter(|step| step.score().is_some());
    for step in scored.filter(|step| step.kind != StepKind::Baseline) {
        let name = kind(context, step);
        let at = kinds.iter().position(|kind| kind.name == name).unwrap_or(kinds.len());
        if at == kinds.len() {
            let is_model = step.kind == StepKind::Candidate;
            kinds.push(Kind { name, is_model, ..Kind::default() });
        }
        kinds[at].take(context, step, &gains);
    }
    kinds.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    let bars = strips(&kinds.iter().map(|kind| (kind.gain, None)).collect::<Vec<_>>());
    let rows = kinds.iter().zip(bars).map(|(kind, bar)| json!({"of": kind, "bar": bar}));
    let rows: Vec<Value> = rows.collect();
    (!rows.is_empty()).then(|| json!({"rows": rows, "from": gains.start, "to": gains.end}))
}

/// The steps that raised the best score, each with how much.
struct Gains {
    of: Vec<(place::Step, f64)>,
    /// The best score of the baselines, else the first score.
    start: f64,
    end: f64,
}

fn gains(context: &Context<'_>, direction: Direction) -> Gains {
    let mut gains = Gains { of: Vec::new(), start: 0.0, end: 0.0 };
    let mut best: Option<Score> = None;
    for one in scored(context.run).into_iter().filter(|one| one.improved) {
        let (Some(score), Some(step)) = (Score::new(one.score, direction), one.place.step()) else {
            continue;
        };
        let is_baseline = matches!(step, place::Step::Baseline(_));
        match best {
            Some(best) if !is_baseline => gains.of.push((step, score.gain_over(best))),
            _ => gains.start = one.score,
        }
        gains.end = one.score;
        best = Some(score);
    }
    gains
}

impl Kind {
    fn take(&mut self, context: &Context<'_>, step: &Step<'_>, gains: &Gains) {
        self.tried += 1;
        self.kept += usize::from(step.is_kept());
        for (_, gain) in gains.of.iter().filter(|(raised, _)| *raised == step.step) {
            self.gain += gain;
            if self.best.as_ref().is_none_or(|(most, ..)| gain > most) {
                let words = match step.kind {
                    StepKind::Candidate => context.report.tried.step(step.step),
                    _ => change(context, step),
                };
                self.best = Some((*gain, words, step.place.clone()));
            }
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
