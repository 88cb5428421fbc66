//! Scores over the steps of a run, as points of a drawing.

use mle_star::metric::Score;
use serde::Serialize;

use crate::run_view::{RunView, StepRow};
use crate::watch::number;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 240.0;
const MARGIN: f64 = 12.0;

/// What the template draws. Coordinates are pixels of a 760 by 240 picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    points: Vec<Point>,
    /// The best score so far as the points of a polyline.
    best: String,
    /// The largest and the smallest score.
    top: String,
    bottom: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Point {
    x: String,
    y: String,
    title: String,
    improved: bool,
}

/// The chart; `None` before the second score, when there is nothing to compare.
pub fn chart(view: &RunView) -> Option<Chart> {
    let direction = view.snapshot.frozen.task.metric_direction;
    let scored = view.steps.iter().filter(|step| step.counts);
    let scores: Vec<(&StepRow, Score)> =
        scored.filter_map(|step| Some((step, Score::new(step.score?, direction)?))).collect();
    drawn(&scores)
}

fn drawn(scores: &[(&StepRow, Score)]) -> Option<Chart> {
    let values = || scores.iter().map(|(_, score)| score.value());
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    if scores.len() < 2 {
        return None;
    }
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f64| MARGIN + (HEIGHT - 2.0 * MARGIN) * (high - value) / span;
    let step = (WIDTH - 2.0 * MARGIN) / f64::from(u32::try_from(scores.len() - 1).unwrap_or(u32::MAX));
    let (mut best, mut line, mut points, mut x) = (None::<Score>, Vec::new(), Vec::new(), MARGIN);
    for (row, score) in scores {
        let improved = best.is_none_or(|best| score.beats(best));
        let top = if improved { *score } else { best.unwrap_or(*score) };
        // A step: level to here, then up or down.
        line.extend(best.map(|before| format!("{x:.1},{:.1}", y(before.value()))));
        line.push(format!("{x:.1},{:.1}", y(top.value())));
        let title = format!("{}: {}", row.place, number(score.value()));
        points.push(Point { x: format!("{x:.1}"), y: format!("{:.1}", y(score.value())), title, improved });
        best = Some(top);
        x += step;
    }
    Some(Chart { points, best: line.join(" "), top: number(high), bottom: number(low) })
}

#[cfg(test)]
mod tests {
    use mle_star::journal::Kind;
    use mle_star::metric::Direction;

    use super::*;

    fn improved(values: &[f64], direction: Direction) -> Option<Vec<bool>> {
        let row = StepRow {
            place: "phase1/candidate-0/run".to_owned(),
            kind: Kind::Script,
            outcome: String::new(),
            ok: true,
            score: None,
            counts: true,
            seconds: None,
            ended: None,
        };
        let scores: Vec<_> =
            values.iter().map(|value| (&row, Score::new(*value, direction).unwrap())).collect();
        drawn(&scores).map(|chart| chart.points.iter().map(|point| point.improved).collect())
    }

    #[test]
    fn improvements_know_the_direction() {
        assert_eq!(improved(&[0.5, 0.7, 0.6], Direction::Maximize), Some(vec![true, true, false]));
        assert_eq!(improved(&[0.5, 0.7, 0.4], Direction::Minimize), Some(vec![true, false, true]));
        assert_eq!(improved(&[0.5, 0.5], Direction::Maximize), Some(vec![true, false]));
        assert_eq!(improved(&[0.5], Direction::Maximize), None);
    }
}
