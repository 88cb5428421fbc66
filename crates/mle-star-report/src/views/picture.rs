//! The story of a run in one picture: how its best score grew, and which solution was made from which.

use std::collections::BTreeMap;

use mle_star::journal::EffectState;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::Step as At;
use serde_json::{Value, json};

use super::context::Context;
use super::leaderboard::{interval, models};
use super::outcome::status;
use super::plans::{did, first_sentence, plan};
use super::steps::{ScriptRun, Step, StepKind};
use crate::at_work::AtWork;
use crate::chart::{Fate, Solution, Story, WIDTHS};
use crate::figures::{count, number};
use crate::run_view::RunView;

/// The style sheet of the picture.
const STYLE: &str =
    concat!(include_str!("../../templates/picture.css"), include_str!("../../templates/picture-alone.css"));
/// Names of the lanes of paths; further ones share the last.
const PATHS: [&str; 9] =
    ["path 1", "path 2", "path 3", "path 4", "path 5", "path 6", "path 7", "path 8", "further paths"];

/// The picture in several widths, and its figures; `None` if no step has begun.
pub fn picture(context: &Context<'_>) -> Option<Value> {
    let story = story(context);
    let drawn: Vec<String> = WIDTHS.into_iter().filter_map(|width| story.draw(width, None)).collect();
    let has_begun = !story.solutions.is_empty();
    has_begun.then(|| json!({"drawn": drawn, "outside": story.outside(), "rows": story.solutions}))
}

/// The picture as a file of its own; `None` if nothing was scored.
pub fn svg(run: &RunView) -> Option<String> {
    let at_work = AtWork::of(run);
    story(&Context::of(run, &at_work)).draw(WIDTHS[0], Some(STYLE))
}

/// The solutions of a run in the order in which they ended.
fn story(context: &Context<'_>) -> Story {
    let now = context.run.summary.spent.elapsed_seconds;
    let drawn = context.steps.iter().filter(|step| is_drawn(context, step));
    let mut steps: Vec<(f64, &Step<'_>)> = drawn.map(|step| (ended(step).unwrap_or(now), step)).collect();
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    let index: BTreeMap<At, usize> = steps.iter().map(|(_, step)| step.step).zip(0..).collect();
    let mut solutions: Vec<Solution> =
        steps.iter().map(|(ended, step)| solution(context, step, *ended, &index)).collect();
    rank(context, &steps, &mut solutions);
    let lanes = ["first models"].into_iter().chain(PATHS).chain(["further models", "ensemble", "answer"]);
    let metric = context.run.summary.run.metric.clone();
    Story {
        description: description(&metric, &solutions),
        metric,
        is_up: direction(context) == Direction::Maximize,
        end: steps.last().map_or(now, |(ended, _)| ended.max(now)),
        lanes: lanes.filter(|lane| solutions.iter().any(|one| one.lane == *lane)).collect(),
        references: references(context),
        solutions,
    }
}

fn direction(context: &Context<'_>) -> Direction {
    context.run.snapshot.frozen.task.metric_direction
}

/// The solution of a step, but for its rank among the others.
fn solution(context: &Context<'_>, step: &Step<'_>, ended: f64, index: &BTreeMap<At, usize>) -> Solution {
    let (status, outcome) = status(context, step);
    let from = context.descent.from(step.step);
    let name = context.report.tried.step(step.step);
    Solution {
        place: step.place.clone(),
        model: models(context, step.step),
        plan: plan(context, step).filter(|plan| *plan != name).map(|plan| first_sentence(&plan)),
        did: did(context, step),
        name,
        outcome,
        score: score(step, direction(context)).map(Score::value),
        interval: step.scored().and_then(|run| interval(context, step, run)),
        seconds: step.seconds(),
        ended,
        lane: lane(step.step),
        is_reference: step.kind == StepKind::Baseline,
        fate: fate(context, step, status),
        from: from.iter().filter_map(|from| index.get(from).copied()).collect(),
        ..Solution::default()
    }
}

/// Compares each solution with what it was made from, or with the best before it. Scores with a leak are no best ones.
fn rank(context: &Context<'_>, steps: &[(f64, &Step<'_>)], solutions: &mut [Solution]) {
    let mut best: Option<Score> = None;
    let way = context.descent.way_to_best();
    for ((_, step), one) in steps.iter().zip(solutions) {
        one.on_way = way.contains(&step.step) || step.step == At::Finalization;
        let Some(score) = score(step, direction(context)) else { continue };
        let parent = context.descent.from(step.step).first().and_then(|from| context.steps.at(*from));
        let before = parent.and_then(Step::score);
        one.against = before.and(parent).map(|parent| context.report.tried.step(parent.step));
        one.gain = before.or(best).map(|before| score.gain_over(before));
        one.improved =
            (step.scored().is_none() || context.counts(step)) && best.is_none_or(|best| score.beats(best));
        one.rise = best.filter(|_| one.improved).map(|best| score.gain_over(best));
        best = if one.improved { Some(score) } else { best };
    }
}

fn description(metric: &str, solutions: &[Solution]) -> String {
    let mut scores = solutions.iter().filter(|one| one.improved).filter_map(|one| one.score);
    let first = scores.next();
    let ends = first.zip(scores.next_back().or(first));
    let ends =
        ends.map(|(first, last)| format!("the best {metric} from {} to {}, ", number(first), number(last)));
    format!(
        "{} over time, {}and what each was made from",
        count(solutions.len() as u64, "solution"),
        ends.unwrap_or_default()
    )
}

/// Whether the step made or makes a solution.
fn is_drawn(context: &Context<'_>, step: &Step<'_>) -> bool {
    let is_solution = !matches!(step.kind, StepKind::Study | StepKind::LikeRows | StepKind::Provisional);
    let has_begun =
        step.runs.iter().any(ScriptRun::has_begun) || step.is_open() && context.result().is_none();
    let has_score = step.verdict.as_ref().is_some_and(|verdict| verdict.score.is_some());
    is_solution && (has_begun || has_score)
}

/// The validation score of a step. That of a combination is no script's; comparisons have scores on other rows.
fn score(step: &Step<'_>, direction: Direction) -> Option<Score> {
    let of_verdict = || Score::new(step.verdict.as_ref()?.score?, direction);
    step.score().or_else(|| of_verdict().filter(|_| step.kind != StepKind::Submission))
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

fn lane(step: At) -> &'static str {
    match step {
        At::Attempt { path, .. } => PATHS.get(path as usize).unwrap_or(&PATHS[PATHS.len() - 1]),
        At::Extra(_) => "further models",
        At::Round(_) | At::Selection => "ensemble",
        At::Choice(_) | At::Finalization => "answer",
        _ => "first models",
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

/// The scores to compare with: of predicting all rows alike, as the result has it, and of the baseline and a seasonal naive forecast on the
/// validated rows.
pub fn references(context: &Context<'_>) -> Vec<(&'static str, f64)> {
    let baseline = |index| context.steps.at(At::Baseline(index)).and_then(|step| Some(step.score()?.value()));
    let score = &context.report.score;
    let trust = score.trust.as_ref();
    let told = || score.expected.as_ref()?.constant.or_else(|| trust?.constant_score);
    let known = [
        ("constant", told().or_else(|| baseline(0))),
        ("linear model", baseline(1)),
        ("seasonal naive", trust.and_then(|trust| trust.seasonal_naive_score)),
    ];
    known.into_iter().filter_map(|(name, score)| Some((name, score?))).collect()
}
