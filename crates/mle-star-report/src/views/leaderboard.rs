//! The scored solutions of a run, the best first: the rows that page, `show` and the Python package have.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use mle_star_domain::metric::Score;
use mle_star_domain::place::{self, Place};
use serde::Serialize;
use serde_json::{Value, json};

use super::context::Context;
use super::plans::plan;
use super::steps::{ScriptRun, Step, StepKind};
use crate::chart::Scale;
use crate::sanitize::first_line;

/// The most models that are named of one solution.
const MAX_NAMED: usize = 4;
/// The longest description of a change, in characters.
const CHANGE: usize = 90;

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
    let counted = context.run.steps.iter().filter(|row| row.counts).map(|row| row.place.as_str());
    let counted: BTreeSet<&str> = counted.collect();
    let scored = |step: &&Step<'_>| step.scored().is_some_and(|run| counted.contains(run.place.as_str()));
    let rows = context.steps.iter().filter(scored);
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
    let shown = |row: &LeaderboardRow| json!({"of": row, "interval": row.interval(), "mark": axis.mark(row.score, row.interval())});
    Some(json!({
        "rows": rows.iter().map(shown).collect::<Vec<_>>(),
        "axis": axis,
        "kept": rows.iter().filter(|row| row.kept).count(),
        "answer": context.descent.best.map(place::Step::place),
        "width": rows.iter().map(|row| row.place.as_str().len()).max(),
    }))
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
        changed: change(context, step),
    };
    Some((score, row))
}

/// The interval of a score. The result knows that of the answer, also where the answer's script wrote no predictions.
fn interval(context: &Context<'_>, step: &Step<'_>, run: &ScriptRun<'_>) -> Option<[f64; 2]> {
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

/// What a solution changed: the first sentence of its plan, without a label before it.
pub fn change(context: &Context<'_>, step: &Step<'_>) -> String {
    match step.kind {
        StepKind::Baseline => "baseline".to_owned(),
        StepKind::Candidate if matches!(step.step, place::Step::Extra(_)) => "further model".to_owned(),
        StepKind::Candidate => "first model".to_owned(),
        _ => plan(context, step).map_or_else(|| step.step.title(), |plan| first_words(&plan)),
    }
}

/// The first part of a plan's first sentence, without a word such as "Strategy:" before it.
fn first_words(plan: &str) -> String {
    let line = first_line(plan, 10 * CHANGE);
    let label = line.split_once(": ").filter(|(label, _)| !label.contains(' '));
    let rest = label.map_or(line.as_str(), |(_, rest)| rest);
    let end = rest.find(". ").into_iter().chain(rest.find("; ")).min().unwrap_or(rest.len());
    first_line(rest[..end].trim_end_matches('.'), CHANGE)
}
