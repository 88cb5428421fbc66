//! Scores by script and by time.

use mle_star_domain::metric::Score;
use mle_star_domain::place::Place;
use serde::Serialize;
use serde_json::{Value, json};

use super::context::Context;
use super::spots::spot_at;
use crate::chart::{self, About, Axis, Point, Spot, range_with_best};
use crate::figures::number;
use crate::run_view::RunView;

/// A script that has a score.
#[derive(Serialize)]
pub struct ScoredScript {
    /// Its run.
    pub place: Place,
    /// When it ended, in seconds since the start of the run.
    pub ended: f64,
    /// The score.
    pub score: f64,
    /// The best score up to here.
    pub best: f64,
    /// Whether it is better than all before it.
    pub improved: bool,
}

/// Two charts, empty before the second score, and all scores in the order in which the scripts ended.
pub fn scores(context: &Context<'_>) -> Value {
    let scored = scored(context.run);
    let points = |x: fn(usize, &ScoredScript) -> f64| -> Vec<Point> {
        let point = |(index, one): (usize, &ScoredScript)| Point {
            x: x(index, one),
            score: one.score,
            best: one.best,
            improved: one.improved,
        };
        scored.iter().enumerate().map(point).collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let by_script = points(|index, _| (index + 1) as f64);
    let by_time = points(|_, one| one.ended);
    let improvements = scored.iter().skip(1).filter(|one| one.improved).count();
    let outside = range_with_best(&by_script).map_or(0, |(low, high)| {
        by_script.iter().filter(|point| !(low..=high).contains(&point.score)).count()
    });
    let metric = &context.run.summary.run.metric;
    let description = match (scored.first(), scored.last()) {
        (Some(first), Some(last)) => format!(
            "{} scores of {metric}, from {} at first to {} at best; {improvements} improvements.",
            scored.len(),
            number(first.score),
            number(last.best)
        ),
        _ => String::new(),
    };
    let spots: Vec<Spot> = scored.iter().map(|one| spot_at(context, &one.place)).collect();
    let draw = |id, title: &str, points: &[Point], axis| {
        let about = About { id, title, description: &description };
        (scored.len() > 1).then(|| chart::scores(&about, points, axis, &spots)).flatten()
    };
    json!({
        "by_script": draw("scores-by-script", "Score of every scored script", &by_script, Axis::Scripts),
        "by_time": draw("scores-by-time", "Scores over time", &by_time, Axis::Time),
        "rows": scored,
        "outside": outside,
        "improvements": improvements,
    })
}

/// The scored scripts of a run, in the order in which they ended.
pub fn scored(run: &RunView) -> Vec<ScoredScript> {
    let direction = run.snapshot.frozen.task.metric_direction;
    let mut rows: Vec<_> = run.steps.iter().filter(|step| step.counts).collect();
    rows.sort_by(|one, other| one.ended.unwrap_or_default().total_cmp(&other.ended.unwrap_or_default()));
    let mut best: Option<Score> = None;
    let mut scored = Vec::new();
    for row in rows {
        let Some(score) = row.score.and_then(|value| Score::new(value, direction)) else { continue };
        let improved = best.is_none_or(|best| score.beats(best));
        let now = best.filter(|_| !improved).unwrap_or(score);
        best = Some(now);
        scored.push(ScoredScript {
            place: Place::from(row.place.as_str()),
            ended: row.ended.unwrap_or_default(),
            score: score.value(),
            best: now.value(),
            improved,
        });
    }
    scored
}
