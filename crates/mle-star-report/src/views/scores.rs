//! Scores by script and by time.

use mle_star_domain::metric::Score;
use mle_star_domain::place::Place;
use serde_json::{Value, json};

use super::context::Context;
use super::spots::spot_at;
use crate::chart::{self, About, Axis, ScoredScript, Spot, range_with_best};
use crate::figures::number;
use crate::run_view::RunView;

/// Two charts, empty before the second score, and all scores in the order in which the scripts ended.
pub fn scores(context: &Context<'_>) -> Option<Value> {
    let scored = scored(context.run);
    let improvements = scored.iter().skip(1).filter(|one| one.improved).count();
    let outside = range_with_best(&scored)
        .map_or(0, |(low, high)| scored.iter().filter(|one| !(low..=high).contains(&one.score)).count());
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
    let draw = |id, title: &str, axis| {
        let about = About { id, title, description: &description };
        (scored.len() > 1).then(|| chart::scores(&about, &scored, axis, &spots)).flatten()
    };
    Some(json!({
        "by_script": draw("scores-by-script", "Score of every scored script", Axis::Scripts),
        "by_time": draw("scores-by-time", "Scores over time", Axis::Time),
        "rows": scored,
        "outside": outside,
        "improvements": improvements,
    }))
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
