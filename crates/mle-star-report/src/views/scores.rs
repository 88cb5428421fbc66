//! The scored scripts of a run.

use mle_star_domain::metric::Score;
use mle_star_domain::place::Place;

use crate::run_view::RunView;

/// A script that has a score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredScript {
    /// The place of the script's run.
    pub place: Place,
    /// When it ended, in seconds since the start of the run.
    pub ended: f64,
    /// The score.
    pub score: f64,
    /// The best score up to here.
    pub best: f64,
    /// How much better it is than the best before it; `None` for the first.
    pub gain: Option<f64>,
    /// Whether it is better than all before it.
    pub improved: bool,
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
        let gain = best.map(|best| score.gain_over(best));
        let now = best.filter(|_| !improved).unwrap_or(score);
        best = Some(now);
        scored.push(ScoredScript {
            place: Place::from(row.place.as_str()),
            ended: row.ended.unwrap_or_default(),
            score: score.value(),
            best: now.value(),
            gain,
            improved,
        });
    }
    scored
}
