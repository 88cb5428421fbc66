//! The scored solutions of a run, the best first: the rows that page, `show` and the Python package have.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use mle_star_domain::metric::Score;
use mle_star_domain::place::{self, Place};
use serde::Serialize;
use serde_json::{Value, json};

use super::context::Context;
use super::plans::did;
use super::steps::{ScriptRun, Step, StepKind};
use crate::chart::Scale;

/// The most models that are named of one solution.
const MAX_NAMED: usize = 4;

/// A scored solution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaderboardRow {
    /// The step that made it.
    pub place: Place,
    /// The models that it goes back to.
    pub model: String,
    /// Its score.
    pub score: f64,
    /// The lower end of the 95 % interval of the score.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The time of its script.
    pub seconds: Option<f64>,
    /// Whether the algorithm continued with it.
    pub kept: bool,
    /// Whether it led to the answer, or is the answer.
    pub led: bool,
    /// What it changed, in a few words.
    pub changed: String,
}

impl LeaderboardRow {
    /// The 95 % interval of the score.
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.low.zip(self.high).map(<[f64; 2]>::from)
    }
}

/// The scored solutions, the best first; of equal ones the earlier.
pub fn leaderboard_rows(context: &Context<'_>) -> Vec<LeaderboardRow> {
    let way = context.descent.way_to_best();
    let rows = context.steps.iter().filter(|step| context.counts(step));
    let mut rows: Vec<(Score, LeaderboardRow)> =
        rows.filter_map(|step| row(context, step, way.contains(&step.step))).collect();
    rows.sort_by(|(one, _), (other, _)| match (one.beats(*other), other.beats(*one)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The rows with their scores on one axis; `None` before the first score.
pub fn leaderboard(context: &Context<'_>) -> Option<Value> {
    let rows = leaderboard_rows(context);
    // Those that cost nothing are far off, and stand on the first screen.
    let is_drawn = |row: &&LeaderboardRow| !matches!(row.place.step(), Some(place::Step::Baseline(_)));
    let drawn = || rows.iter().filter(is_drawn);
    let ends = drawn().filter_map(LeaderboardRow::interval).flatten();
    let best = rows.first().map(|row| row.score);
    let axis = Scale::of(drawn().map(|row| row.score).chain(ends).chain(best), best)?;
    let shown = |row: &LeaderboardRow| {
        let interval = row.interval();
        json!({"of": row, "interval": interval, "mark": axis.mark(row.score, interval)})
    };
    Some(json!({
        "rows": rows.iter().map(shown).collect::<Vec<_>>(),
        "axis": axis,
        "kept": rows.iter().filter(|row| row.kept).count(),
        "answer": answer(context, &rows).map(place::Step::place),
        "width": rows.iter().map(|row| row.place.as_str().len()).max(),
    }))
}

/// The step whose solution is submitted; of a run without a result, the one with the best score.
pub fn answer(context: &Context<'_>, rows: &[LeaderboardRow]) -> Option<place::Step> {
    let first = || rows.first().and_then(|row| row.place.step());
    context.result().and(context.descent.best).or_else(first)
}

fn row(context: &Context<'_>, step: &Step<'_>, led: bool) -> Option<(Score, LeaderboardRow)> {
    let run = step.scored()?;
    let score = run.score?;
    let [low, high] = match interval(context, step, run) {
        Some(ends) => ends.map(Some),
        None => [None, None],
    };
    let row = LeaderboardRow {
        place: step.place.clone(),
        model: models(context, step.step),
        score: score.value(),
        low,
        high,
        seconds: run.outcome.as_ref().map(|outcome| outcome.duration_seconds),
        kept: step.is_kept(),
        led,
        changed: changed(context, step),
    };
    Some((score, row))
}

/// The interval of a score. The result knows that of the answer, also where the answer's script wrote no predictions.
pub fn interval(context: &Context<'_>, step: &Step<'_>, run: &ScriptRun<'_>) -> Option<[f64; 2]> {
    let of_run = run.outcome.as_ref().and_then(|outcome| outcome.measured.as_ref()?.interval);
    let of_answer = || context.report.score.trust.as_ref()?.validation_interval;
    of_run.or_else(|| of_answer().filter(|_| context.descent.best == Some(step.step)))
}

/// The models that a solution goes back to, the first of each first.
pub fn models(context: &Context<'_>, step: place::Step) -> String {
    let (mut names, mut wanted, mut seen) = (Vec::<String>::new(), vec![step], BTreeSet::new());
    while let Some(step) = wanted.pop() {
        if !seen.insert(step) {
            continue;
        }
        let from = context.descent.from(step);
        if from.is_empty() {
            let name = context.report.tried.step(step);
            names.extend(Some(name).filter(|name| !names.contains(name)));
        }
        wanted.extend(from.into_iter().rev());
    }
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" + {more} more") } else { String::new() };
    names.join(" + ") + &more
}

/// What a solution changed, in a few words; of a model of its own, that it is one.
fn changed(context: &Context<'_>, step: &Step<'_>) -> String {
    match step.kind {
        StepKind::Baseline => "baseline".to_owned(),
        StepKind::Candidate if matches!(step.step, place::Step::Extra(_)) => "further model".to_owned(),
        StepKind::Candidate => "first model".to_owned(),
        _ => did(context, step),
    }
}
