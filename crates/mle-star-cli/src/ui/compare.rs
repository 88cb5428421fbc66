//! Some runs side by side: scores on one axis, the best score over time in one picture, the settings that differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State as Of};
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::{brief, number, with_interval};
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView};
use mle_star_report::sanitize::shortened;
use mle_star_report::views::scored;
use serde_json::{Value, json};

use super::delete::selected_runs;
use super::response::{ErrorResponse, Page, PageResponse, in_background};
use super::site::Site;
use crate::listing::scale;

/// More lines are not told apart. Each has a colour, a dash and a marker in the style sheet and the template.
const MAX_RUNS: usize = 6;
/// The height of the picture in pixels. Its width is that of the page.
const HEIGHT: f64 = 280.0;
/// Markers of a line are so far apart, as a part of the width.
const MARKER_GAP: f64 = 0.015;
/// Round times, in seconds.
const TIMES: [f64; 16] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0, 18e3, 36e3, 864e2, 432e3];
/// The longest value of a setting, in columns.
const MAX_VALUE: usize = 60;

/// Compares the runs in the address, each given as `run=ID`.
///
/// # Errors
/// None is given, there are too many, or none can be read.
pub async fn page(Of(site): Of<Arc<Site>>, Query(pairs): Query<Vec<(String, String)>>) -> PageResponse {
    let ids = selected_runs(pairs);
    let values = in_background(move || compared(&site, &ids)).await?;
    Page::rendered("ui/compare.html", &values)
}

/// What the page shows.
fn compared(site: &Site, ids: &[String]) -> Result<Value, ErrorResponse> {
    let hint = "choose runs in the list, by the boxes before their names";
    if ids.is_empty() || ids.len() > MAX_RUNS {
        let message = match ids.len() {
            0 => "no run was chosen".to_owned(),
            many => format!("{many} runs were chosen, and {MAX_RUNS} can be told apart in one picture"),
        };
        return Err(Trouble::new(message, hint).into());
    }
    let (mut runs, mut refused): (Vec<RunView>, Vec<String>) = (Vec::new(), Vec::new());
    for id in ids {
        match run_view::read(&site.find(id)?) {
            Ok(run) => runs.push(run),
            Err(error) => refused.push(format!("{id} cannot be read: {error}.")),
        }
    }
    let like = |one: &&RunView| runs.iter().filter(|other| measured(other) == measured(one)).count();
    // Of several metrics, that of most runs; of equally many, the first.
    let Some(metric) = runs.iter().rev().max_by_key(like).map(measured) else {
        return Err(Trouble::new(refused.join(" "), hint).into());
    };
    let (runs, others): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| measured(run) == metric);
    refused.extend(others.iter().map(|run| {
        let (id, other) = (&run.summary.run.run_id, measured(run).0);
        format!("{id} is measured by {other}, not by {}: it is left out.", metric.0)
    }));
    let first = &runs[0];
    let other_data = runs.iter().any(|run| scale(&run.summary) != scale(&first.summary));
    Ok(json!({
        "runs": runs.iter().map(|run| &run.summary).collect::<Vec<_>>(), "refused": refused, "other_data": other_data,
        "metric": first.summary.run.metric, "direction": first.summary.run.direction, "height": HEIGHT,
        "scores": scores(&runs), "curves": curves(&runs), "settings": differing(&runs, settings),
        "digests": differing(&runs, digests),
    }))
}

/// Runs share an axis if this is the same.
fn measured(run: &RunView) -> (String, &'static str) {
    (run.summary.run.metric.clone(), run.summary.run.direction.name())
}

/// A row for each run, with its score and interval on one axis.
fn scores(runs: &[RunView]) -> Value {
    let reports: Vec<RunReport> = runs.iter().map(RunReport::of).collect();
    let score = |report: &RunReport| match &report.score.expected {
        Some(expected) => Some((expected.score, expected.interval)),
        None => report.score.validation_score.map(|score| (score, None)),
    };
    let known = || reports.iter().filter_map(score);
    let axis = Axis::of(
        known().flat_map(|(score, interval)| [score].into_iter().chain(interval.into_iter().flatten())),
    );
    let row = |report: &RunReport| {
        let at = |value: f64| axis.as_ref().map(|axis| 100.0 * axis.share(value));
        json!({
            "words": score(report).map(|(score, interval)| with_interval(score, interval)),
            "at": score(report).map(|(score, _)| at(score)),
            "interval": score(report).and_then(|(_, interval)| interval).map(|ends| ends.map(at)),
            "is_expected": report.score.expected.is_some(),
            "constant": report.score.expected.as_ref().and_then(|expected| expected.constant),
            "cost": report.cost(),
        })
    };
    json!({"rows": reports.iter().map(row).collect::<Vec<_>>(), "ticks": axis.map(|axis| axis.ticks())})
}

