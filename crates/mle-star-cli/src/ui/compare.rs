//! Some runs side by side: scores on one axis, the best score over time in one picture, the settings that differ.

use std::collections::BTreeSet;
use std::iter::successors;
use std::sync::Arc;

use axum::extract::{Query, State as Of};
use mle_star_domain::trouble::Trouble;
use mle_star_report::chart::{Scale, time_step};
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView};
use serde_json::{Value, json};

use super::delete::selected_runs;
use super::response::{ErrorResponse, Page, PageResponse, in_background};
use super::site::Site;
use crate::listing::scale;

/// More lines are not told apart. Each has a colour and a dash in the style sheet, and a marker in the template.
const MAX_RUNS: usize = 6;

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
    let interval = |run: &RunView| run.summary.expected.as_ref()?.interval;
    let scores: Vec<_> = runs.iter().map(|run| Some((run.summary.score()?, interval(run)))).collect();
    let ends =
        || scores.iter().flatten().flat_map(|(score, ends)| ends.iter().flatten().copied().chain([*score]));
    let axis = Scale::of(ends(), ends());
    let mark =
        |one: &Option<(f64, _)>| one.zip(axis.as_ref()).map(|((score, ends), axis)| axis.mark(score, ends));
    Ok(json!({
        "metric": metric.0, "direction": metric.1, "refused": refused, "reports": reports,
        "ticks": axis.as_ref().map(|axis| &axis.ticks), "marks": scores.iter().map(mark).collect::<Vec<_>>(),
        "other_data": runs.iter().any(|run| scale(&run.summary) != scale(&runs[0].summary)),
        "curves": curves(&reports), "settings": differing(&runs, settings), "origins": differing(&runs, origins),
    }))
}

/// The best score over time of each run; `None` if no run has a score.
fn curves(reports: &[RunReport]) -> Option<Value> {
    let better = |report: &RunReport| {
        let better = report.solutions.iter().filter(|one| one.improved);
        better.filter_map(|one| Some((one.ended, one.score?))).collect::<Vec<_>>()
    };
    let all: Vec<_> = reports.iter().map(better).collect();
    // A constant comes first, and would hide how the others differ.
    let shown = || all.iter().flat_map(|line| line.iter().skip(line.len() / 2)).map(|(_, best)| *best);
    let axis = Scale::of(shown(), shown())?;
    let took = |report: &RunReport| report.summary.spent.elapsed_seconds;
    let last = reports.iter().map(took).fold(1.0, f64::max);
    let (step, at) = (time_step(last, 6.0), |seconds: f64| (10_000.0 * seconds / last).round() / 100.0);
    let times = successors(Some(0.0), |time| Some(time + step)).take_while(|time| *time <= last);
    let point = |(ended, best): &(f64, f64)| json!({"x": at(*ended), "mark": axis.mark(*best, None), "best": best, "ended": ended});
    let line = |(report, line): (&RunReport, &Vec<_>)| {
        let points: Vec<Value> = line.iter().map(point).collect();
        json!({"points": points, "end": at(took(report))})
    };
    Some(json!({
        "lines": reports.iter().zip(&all).map(line).collect::<Vec<_>>(), "ticks": axis.ticks,
        "times": times.map(|time| (at(time), time)).collect::<Vec<_>>(),
    }))
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
