//! The kept model: what it predicts on average for each value of the strongest columns, and the fields of a row to try.

use mle_star_domain::diagnostics::Histogram;
use mle_star_domain::layout;
use serde::Deserialize;
use serde_json::{Value, json};

use super::data::{bars, histograms};
use super::{Context, RunReport};
use crate::chart::{levels, line, share, texts};
use crate::model::words;

/// The most fields of a row to try. The other columns have their typical value.
const MAX_FIELDS: usize = 24;

/// What the data plane found.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Dependence {
    rows: u64,
    /// Whether the columns are the strongest by their importance.
    ordered: bool,
    curves: Vec<Curve>,
    failure: String,
}

#[derive(Deserialize)]
struct Curve {
    column: String,
    values: Vec<String>,
    /// The numbers of the values; `None` for other values.
    at: Option<Vec<f64>>,
    lines: Vec<CurveLine>,
}

#[derive(Deserialize)]
struct CurveLine {
    name: String,
    means: Vec<f64>,
}

/// What is read of the record of the model.
#[derive(Default, Deserialize)]
struct Columns {
    columns: Vec<String>,
    id: Option<String>,
}

/// The model with its curves; `None` without a result that says what predicts other rows.
pub fn model(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let kept = &context.result()?.model;
    let found: Dependence = context.file(&[layout::HOLDOUT, layout::DEPENDENCE]).unwrap_or_default();
    let record: Columns = context.file(&[layout::FINAL, layout::MODEL_RECORD]).unwrap_or_default();
    let known = histograms(context);
    let means = || found.curves.iter().flat_map(|one| &one.lines).flat_map(|one| one.means.iter().copied());
    let heights = levels(means()).unwrap_or_default();
    let curve = |one: &Curve| drawn(one, known.iter().find(|known| known.column == one.column), &heights);
    Some(json!({
        "words": words(kept)?,
        "rows": found.rows,
        "ordered": found.ordered,
        "curves": found.curves.iter().map(curve).collect::<Vec<_>>(),
        "failure": found.failure,
        "run": context.run.summary.run.run_id,
        "id": record.id,
        "fields": fields(record, &found.curves, &known),
    }))
}

/// A curve with the training rows below it, as its template reads it.
fn drawn(one: &Curve, known: Option<&Histogram>, heights: &[f64]) -> Value {
    let at = one.at.as_deref().unwrap_or_default();
    let known = known.filter(|known| known.ends.is_empty() == one.at.is_none());
    let ends = known.map_or(at, |known| &known.ends);
    let (ends, labels) = match known {
        Some(known) if !at.is_empty() => (ends, known.labels.clone()),
        _ => (at, [one.values.first(), one.values.last()].into_iter().flatten().cloned().collect()),
    };
    let lines = one.lines.iter().map(|drawn| {
        let points = at.iter().zip(&drawn.means).map(|(x, y)| Some((share(*x, ends), share(*y, heights))));
        let bars: Vec<f64> = drawn.means.iter().map(|mean| share(*mean, heights)).collect();
        json!({"name": drawn.name, "line": line(points), "bars": bars, "means": drawn.means})
    });
    json!({
        "column": one.column,
        "values": one.values,
        "is_line": !at.is_empty(),
        "levels": texts(heights),
        "labels": labels,
        "lines": lines.collect::<Vec<_>>(),
        "rows": known.map(bars).filter(|_| !at.is_empty()),
    })
}

/// The columns of a row to try but for its ID, with their typical values, the strongest first, and frequent values to choose from.
fn fields(of: Columns, curves: &[Curve], known: &[Histogram]) -> Vec<Value> {
    let Columns { mut columns, id } = of;
    columns.retain(|name| id.as_ref() != Some(name));
    columns.sort_by_key(|name| curves.iter().position(|one| one.column == *name).unwrap_or(usize::MAX));
    let field = |(at, name): (usize, &String)| {
        let own = known.iter().find(|known| known.column == *name);
        let typical = own.and_then(|own| own.typical.clone()).unwrap_or_default();
        let choices: Vec<&String> =
            own.iter().flat_map(|own| &own.values).filter(|one| !one.is_empty()).collect();
        json!({"column": name, "value": typical, "choices": choices, "is_shown": at < MAX_FIELDS})
    };
    columns.iter().enumerate().map(field).collect()
}
