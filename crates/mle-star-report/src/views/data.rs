//! The data: what each column is taken for, its values in the training and the test table, and the target by part of the split.

use std::collections::HashMap;

use mle_star_domain::diagnostics::{Histogram, HistogramPart, TargetErrors};
use mle_star_domain::layout;
use serde::Deserialize;
use serde_json::{Value, json};

use super::diagnostics::found;
use super::{Context, RunReport};
use crate::chart::stairs;

/// The most columns that are drawn outside of a fold.
const MAX_SHOWN: usize = 12;

/// What is read of the facts.
#[derive(Default, Deserialize)]
struct Facts {
    #[serde(default)]
    histograms: Vec<Histogram>,
}

/// The columns, those with a part in the task first, then the most important ones; `None` if nothing is known of them.
pub fn data(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let known = &context.run.snapshot.frozen.task.columns;
    let facts = histograms(context);
    let is_counted = |one: &&Histogram| !one.parts.is_empty();
    let drawn: HashMap<&str, &Histogram> =
        facts.iter().filter(is_counted).map(|one| (one.column.as_str(), one)).collect();
    let strongest = context.result().and_then(|result| result.importance.as_deref()).unwrap_or_default();
    let rank = |name: &str| strongest.iter().position(|one| one.column == name).unwrap_or(usize::MAX);
    let mut columns: Vec<_> = known.iter().collect();
    columns.sort_by_key(|one| if one.role == "feature" { (1, rank(&one.column)) } else { (0, 0) });
    let told = columns.iter().map(|one| {
        let histogram = drawn.get(one.column.as_str());
        let missing =
            histogram.map(|one| one.parts.iter().map(|part| (&part.name, part.missing)).collect::<Vec<_>>());
        json!({"about": one, "missing": missing, "histogram": histogram.map(|one| bars(one))})
    });
    let told: Vec<Value> = told.collect();
    let splits = found(context).map(|found| found.targets).unwrap_or_default();
    let split = |one: &TargetErrors| Some((one.target.clone(), bars(one.split.as_ref()?)));
    let targets: Vec<(String, Value)> = splits.iter().filter_map(split).collect();
    let is_split = |one: &Value| targets.iter().any(|(target, _)| one["about"]["column"] == *target);
    let is_drawn = |one: &&Value| !one["histogram"].is_null() && !is_split(one);
    (!told.is_empty()).then(|| {
        json!({
            "columns": told,
            "drawn": told.iter().filter(is_drawn).collect::<Vec<_>>(),
            "shown": MAX_SHOWN,
            "targets": targets,
        })
    })
}

/// The histograms of the columns; none in folders of earlier versions.
pub fn histograms(context: &Context<'_>) -> Vec<Histogram> {
    context.file::<Facts>(&[layout::FACTS]).unwrap_or_default().histograms
}

/// The bars of each group of rows, from 0 to 1, the highest of all groups being 1.
pub fn bars(of: &Histogram) -> Value {
    let share = |part: &HistogramPart| -> Vec<f64> {
        let all = part.rows.iter().sum::<u64>().max(1);
        part.rows.iter().map(|rows| *rows as f64 / all as f64).collect()
    };
    let shares: Vec<Vec<f64>> = of.parts.iter().map(share).collect();
    let is_rest = |at: usize| of.values.get(at).is_some_and(String::is_empty);
    let named = shares.iter().flat_map(|part| part.iter().enumerate().filter(|(at, _)| !is_rest(*at)));
    let most = named.map(|(_, share)| *share).fold(f64::MIN_POSITIVE, f64::max);
    let heights = |part: &Vec<f64>| part.iter().map(|share| (share / most).min(1.0)).collect::<Vec<f64>>();
    let parts = of.parts.iter().zip(&shares).map(|(part, shares)| {
        let heights = heights(shares);
        json!({"name": part.name, "shares": shares, "outline": stairs(&heights), "heights": heights})
    });
    json!({"values": of.values, "labels": of.labels, "parts": parts.collect::<Vec<_>>()})
}
