//! The report: one HTML file that opens without network, from journal and result.
//!
//! [`write()`] makes it. Every text goes through the template's escaping; the chart's numbers are computed in
//! `chart`, the accepted edits and their diffs in `ledger`, the models and what was looked up in `models`.

mod chart;
mod ledger;
mod models;

use std::path::PathBuf;

use minijinja::Environment;
use minijinja::value::Serde;
use mle_star::result::FinalResult;
use mle_star::stop::Trouble;
use serde::Serialize;
use serde_json::json;

use crate::bill;
use crate::run_folder::{unwritable, write_whole};
use crate::run_view::{RunView, StepRow};
use crate::watch::{duration, number};

const TEMPLATE: &str = include_str!("../templates/report.html");

/// A row of the table of steps.
#[derive(Serialize)]
struct Row {
    place: String,
    kind: &'static str,
    outcome: String,
    ok: bool,
    score: String,
    time: String,
}

/// Writes `report.html` into the run's folder; gives its path.
///
/// # Errors
/// The folder cannot be written.
pub fn write(view: &RunView, result: Option<&FinalResult>) -> Result<PathBuf, Trouble> {
    let path = view.folder.join("report.html");
    let html = render(view, result).map_err(|error| {
        Trouble::new(
            format!("the report cannot be made: {error:#}"),
            "this is a defect of mle-star; please report it",
        )
    })?;
    write_whole(&path, html.as_bytes()).map_err(|error| unwritable(&view.folder, &error))?;
    Ok(path)
}

fn render(view: &RunView, result: Option<&FinalResult>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_template("report.html", TEMPLATE)?;
    let frozen = &view.snapshot.frozen;
    let config = serde_json::to_string_pretty(&frozen.config).unwrap_or_default();
    let values = json!({
        "summary": view.summary,
        "state": view.summary.state.name(),
        "best": view.summary.best_score.map(number),
        "time": duration(view.summary.elapsed_seconds),
        "description": frozen.task.description,
        "bill": bill::line(&view.spending),
        "bills": bill::tables(&view.spending),
        "chart": chart::chart(view),
        "ledger": result.map(ledger::entries).unwrap_or_default(),
        "retrieval": result.map(|result| models::models(&result.phase1)),
        "rows": view.steps.iter().map(row).collect::<Vec<_>>(),
        "script": result.map(|result| result.final_solution.content.clone()),
        "stopped_by": result.and_then(|result| result.stopped_by),
        "leakage_suspected": result.is_some_and(|result| result.leakage_suspected),
        "config": config,
        "task": serde_json::to_string_pretty(&frozen.task).unwrap_or_default(),
        "requirements": std::fs::read_to_string(view.folder.join("final/requirements.txt")).unwrap_or_default(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    environment.get_template("report.html")?.render(Serde(&values))
}

fn row(step: &StepRow) -> Row {
    use mle_star::journal::Kind;
    Row {
        place: step.place.clone(),
        kind: match step.kind {
            Kind::Agent => "agent",
            Kind::Script => "script",
            Kind::Decision => "limit",
        },
        outcome: step.outcome.clone(),
        ok: step.ok,
        score: step.score.map(number).unwrap_or_default(),
        time: step.seconds.map(duration).unwrap_or_default(),
    }
}
