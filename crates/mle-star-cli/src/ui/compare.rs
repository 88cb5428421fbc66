//! Some runs side by side: scores on one axis, the best score over time in one picture, the settings that differ.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, State as Of};
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::number;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView};
use mle_star_report::views::scored;
use serde::Serialize;
use serde_json::{Value, json};

use super::delete::selected_runs;
use super::response::{ErrorResponse, Page, PageResponse, in_background};
use super::site::Site;
use crate::listing::scale;

/// More lines are not told apart. Each has a colour and a dash in the style sheet, and a marker in the template.
const MAX_RUNS: usize = 6;
/// Round times, in seconds.
const TIMES: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0, 18e3, 864e2];

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
    if ids.is_empty() {
        return Err(Trouble::new("no run was chosen", "choose runs by the boxes before their names").into());
    }
    let few = ids.iter().take(MAX_RUNS);
    let runs = few
        .map(|id| Ok(run_view::read(&site.find(id)?)?))
        .collect::<Result<Vec<RunView>, ErrorResponse>>()?;
    let measured = |run: &RunView| (run.summary.run.metric.clone(), run.summary.run.direction.name());
    let alike = |one: &&RunView| runs.iter().filter(|other| measured(other) == measured(one)).count();
    // Of several metrics, that of most runs; of equally many, the first.
    let metric = runs.iter().rev().max_by_key(alike).map(measured).unwrap_or_default();
    let (runs, others): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| measured(run) == metric);
    let others = others.iter().map(|run| {
        let (id, other) = (&run.summary.run.run_id, measured(run).0);
        format!("{id} is measured by {other}, not by {}: it is left out.", metric.0)
    });
    let many =
        ids.iter().skip(MAX_RUNS).map(|id| format!("{id} is left out: {MAX_RUNS} runs can be told apart."));
    let refused: Vec<String> = others.chain(many).collect();
    let reports: Vec<RunReport> = runs.iter().map(RunReport::of).collect();
    let expected = reports.iter().filter_map(|report| report.score.expected.as_ref());
    let ends = expected.flat_map(|one| one.interval.into_iter().flatten().chain([one.score]));
    let axis = Axis::of(ends.chain(reports.iter().filter_map(|report| report.score.validation_score)));
    Ok(json!({
        "metric": metric.0, "direction": metric.1, "refused": refused, "reports": reports, "axis": axis,
        "other_data": runs.iter().any(|run| scale(&run.summary) != scale(&runs[0].summary)),
        "curves": curves(&runs), "settings": differing(&runs, settings), "origins": differing(&runs, origins),
    }))
}

/// The best score over time of each run, as times and scores; `None` if no run has a score.
fn curves(runs: &[RunView]) -> Option<Value> {
    let steps = |run: &RunView| -> Vec<[f64; 2]> {
        let better = scored(run).into_iter().filter(|one| one.improved);
        better.map(|one| [one.ended, one.best]).collect()
    };
    let all: Vec<_> = runs.iter().map(steps).collect();
    // A constant comes first, and would hide how the others differ.
    let shown = all.iter().flat_map(|steps| steps.iter().skip(steps.len() / 2));
    let axis = Axis::of(shown.map(|[_, best]| *best))?;
    let last = runs.iter().map(|run| run.summary.spent.elapsed_seconds).fold(1.0, f64::max);
    let step = TIMES.into_iter().find(|step| last / step <= 6.0).unwrap_or(last);
    let times = std::iter::successors(Some(0.0), |time| Some(time + step)).take_while(|time| *time <= last);
    Some(json!({"lines": all, "axis": axis, "last": last, "times": times.collect::<Vec<_>>()}))
}

/// An axis of values, with a margin.
#[derive(Serialize)]
struct Axis {
    low: f64,
    high: f64,
    /// Round values, with their labels.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis of these values; `None` without any.
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.filter(|value| value.abs() < 1e300).collect();
        let (low, high) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        let size = low.abs().max(high.abs());
        let margin = if high - low > 1e-9 * size { 0.06 * (high - low) } else { (0.01 * size).max(1e-6) };
        let (low, high) = (low - margin, high + margin);
        let power = 10_f64.powf(((high - low) / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
        let step = steps.into_iter().find(|step| (high - low) / step <= 5.01).unwrap_or(steps[3]);
        let decimals = (0..9).find(|decimals| (step * 10_f64.powi(*decimals)).fract().abs() < 1e-6);
        let label = |value: f64| match decimals.and_then(|decimals| usize::try_from(decimals).ok()) {
            Some(decimals) if value.abs() < 1e6 => format!("{value:.decimals$}"),
            _ => number(value),
        };
        let ticks =
            std::iter::successors(Some((low / step).ceil() * step), |value| Some(value + step)).take(7);
        let ticks = ticks.take_while(|value| *value <= high).map(|value| (value, label(value))).collect();
        Some(Self { low, high, ticks })
    }
}

/// The names under which one run has another value than the first, with the values of all.
fn differing(runs: &[RunView], of: fn(&RunView) -> Value) -> Vec<Value> {
    let all: Vec<Value> = runs.iter().map(of).collect();
    let names: BTreeSet<&String> =
        all.iter().filter_map(Value::as_object).flat_map(|one| one.keys()).collect();
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values = |name: &String| all.iter().map(|one| shown(&one[name])).collect::<Vec<_>>();
    let rows = names.into_iter().map(|name| (name, values(name)));
    rows.filter(|(_, values)| values.iter().any(|value| value != &values[0]))
        .map(|(name, values)| json!({"name": name, "values": values}))
        .collect()
}

/// What a user may have said: of the task, and in the configuration.
fn settings(run: &RunView) -> Value {
    let (mut settings, task) = (json!(run.snapshot.frozen.config), json!(run.snapshot.frozen.task));
    if let (Some(settings), Value::Object(task)) = (settings.as_object_mut(), task) {
        settings.extend(task);
        // They follow from the rest.
        settings.retain(|name, _| !["columns", "search_blocked_domains"].contains(&name.as_str()));
    }
    settings
}

/// The program that made a run, and digests of what it read and made.
fn origins(run: &RunView) -> Value {
    let digest = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
    let frozen = &run.snapshot.frozen;
    json!({
        "program": run.snapshot.made_with.last().map(ToString::to_string), "data": frozen.data_id,
        "prompts": digest(&json!(frozen.prompts).to_string()),
        "solution": run.result.as_ref().map(|result| digest(&result.final_solution.content)),
    })
}
