//! The story of a run in one picture: how its best score grew, and which solution was made from which.

use std::collections::BTreeMap;

use mle_star_domain::metric::Direction;
use mle_star_domain::place::Step;
use serde_json::{Value, json};

use super::{Context, RunReport};
use crate::chart::{Story, WIDTHS};
use crate::figures::{count, number};

/// The style sheet of the picture.
const STYLE: &str =
    concat!(include_str!("../../templates/picture.css"), include_str!("../../templates/picture-alone.css"));
/// The picture in several widths, and its figures; `None` if no step has begun.
pub fn picture(_: &Context<'_>, report: &RunReport) -> Option<Value> {
    let story = story(report);
    let drawn: Vec<String> = WIDTHS.into_iter().filter_map(|width| story.draw(width, None)).collect();
    let has_begun = !story.solutions.is_empty();
    has_begun.then(|| json!({"drawn": drawn, "outside": story.outside()}))
}

/// The picture as a file of its own; `None` if nothing was scored.
pub fn svg(report: &RunReport) -> Option<String> {
    story(report).draw(WIDTHS[0], Some(STYLE))
}

/// The solutions of a run over time.
fn story(report: &RunReport) -> Story<'_> {
    let (solutions, summary) = (&report.solutions, &report.summary);
    let mut lanes = BTreeMap::<_, Vec<usize>>::new();
    for (index, one) in solutions.iter().enumerate() {
        lanes.entry(one.place.step().map(lane)).or_default().push(index);
    }
    let lanes = lanes.into_iter().filter_map(|(lane, own)| Some((lane?.1, own)));
    let now = summary.spent.elapsed_seconds;
    Story {
        description: description(report),
        metric: summary.run.metric.clone(),
        is_up: summary.run.direction == Direction::Maximize,
        end: solutions.last().map_or(now, |one| one.ended.max(now)),
        lanes: lanes.collect(),
        references: references(report),
        solutions,
    }
}

fn description(report: &RunReport) -> String {
    let (solutions, metric) = (&report.solutions, &report.summary.run.metric);
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

/// The place of the lane that the solution of a step is drawn in, from the top, and its name. Paths beyond the eighth share one.
fn lane(step: Step) -> (u32, String) {
    let (at, name) = match step {
        Step::Attempt { path: path @ ..8, .. } => return (1 + path, format!("path {}", 1 + path)),
        Step::Attempt { .. } => (9, "further paths"),
        Step::Extra(_) => (10, "further models"),
        Step::Round(_) | Step::Selection => (11, "ensemble"),
        Step::Choice(_) | Step::Finalization => (12, "answer"),
        _ => (0, "first models"),
    };
    (at, name.to_owned())
}

/// The scores to compare with: of predicting all rows alike, as the result has it, and of the baseline and a seasonal naive forecast on the
/// validated rows.
pub fn references(report: &RunReport) -> Vec<(&'static str, f64)> {
    let made = |step| report.solutions.iter().find(move |one| one.place.step() == Some(step));
    let baseline = |index| made(Step::Baseline(index)).and_then(|one| one.score);
    let score = &report.score;
    let trust = score.trust.as_ref();
    let told = || score.expected.as_ref()?.constant.or_else(|| trust?.constant_score);
    let known = [
        ("constant", told().or_else(|| baseline(0))),
        ("linear model", baseline(1)),
        ("seasonal naive", trust.and_then(|trust| trust.seasonal_naive_score)),
    ];
    known.into_iter().filter_map(|(name, score)| Some((name, score?))).collect()
}
