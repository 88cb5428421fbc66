//! The split of the rows into training, validation, held out and test, in one picture with the score of each period.

use mle_star_domain::protocol::{Holdout, NewSeries, Period, Periods, Protocol, Split};
use mle_star_domain::trust::{PeriodScore, Trust};
use serde::Serialize;
use serde_json::{Value, json};

use crate::chart::{dots, levels, share, texts};
use crate::cut::line_of;
use crate::figures::{grouped, number};
use crate::sanitize::shortened;
use crate::views::context::Context;

/// No part is wider than this share of the unshortened whole.
const MAX_SHARE: f64 = 0.3;
/// The room of a time at the axis, in per cent of the width of a picture, and of one on a phone.
const TICKS: [f64; 2] = [12.0, 20.0];

/// A part of the rows, from left to right.
#[derive(Default, Serialize)]
struct Part<'a> {
    /// What the search does with its rows, which its class tells.
    kind: &'static str,
    /// The name, of a word or two.
    name: String,
    /// The first time.
    begin: String,
    /// The width, in any unit. Wide ones are shortened.
    width: f64,
    /// The score of its rows.
    score: Option<f64>,
    /// Its period with the number of its rows.
    table: Option<(&'a Period, u64)>,
}

/// The split of a run as a picture, with its periods, the earliest first; `None` if nothing is known about it.
pub fn picture(context: &Context<'_>, trust: &Trust) -> Option<Value> {
    let protocol = context.run.snapshot.frozen.protocol.as_ref()?;
    let parts = match &protocol.periods {
        Some(periods) => period_parts(periods, &trust.periods),
        None => row_parts(protocol)?,
    };
    let interval = trust.holdout_interval.or(trust.validation_interval);
    let shown = interval.filter(|_| protocol.periods.is_some());
    let clusters = match trust.holdout_interval {
        Some(_) => trust.holdout_clusters,
        None => trust.validation_clusters,
    };
    let periods = protocol.periods.as_ref();
    let split = protocol.split.as_ref().or(trust.split.as_ref());
    Some(json!({
        "drawn": drawn(&parts, shown)?,
        "periods": periods,
        "new_series": periods.and_then(|periods| periods.new_series.as_ref()).map(NewSeries::words),
        "is_test": matches!(protocol.holdout, Holdout::Test { .. }),
        "series": split.filter(|split| split.has_own_ends()).map(Split::series_words),
        "within": split.is_some_and(|split| split.within),
        "kind": split.map(|split| split.kind),
        "column": split.and_then(|split| split.column.as_ref()),
        "has_interval": interval.is_some(),
        "has_clusters": clusters.is_some(),
    }))
}

