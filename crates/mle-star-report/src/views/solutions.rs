//! The solutions of a run: the points of the picture, the rows of the leaderboard, and what the gains are counted of.

use std::collections::{BTreeMap, BTreeSet};

use mle_star::journal::EffectState;
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Place, Step as At};
use serde::Serialize;

use super::ablation;
use super::context::Context;
use super::outcome::status;
use super::plans::{did, first_sentence, plan};
use super::steps::{ScriptRun, Step, StepKind};

/// The most models that are named of one solution.
const MAX_NAMED: usize = 4;

/// A solution. Scores are in the metric's unit, times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Solution {
    /// The step that made it.
    pub place: Place,
    /// What the step is called.
    pub name: String,
    /// The models that it goes back to.
    pub model: String,
    /// The kind of its change: `merged models`, `refined: feature engineering`.
    pub kind: String,
    /// The plan in a sentence; `None` without one.
    pub plan: Option<String>,
    /// What it changed, in a few words; of a model of its own, that it is one.
    pub changed: String,
    /// What was done, in a few words, with the name of a model of its own.
    #[serde(skip)]
    pub did: String,
    /// What became of it, in words.
    pub outcome: String,
    /// Its validation score.
    pub score: Option<f64>,
    /// The 95 % interval of the score.
    pub interval: Option<[f64; 2]>,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether the score counts: one with a leak does not.
    pub counts: bool,
    /// The difference of the score to what it was made from, or to the best score before it.
    pub gain: Option<f64>,
    /// What it was made from and is compared with.
    pub against: Option<String>,
    /// How much it raised the best score of the run; `None` if it did not.
    pub rise: Option<f64>,
    /// The time of the script with the score.
    pub seconds: Option<f64>,
    /// When it ended, since the start of the run.
    pub ended: f64,
    /// Whether the algorithm continued with it.
    pub kept: bool,
    /// Whether it led to the answer, or is the answer.
    pub led: bool,
    /// What became of it.
    #[serde(skip)]
    pub fate: Fate,
    /// Whether its score is better than all before it.
    #[serde(skip)]
    pub improved: bool,
    /// Whether it is a solution to compare with, not one of the search.
    #[serde(skip)]
    pub is_reference: bool,
    /// The indices of the solutions that it was made from.
    #[serde(skip)]
    pub from: Vec<usize>,
}

/// What became of a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It is the answer.
    Answer,
    /// It was kept.
    Kept,
    /// It was not kept.
    #[default]
    Dropped,
    /// It has no score.
    Failed,
    /// It is in progress, or was cut off.
    Open,
}

