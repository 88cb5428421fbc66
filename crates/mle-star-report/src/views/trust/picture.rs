//! All scores of a run with their intervals, against the scores on held-out rows.

use mle_star_domain::place::Place;
use mle_star_domain::trust::Trust;
use serde_json::{Value, json};

use crate::chart::{self, About, Band, ScoreRow, ScoredScript, Spot};
use crate::figures::with_interval;
use crate::views::context::Context;
use crate::views::scores::scored;
use crate::views::spots::spot_at;

/// Draws the scores of a run; `None` if there are none.
pub fn picture(context: &Context<'_>, trust: &Trust) -> Option<Value> {
    let (places, scores): (Vec<Place>, Vec<ScoreRow>) = measured(context, trust).into_iter().unzip();
    let band = trust.holdout_score.zip(trust.holdout_interval);
    let band = band.map(|(score, interval)| Band { score, interval });
    let description = description(context, trust, &scores);
    let metric = &context.run.summary.run.metric;
    let title = "Scores with their 95 % intervals";
    let about = About { id: "scores-with-intervals", title, description: &description };
    let spots: Vec<Spot> = places.iter().map(|place| spot_at(context, place)).collect();
    let svg = chart::intervals(&about, metric, &scores, band, &spots)?;
    let rows = places.iter().zip(&scores).map(|(place, one)| json!({"place": place, "of": one}));
    Some(json!({
        "svg": svg,
        "outside": chart::outside(&scores, band),
        "has_intervals": scores.iter().any(|one| one.interval.is_some()),
        "has_held_out": scores.iter().any(|one| one.held_out.is_some()),
        "has_band": band.is_some(),
        "rows": rows.collect::<Vec<_>>(),
    }))
}

/// The scored scripts with what is known about them.
fn measured(context: &Context<'_>, trust: &Trust) -> Vec<(Place, ScoreRow)> {
    let interval = |place: &Place| {
        let runs = &context.steps.at(place.step()?)?.runs;
        runs.iter().find(|run| run.place == place)?.outcome.as_ref()?.measured.as_ref()?.interval
    };
    let held_out = |place: &Place| trust.choice.candidates.iter().find(|one| one.place == *place)?.holdout;
    let chosen = chosen_place(context, trust);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let one = |(index, one): (usize, ScoredScript)| {
        let is_chosen = chosen.as_ref() == Some(&one.place);
        let of_chosen = trust.validation_interval.filter(|_| is_chosen);
        let measured = ScoreRow {
            x: (index + 1) as f64,
            score: one.score,
            interval: interval(&one.place).or(of_chosen),
            held_out: held_out(&one.place),
            is_chosen,
        };
        (one.place, measured)
    };
    scored(context.run).into_iter().enumerate().map(one).collect()
}

/// The run that gave the chosen solution its score.
fn chosen_place(context: &Context<'_>, trust: &Trust) -> Option<Place> {
    let of_choice = trust.choice.candidates.first().map(|one| one.place.clone());
    let best = || Some(context.steps.at(context.descent.best?)?.scored()?.place.clone());
    of_choice.or_else(best)
}

fn description(context: &Context<'_>, trust: &Trust, scores: &[ScoreRow]) -> String {
    let metric = &context.run.summary.run.metric;
    let with = scores.iter().filter(|one| one.interval.is_some()).count();
    let told = |of: &str, score: Option<f64>, bounds: Option<[f64; 2]>| {
        let words =
            |score| format!(" {of} {}.", with_interval(score, bounds).replace(" [", ", 95 % interval ["));
        score.map(words).unwrap_or_default()
    };
    let validated = context.report.score.validation_score;
    format!(
        "{} scores of {metric}, {with} with an interval.{}{}",
        scores.len(),
        told("The chosen solution's validation score is", validated, trust.validation_interval),
        told("Its score on held-out rows is", trust.holdout_score, trust.holdout_interval),
    )
}