/// The parts with their places from 0 to 1, their scores as dots, and the interval for the rows to predict.
fn drawn(parts: &[Part<'_>], interval: Option<[f64; 2]>) -> Option<Value> {
    let all: f64 = parts.iter().map(|part| part.width).sum();
    let width = |part: &Part<'_>| part.width.min(MAX_SHARE * all).max(0.0);
    let sum = Some(parts.iter().map(width).sum()).filter(|sum: &f64| *sum > 0.0 && sum.is_finite())?;
    let (mut keys, mut ticks, mut points) = (Vec::<(&str, &str, &str)>::new(), Vec::new(), Vec::new());
    let known = || parts.iter().filter_map(|part| part.score);
    let levels = known().next().and_then(|_| levels(known().chain(interval.into_iter().flatten())));
    let levels = levels.unwrap_or_default();
    let (mut at, mut free, mut spans) = (0.0, [0.0; 2], Vec::new());
    for part in parts {
        let (from, width) = (at, width(part) / sum);
        at += width;
        // Parts of a kind have one key, which names the first and the last.
        match keys.iter_mut().find(|(kind, ..)| *kind == part.kind) {
            Some((.., last)) => *last = &part.name,
            None => keys.push((part.kind, &part.name, &part.name)),
        }
        let has_room = [0, 1].map(|at| (100.0 * from).min(100.0 - TICKS[at]) >= free[at]);
        if has_room[0] && !part.begin.is_empty() {
            let label = shortened(&part.begin, 10);
            ticks.push(json!({"at": 100.0 * from, "label": label, "is_minor": !has_room[1]}));
            [0, 1].iter().filter(|at| has_room[**at]).for_each(|at| free[*at] = 100.0 * from + TICKS[*at]);
        }
        points.extend(part.score.map(|score| (from + width / 2.0, share(score, &levels))));
        let band = interval.filter(|_| part.kind == "test" && !levels.is_empty());
        let band =
            band.map(|[low, high]| [1.0 - share(high, &levels), share(high, &levels) - share(low, &levels)]);
        spans.push(json!({"of": part, "x": from, "width": width, "words": described(part), "band": band}));
    }
    Some(
        json!({"spans": spans, "keys": keys, "ticks": ticks, "levels": texts(&levels), "dots": dots(points)}),
    )
}

/// The parts of a split by time.
fn period_parts<'a>(periods: &'a Periods, scores: &[PeriodScore]) -> Vec<Part<'a>> {
    let held_out = periods.held_out.iter().map(|period| ("held-out", "held out".to_owned(), period));
    let folds = (0..).zip(&periods.folds);
    let folds = folds.map(|(fold, period)| ("validated", format!("fold {fold}"), period));
    let test = [("test", "test".to_owned(), &periods.test)];
    let all: Vec<_> = folds.chain(held_out).chain(test).collect();
    let (mut parts, mut scores) = (Vec::new(), scores.iter().peekable());
    let ([mut end, _], mut begin) = (periods.train.at, periods.train.from.clone());
    let nexts = all.iter().skip(1).map(|(_, _, next)| Some(next.at[0])).chain([None]);
    for ((kind, name, period), next) in all.iter().zip(nexts) {
        let [from, to] = period.at;
        let before = |kind, name: &str| Part {
            kind,
            name: name.to_owned(),
            begin: begin.clone(),
            width: from - end,
            ..Part::default()
        };
        if parts.is_empty() {
            parts.push(before("training", "earlier"));
        } else if periods.gap_size > 0.0 && *kind != "validated" {
            parts.push(before("gap", "gap"));
        }
        // Without a gap, a period goes on until the next one begins.
        let until = next.filter(|_| periods.gap_size <= 0.0).unwrap_or(to);
        let of_same_length = || parts.last().map_or(1.0, |part: &Part<'_>| part.width);
        let width = if until > from { until - from } else { of_same_length() };
        let score = scores.next_if(|one| (&one.from, &one.to) == (&period.from, &period.to));
        let table = Some((*period, score.map_or(period.rows, |score| score.rows)));
        let (kind, name, score) = (*kind, name.clone(), score.map(|score| score.score));
        parts.push(Part { kind, name, begin: period.from.clone(), width, score, table });
        (end, begin) = (to, String::new());
    }
    parts
}

/// The parts of any other split.
fn row_parts(protocol: &Protocol) -> Option<Vec<Part<'static>>> {
    let (held, of, is_test) = match &protocol.holdout {
        Holdout::On { rows, of, .. } => (*rows, *of, false),
        Holdout::Test { rows, of, .. } => (*rows, *of, true),
        Holdout::Off { .. } => (0, protocol.rows, false),
    };
    let remaining = of.checked_sub(held).filter(|rows| *rows > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "a width in a picture")]
    let part = |kind, name: &str, rows: u64| Part {
        kind,
        name: format!("{name} {}", grouped(rows)),
        width: rows as f64,
        ..Part::default()
    };
    let mut parts = vec![part("validated", "training and validation", remaining)];
    if held > 0 && !is_test {
        parts.push(part("held-out", "held out", held));
    }
    let test = Part { name: "test".to_owned(), ..part("test", "test", (of / 5).max(1)) };
    parts.push(if is_test { part("test", "test", held) } else { test });
    Some(parts)
}

fn described(part: &Part<'_>) -> String {
    let score = part.score.map(|score| format!(", score {}", number(score)));
    let from = if part.begin.is_empty() { String::new() } else { format!(" from {}", line_of(&part.begin)) };
    format!("{}{from}{}", part.name, score.unwrap_or_default())
}