/// The solutions of a run in the order in which they ended.
pub fn solutions(context: &Context<'_>) -> Vec<Solution> {
    let now = context.run.summary.spent.elapsed_seconds;
    let made = context.steps.iter().filter(|step| is_solution(context, step));
    let mut steps: Vec<(f64, &Step<'_>)> = made.map(|step| (ended(step).unwrap_or(now), step)).collect();
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    let index: BTreeMap<At, usize> = steps.iter().map(|(_, step)| step.step).zip(0..).collect();
    let way = context.descent.way_to_best();
    let mut best: Option<Score> = None;
    let solution = |(ended, step): (f64, &Step<'_>)| {
        let (score, scored) = (score(context, step), step.scored());
        let origins = context.descent.from(step.step);
        let parent = origins.first().and_then(|from| context.steps.at(*from));
        let before = parent.and_then(Step::score);
        let counts = score.is_some() && (scored.is_none() || context.counts(step));
        let improved = score.filter(|score| counts && best.is_none_or(|best| score.beats(best)));
        let (status, outcome) = status(context, step);
        let (name, did) = (context.tried.step(step.step), did(context, step));
        let interval = scored.and_then(|run| interval(context, step, run));
        let made = Solution {
            place: step.place.clone(),
            model: models(context, step.step),
            kind: kind(context, step),
            plan: plan(context, step).filter(|plan| *plan != name).map(|plan| first_sentence(&plan)),
            changed: own_model(step).map_or_else(|| did.clone(), str::to_owned),
            did,
            name,
            outcome,
            score: score.map(Score::value),
            interval,
            low: interval.map(|[low, _]| low),
            high: interval.map(|[_, high]| high),
            counts,
            gain: score.zip(before.or(best)).map(|(score, before)| score.gain_over(before)),
            against: score.and(before).and(parent).map(|parent| context.tried.step(parent.step)),
            rise: improved.zip(best).map(|(score, best)| score.gain_over(best)),
            seconds: scored.and_then(|run| Some(run.outcome.as_ref()?.duration_seconds)),
            ended,
            kept: step.is_kept(),
            led: way.contains(&step.step) || step.step == At::Finalization,
            fate: fate(context, step, status),
            improved: improved.is_some(),
            is_reference: step.kind == StepKind::Baseline,
            from: origins.iter().filter_map(|from| index.get(from).copied()).collect(),
        };
        best = improved.or(best);
        made
    };
    steps.into_iter().map(solution).collect()
}

/// Whether the step made or makes a solution.
fn is_solution(context: &Context<'_>, step: &Step<'_>) -> bool {
    let is_solution = !matches!(step.kind, StepKind::Study | StepKind::LikeRows | StepKind::Provisional);
    let has_begun =
        step.runs.iter().any(ScriptRun::has_begun) || step.is_open() && context.result().is_none();
    let has_score = step.verdict.as_ref().is_some_and(|verdict| verdict.score.is_some());
    is_solution && (has_begun || has_score)
}

/// The validation score of a step. That of a combination is no script's; comparisons have scores on other rows.
fn score(context: &Context<'_>, step: &Step<'_>) -> Option<Score> {
    let direction = context.run.summary.run.direction;
    let of_verdict = || Score::new(step.verdict.as_ref()?.score?, direction);
    step.score().or_else(|| of_verdict().filter(|_| step.kind != StepKind::Submission))
}

/// The interval of a score. The result knows that of the answer, also where the answer's script wrote no predictions.
fn interval(context: &Context<'_>, step: &Step<'_>, run: &ScriptRun<'_>) -> Option<[f64; 2]> {
    let of_run = run.outcome.as_ref().and_then(|outcome| outcome.measured.as_ref()?.interval);
    let of_answer = || context.result()?.trust.as_ref()?.validation_interval;
    of_run.or_else(|| of_answer().filter(|_| context.descent.best == Some(step.step)))
}

/// When the script with the score ended, or the last that was done; `None` while the step is in progress.
fn ended(step: &Step<'_>) -> Option<f64> {
    let scored = step.scored().map(|run| run.place);
    let of_script = step
        .records
        .iter()
        .find(|record| Some(&record.place) == scored)
        .and_then(|record| record.elapsed_ended);
    let is_open = step.records.iter().any(|record| record.state == EffectState::Begun);
    let last = || step.records.iter().filter_map(|record| record.elapsed_ended).reduce(f64::max);
    of_script.or_else(|| last().filter(|_| !is_open))
}

/// The models that a solution goes back to, the first of each first.
pub fn models(context: &Context<'_>, step: At) -> String {
    let (mut names, mut wanted, mut seen) = (Vec::<String>::new(), vec![step], BTreeSet::new());
    while let Some(step) = wanted.pop() {
        if !seen.insert(step) {
            continue;
        }
        let from = context.descent.from(step);
        if from.is_empty() {
            let name = context.tried.step(step);
            names.extend(Some(name).filter(|name| !names.contains(name)));
        }
        wanted.extend(from.into_iter().rev());
    }
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" + {more} more") } else { String::new() };
    names.join(" + ") + &more
}

/// What a model that replaces nothing is.
fn own_model(step: &Step<'_>) -> Option<&'static str> {
    match (step.kind, step.step) {
        (StepKind::Baseline, _) => Some("baseline"),
        (StepKind::Candidate, At::Extra(_)) => Some("further model"),
        (StepKind::Candidate, _) => Some("first model"),
        _ => None,
    }
}

/// The kind of a step's change: that of its step, and of the block that an attempt refines, as its agent names it.
fn kind(context: &Context<'_>, step: &Step<'_>) -> String {
    let block = |path, outer| {
        let target = ablation::target(context, At::Outer { path, outer })?;
        let name = serde_json::to_value(target.category?).ok()?;
        Some(format!("refined: {}", name.as_str()?.replace('_', " ")))
    };
    match (own_model(step), step.kind, step.step) {
        (Some(own), ..) => format!("{own}s"),
        (_, StepKind::Merge, _) => "merged models".to_owned(),
        (_, StepKind::Data, _) => "unused data".to_owned(),
        (_, StepKind::LeakageCheck, _) => "a leak removed".to_owned(),
        (_, StepKind::Round, _) => "ensembles".to_owned(),
        (.., At::Attempt { path, outer, .. }) => {
            block(path, outer).unwrap_or_else(|| "refined: a block".to_owned())
        }
        _ => step.step.title(),
    }
}

fn fate(context: &Context<'_>, step: &Step<'_>, status: &str) -> Fate {
    match status {
        _ if context.descent.best == Some(step.step) => Fate::Answer,
        "kept" => Fate::Kept,
        "failed" => Fate::Failed,
        "open" | "skipped" => Fate::Open,
        _ => Fate::Dropped,
    }
}
