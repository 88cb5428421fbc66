//! `list` and `show`: runs as text or JSON.

use mle_star::stop::Trouble;
use serde_json::json;

use super::run::journal_failure;
use super::runs_dir;
use crate::args::{ListArgs, RunRef};
use crate::exit::{Exit, Failure};
use crate::run_view::{self, RunView, Summary};
use crate::watch::{duration, number};
use crate::{bill, money, runs, say};

/// Lists the runs of a runs directory.
///
/// # Errors
/// None that stop it: a folder that cannot be read is left out, with a word on stderr.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let mut summaries = Vec::new();
    for folder in runs::all(&dir) {
        match run_view::read(&folder) {
            Ok(view) => {
                if let Some(damage) = &view.snapshot.damage {
                    say::talk(&format!("note: {damage}"));
                }
                summaries.push(view.summary);
            }
            Err(error) => say::talk(&format!("note: {}: {error}", folder.display())),
        }
    }
    summaries.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    if args.json {
        say::data(&pretty(&summaries)?);
    } else if summaries.is_empty() {
        say::talk(&format!("no runs in {}", dir.display()));
    } else {
        say::data(&format!(
            "{:<40} {:<11} {:>12}  {:<24} {:>8} {:>8}",
            "RUN", "STATE", "BEST", "METRIC", "TIME", "COST"
        ));
        summaries.iter().for_each(|summary| say::data(&summary_line(summary)));
    }
    Ok(Exit::Done)
}

/// Shows one run.
///
/// # Errors
/// There is no such run, or its journal cannot be read, or not as a whole.
pub fn show(args: &RunRef) -> Result<Exit, Failure> {
    let folder = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    let view = run_view::read(&folder).map_err(|error| journal_failure(&error))?;
    if args.json {
        let whole = json!({"run": view.summary, "folder": view.folder, "usage": view.spending, "steps": view.steps, "result": view.result});
        say::data(&pretty(&whole)?);
    } else {
        lines(&view).iter().for_each(|line| say::data(line));
    }
    if let Some(damage) = view.snapshot.damage {
        let hint = "this is what can be read; restore the journal from a copy, or start a new run";
        return Err(Failure::failed(Trouble::new(damage, hint)));
    }
    Ok(Exit::Done)
}

fn summary_line(summary: &Summary) -> String {
    let best = summary.best_score.map_or_else(|| "-".to_owned(), number);
    let time = duration(summary.elapsed_seconds);
    // Agents that ask no model have no cost to show.
    let is_free = summary.tokens == 0 && summary.cost_usd == Some(0.0);
    let cost = if is_free { "-".to_owned() } else { money::cost(summary.cost_usd) };
    format!(
        "{:<40} {:<11} {best:>12}  {:<24} {time:>8} {cost:>8}",
        summary.run_id,
        summary.state.name(),
        summary.metric
    )
}

fn lines(view: &RunView) -> Vec<String> {
    let Summary { run_id, task, metric, direction, .. } = &view.summary;
    let best = view.summary.best_score.map_or_else(|| "none yet".to_owned(), number);
    let mut lines = vec![
        format!("run:        {run_id} ({})", view.summary.state.name()),
        format!("folder:     {}", view.folder.display()),
        format!("task:       {task}"),
        format!("metric:     {metric} ({direction})"),
        format!("best score: {best}"),
        format!("time:       {}", duration(view.summary.elapsed_seconds)),
    ];
    lines.extend(bill::line(&view.spending).map(|line| format!("cost:       {line}")));
    lines.extend(view.summary.submission.iter().map(|path| format!("submission: {path}")));
    lines.push(String::new());
    lines.extend(bill::lines(&view.spending));
    if lines.last().is_some_and(|line| !line.is_empty()) {
        lines.push(String::new());
    }
    for step in &view.steps {
        let score = step.score.map(number).unwrap_or_default();
        let time = step.seconds.map(duration).unwrap_or_default();
        let outcome: String = step.outcome.lines().next().unwrap_or_default().chars().take(80).collect();
        lines.push(format!("{:<44} {score:>12} {time:>8}  {outcome}", step.place));
    }
    lines
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| {
        Failure::failed(Trouble::new(format!("cannot write JSON: {error}"), "please report this"))
    })
}
