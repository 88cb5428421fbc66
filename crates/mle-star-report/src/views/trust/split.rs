//! The split of the rows into training, validation, held out and test, in one picture with the score of each period.

use mle_star_domain::protocol::{Holdout, NewSeries, Periods, Protocol, Split};
use mle_star_domain::trust::{PeriodScore, Trust};
use serde_json::{Value, json};

use crate::chart::{self, About, Part, PartKind};
use crate::cut::line_of;
use crate::figures::{grouped, number};
use crate::views::context::Context;

/// The split of a run as a picture, with its periods, the earliest first; `None` if nothing is known about it.
pub fn picture(context: &Context<'_>, trust: &Trust) -> Option<Value> {
    let protocol = context.run.snapshot.frozen.protocol.as_ref()?;
    let (parts, rows) = match &protocol.periods {
        Some(periods) => period_parts(periods, &trust.periods),
        None => (row_parts(protocol)?, Vec::new()),
    };
    let interval = trust.holdout_interval.or(trust.validation_interval);
    let shown = interval.filter(|_| protocol.periods.is_some());
    let description: Vec<String> = parts.iter().map(described).collect();
    let description = description.join(" ");
    let about = About { id: "split-of-rows", title: "The split of the rows", description: &description };
    let clusters = match trust.holdout_interval {
        Some(_) => trust.holdout_clusters,
        None => trust.validation_clusters,
    };
    let periods = protocol.periods.as_ref();
    let split = protocol.split.as_ref().or(trust.split.as_ref());
    Some(json!({
        "svg": chart::split(&about, &context.run.summary.run.metric, &parts, shown)?,
        "rows": rows,
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

/// The parts of a split by time.
fn period_parts(periods: &Periods, scores: &[PeriodScore]) -> (Vec<Part>, Vec<Value>) {
    let held_out = periods.held_out.iter().map(|period| (PartKind::HeldOut, "held out".to_owned(), period));
    let folds = (0..).zip(&periods.folds);
    let folds = folds.map(|(fold, period)| (PartKind::Validated, format!("fold {fold}"), period));
    let test = [(PartKind::Test, "test".to_owned(), &periods.test)];
    let all: Vec<_> = folds.chain(held_out).chain(test).collect();
    let (mut parts, mut rows, mut scores) = (Vec::new(), Vec::new(), scores.iter().peekable());
    let ([mut end, _], mut begin) = (periods.train.at, periods.train.from.clone());
    let nexts = all.iter().skip(1).map(|(_, _, next)| Some(next.at[0])).chain([None]);
    for ((kind, name, period), next) in all.iter().zip(nexts) {
        let [from, to] = period.at;
        let before = |kind, name: &str| Part {
            kind,
            name: name.to_owned(),
            begin: begin.clone(),
            width: from - end,
            score: None,
        };
        if parts.is_empty() {
            parts.push(before(PartKind::Training, "earlier"));
        } else if periods.gap_size > 0.0 && *kind != PartKind::Validated {
            parts.push(before(PartKind::Gap, "gap"));
        }
        // Without a gap, a period goes on until the next one begins.
        let until = next.filter(|_| periods.gap_size <= 0.0).unwrap_or(to);
        let of_same_length = || parts.last().map_or(1.0, |part: &Part| part.width);
        let width = if until > from { until - from } else { of_same_length() };
        let score = scores.next_if(|one| (&one.from, &one.to) == (&period.from, &period.to));
        let count = score.map_or(period.rows, |score| score.rows);
        let known = score.map(|score| score.score);
        rows.push(json!({"name": name, "period": period, "rows": count, "score": known}));
        let (kind, name, score) = (*kind, name.clone(), score.map(|one| one.score));
        parts.push(Part { kind, name, begin: period.from.clone(), width, score });
        (end, begin) = (to, String::new());
    }
    (parts, rows)
}

/// The parts of any other split.
fn row_parts(protocol: &Protocol) -> Option<Vec<Part>> {
    let (held, of, is_test) = match &protocol.holdout {
        Holdout::On { rows, of, .. } => (*rows, *of, false),
        Holdout::Test { rows, of, .. } => (*rows, *of, true),
        Holdout::Off { .. } => (0, protocol.rows, false),
    };
    let remaining = of.checked_sub(held).filter(|rows| *rows > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "a width in a picture")]
    let part = |kind, name: &str, rows: u64| Part {
        kind,
        name: name.to_owned(),
        begin: grouped(rows),
        width: rows as f64,
        score: None,
    };
    let mut parts = vec![part(PartKind::Validated, "training and validation", remaining)];
    if held > 0 && !is_test {
        parts.push(part(PartKind::HeldOut, "held out", held));
    }
    let test = Part { begin: String::new(), ..part(PartKind::Test, "test", (of / 5).max(1)) };
    parts.push(if is_test { part(PartKind::Test, "test", held) } else { test });
    Some(parts)
}

fn described(part: &Part) -> String {
    let score = part.score.map(|score| format!(", score {}", number(score)));
    let from = if part.begin.is_empty() { String::new() } else { format!(" from {}", line_of(&part.begin)) };
    format!("{}{from}{}.", part.name, score.unwrap_or_default())
}