/// The best score over time of each run; `None` if no run has a score.
fn curves(runs: &[RunView]) -> Option<Value> {
    let steps = |run: &RunView| -> Vec<[f64; 2]> {
        let better = scored(run).into_iter().filter(|one| one.improved);
        let mut steps: Vec<_> = better.map(|one| [one.ended, one.best]).collect();
        // The line goes on to the end of the run.
        steps.extend(steps.last().map(|[at, best]| [run.summary.spent.elapsed_seconds.max(*at), *best]));
        steps
    };
    let all: Vec<Vec<[f64; 2]>> = runs.iter().map(steps).collect();
    let last = all.iter().flatten().map(|[at, _]| *at).fold(1.0, f64::max);
    // A constant comes first, and would hide how the others differ.
    let shown = all.iter().flat_map(|steps| {
        let values = steps.iter().rev().skip(1).map(|[_, best]| *best);
        values.take(steps.len() / 2).collect::<Vec<_>>()
    });
    let axis = Axis::of(shown)?;
    let (x, y) = (|at: f64| at / last, |score: f64| HEIGHT * (1.0 - axis.share(score)));
    let line = |steps: &Vec<[f64; 2]>| {
        let (mut points, mut marks, mut free): (Vec<String>, Vec<Value>, f64) = (Vec::new(), Vec::new(), 0.0);
        for pair in steps.windows(2) {
            let [[from, best], [to, _]] = [pair[0], pair[1]];
            points.extend([from, to].map(|at| format!("{:.1},{:.1}", 1000.0 * x(at), y(best))));
            if x(from) >= free {
                marks.push(json!({"x": 100.0 * x(from), "y": y(best), "is_outside": !(0.0..=HEIGHT).contains(&y(best)),
                    "says": format!("{} after {}", number(best), brief(from))}));
                free = x(from) + MARKER_GAP;
            }
        }
        json!({"points": points.join(" "), "marks": marks})
    };
    let step = TIMES.into_iter().find(|step| last / step <= 6.0).unwrap_or(last);
    let times = std::iter::successors(Some(0.0), |at| Some(at + step)).take_while(|at| *at <= last);
    let times: Vec<Value> = times.map(|at| json!({"at": 100.0 * x(at), "label": brief(at)})).collect();
    let lines: Vec<Value> = all.iter().map(line).collect();
    Some(json!({"lines": lines, "times": times, "ticks": axis.ticks()}))
}

/// The range of values on an axis, with a margin.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis for these values; `None` without any.
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) =
            values.filter(|value| value.abs() < 1e300).fold(None, |ends: Option<(f64, f64)>, value| {
                Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
            })?;
        let size = low.abs().max(high.abs());
        let margin = if high - low > 1e-9 * size { 0.06 * (high - low) } else { (0.01 * size).max(1e-6) };
        Some(Self { low: low - margin, high: high + margin })
    }

    /// Where a value lies, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Round values, with their labels.
    fn ticks(&self) -> Vec<Value> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|part| part * power).into_iter().find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(rough);
        let decimals = (0..9).find(|decimals| (step * 10_f64.powi(*decimals)).fract().abs() < 1e-6);
        let label = |value: f64| match decimals.and_then(|decimals| usize::try_from(decimals).ok()) {
            Some(decimals) if value.abs() < 1e6 => format!("{value:.decimals$}"),
            _ => number(value),
        };
        let first = (self.low / step).ceil() * step;
        let values = std::iter::successors(Some(first), |value| Some(value + step));
        let values = values.take(7).take_while(|value| *value <= self.high);
        values.map(|value| json!({"at": 100.0 * self.share(value), "label": label(value)})).collect()
    }
}

/// Names and values of which one run has others.
fn differing(runs: &[RunView], of: fn(&RunView) -> BTreeMap<String, String>) -> Value {
    let all: Vec<BTreeMap<String, String>> = runs.iter().map(of).collect();
    let names = all.iter().flat_map(BTreeMap::keys).collect::<std::collections::BTreeSet<_>>();
    let rows = names.into_iter().map(|name| (name, all.iter().map(|one| one.get(name)).collect::<Vec<_>>()));
    let rows = rows.filter(|(_, values)| values.iter().any(|value| value != &values[0]));
    rows.map(|(name, values)| json!({"name": name, "values": values})).collect()
}

/// What a user may have said: of the task, and in the configuration.
fn settings(run: &RunView) -> BTreeMap<String, String> {
    let frozen = &run.snapshot.frozen;
    let mut settings = BTreeMap::new();
    for whole in [json!(frozen.config), json!(frozen.task)] {
        flatten("", &whole, &mut settings);
    }
    // They follow from the data and the task.
    settings.retain(|name, _| !["columns", "search_blocked_domains"].contains(&name.as_str()));
    settings
}

/// The values of a table by their names, those of tables in it with a dot between.
fn flatten(within: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = if within.is_empty() { name.clone() } else { format!("{within}.{name}") };
                flatten(&name, field, into);
            }
        }
        Value::Null => {}
        Value::String(text) => drop(into.insert(within.to_owned(), shortened(text, MAX_VALUE))),
        other => drop(into.insert(within.to_owned(), shortened(&other.to_string(), MAX_VALUE))),
    }
}

/// The version that made a run, and digests of what it was made of and of what it made.
fn digests(run: &RunView) -> BTreeMap<String, String> {
    let frozen = &run.snapshot.frozen;
    let digest = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
    let solution = run.result.as_ref().map(|result| digest(&result.final_solution.content));
    let prompts = digest(&json!(frozen.prompts).to_string());
    let made_with = run.snapshot.made_with.last().map(ToString::to_string);
    let known = [
        ("made_with", made_with),
        ("data", Some(frozen.data_id.clone())),
        ("prompts", Some(prompts)),
        ("solution", solution),
    ];
    known.into_iter().filter_map(|(name, digest)| Some((name.to_owned(), digest?))).collect()
}
