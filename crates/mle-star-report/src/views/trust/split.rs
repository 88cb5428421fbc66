//! Which rows were training, validation, held out and test, in one picture, with the score of each period.

use mle_star_domain::protocol::{Holdout, Period, Periods, Protocol, Split, SplitKind};
use mle_star_domain::trust::{PeriodScore, Trust};
use serde::Serialize;

use crate::chart::{self, About, Part, PartKind};
use crate::cut::{line_of, sentence};
use crate::figures::{grouped, number};
use crate::views::context::Context;

/// A picture of the split and its data.
#[derive(Clone, Debug, Serialize)]
pub struct SplitPicture {
    /// SVG.
    pub svg: String,
    /// What the picture does not say: lengths, gap, what is shortened.
    pub caption: String,
    /// What the interval is for, in one sentence.
    pub interval: String,
    /// The periods, the earliest first; none for other splits than those by time.
    pub rows: Vec<PeriodRow>,
}

/// A period.
#[derive(Clone, Debug, Serialize)]
pub struct PeriodRow {
    /// What the search does with it.
    pub name: String,
    /// Its first time.
    pub from: String,
    /// Its last time.
    pub to: String,
    /// The number of its rows.
    pub rows: String,
    /// The score of its rows.
    pub score: Option<String>,
}

/// Draws the split of a run; `None` if nothing is known about it.
pub fn picture(context: &Context<'_>, trust: &Trust) -> Option<SplitPicture> {
    let protocol = context.run.snapshot.frozen.protocol.as_ref()?;
    let (parts, rows, caption) = match &protocol.periods {
        Some(periods) => of_periods(periods, protocol.split.as_ref(), &trust.periods),
        None => of_rows(protocol)?,
    };
    let interval = trust.holdout_interval.or(trust.validation_interval);
    let shown = interval.filter(|_| !rows.is_empty());
    let metric = &context.run.summary.run.metric;
    let description: Vec<String> = parts.iter().map(described).collect();
    let description = description.join(" ");
    let about = About { id: "split-of-rows", title: "The split of the rows", description: &description };
    let svg = chart::split(&about, metric, &parts, shown)?;
    let interval = meaning(protocol, trust, interval);
    Some(SplitPicture { svg, caption, interval, rows })
}

/// The parts of a split by time.
fn of_periods(
    periods: &Periods,
    split: Option<&Split>,
    scores: &[PeriodScore],
) -> (Vec<Part>, Vec<PeriodRow>, String) {
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
        rows.push(row(name, period, score));
        let (kind, name, score) = (*kind, name.clone(), score.map(|one| one.score));
        parts.push(Part { kind, name, begin: period.from.clone(), width, score });
        (end, begin) = (to, String::new());
    }
    let gap = match periods.gap.as_str() {
        "" => String::new(),
        gap => format!(", each after a gap of {}", quoted(gap)),
    };
    if let Some(split) = split.filter(|split| split.has_own_ends()) {
        let within = if split.within {
            ", or single rows of it where its test rows lie between its training rows"
        } else {
            ""
        };
        let caption = format!(
            "Series by {} end at times of their own, and the picture begins at the end of each. Each period is a stretch of each series like its rows of the test table, {}{gap}{within}, and is predicted by models of earlier rows of each.",
            quoted(&split.series_words()),
            quoted(&periods.length)
        );
        return (parts, rows, caption);
    }
    let caption = format!(
        "Each period is as long as that of the test table, {}{gap}, and is predicted by models of earlier rows. A long time before the first one is shortened.{}",
        quoted(&periods.length),
        periods.new_series.as_ref().map(|found| format!(" {}.", quoted(&found.words()))).unwrap_or_default()
    );
    (parts, rows, caption)
}

/// The parts of any other split.
fn of_rows(protocol: &Protocol) -> Option<(Vec<Part>, Vec<PeriodRow>, String)> {
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
    let scale = if is_test { "" } else { " The test table is not to scale." };
    Some((parts, Vec::new(), format!("The numbers are rows.{scale}")))
}

/// A text with names in backticks, as a line with names in quotation marks.
fn quoted(text: &str) -> String {
    line_of(&text.replace('`', "\""))
}

fn row(name: &str, period: &Period, score: Option<&PeriodScore>) -> PeriodRow {
    PeriodRow {
        name: name.to_owned(),
        from: line_of(&period.from),
        to: line_of(&period.to),
        rows: grouped(score.map_or(period.rows, |score| score.rows)),
        score: score.map(|score| number(score.score)),
    }
}

fn described(part: &Part) -> String {
    let score = part.score.map(|score| format!(", score {}", number(score)));
    let from = if part.begin.is_empty() { String::new() } else { format!(" from {}", line_of(&part.begin)) };
    format!("{}{from}{}.", part.name, score.unwrap_or_default())
}

/// What the interval is for.
fn meaning(protocol: &Protocol, trust: &Trust, interval: Option<[f64; 2]>) -> String {
    let split = protocol.split.as_ref().or(trust.split.as_ref());
    let column = split.and_then(|split| split.column.as_deref()).map(line_of).unwrap_or_default();
    let clusters = match trust.holdout_interval {
        Some(_) => trust.holdout_clusters,
        None => trust.validation_clusters,
    };
    match (interval, &trust.no_interval) {
        (None, Some(why)) => sentence(&format!("there is no interval: {}", line_of(why))),
        (None, None) => String::new(),
        (Some(_), _) if split.is_some_and(Split::has_own_ends) && trust.periods.is_empty() => {
            "The interval is for later rows of such series, from how far the scores of series are apart.".to_owned()
        }
        (Some(_), _) if protocol.periods.is_some() => {
            "The bar above the test rows is the 95 % interval for the score of one more period, from the spread of these.".to_owned()
        }
        (Some(_), _) if split.is_some_and(|split| split.kind == SplitKind::Groups) => {
            if clusters.is_some() {
                return format!("The interval is for other rows of the same groups of \"{column}\".");
            }
            format!("The interval is for other groups of \"{column}\", as many as the test table has.")
        }
        (Some(_), _) => "The interval is for as many other rows as the test table has.".to_owned(),
    }
}
