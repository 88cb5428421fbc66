//! `show`: one run, or the script at one of its places.

use std::io::IsTerminal as _;

use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::{self, RunView, Summary};
use mle_star_report::sanitize::{first_line, plain};
use mle_star_report::views::{self, Views, code};
use serde_json::json;

use super::runs_dir;
use crate::args::ShowArgs;
use crate::exit::{Exit, Failure};
use crate::{output, runs, usage};
use mle_star_run::nearest;

/// Shows one run.
///
/// # Errors
/// There is no such run or place, or the journal cannot be read completely.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let folder = runs::find(&args.of.run, &runs_dir(args.of.runs_dir.clone()))?;
    let view = run_view::read(&folder).map_err(|error| Failure::journal(&error))?;
    if let Some(place) = &args.code {
        print_code(&find(&view, place)?.script);
    } else if let Some(place) = &args.diff {
        print_diff(&find(&view, place)?);
    } else if args.of.json {
        let runners = views::of_run(&view).runners.map(|runners| runners.rows).unwrap_or_default();
        let figures: Vec<views::Figures> = runners.into_iter().map(|row| row.figures).collect();
        let whole = json!({"run": view.summary, "folder": view.folder, "made_with": view.snapshot.made_with, "usage": view.spending, "runners": figures, "steps": view.steps, "result": view.result});
        output::json(&whole)?;
    } else {
        lines(&view, &views::of_run(&view)).iter().for_each(|line| output::shown(line));
    }
    if let Some(damage) = view.snapshot.damage {
        let hint = "only the readable part is shown; restore the journal from a copy, or start a new run";
        return Err(Failure::failed(Trouble::new(damage, hint)));
    }
    Ok(Exit::Done)
}

/// The script at a place.
///
/// # Errors
/// There is none.
pub fn find(view: &RunView, place: &str) -> Result<code::Code, Trouble> {
    code::at(view, place).map_err(|places| {
        let hint = match nearest(place, places.iter().map(String::as_str)) {
            Some(nearest) => format!("did you mean {nearest}? `mle-star show RUN` lists the places"),
            None => "this run has not run a script yet".to_owned(),
        };
        Trouble::new(format!("no script at {place}"), hint)
    })
}

/// Prints the script unchanged, or sanitized for a terminal.
fn print_code(script: &str) {
    if std::io::stdout().is_terminal() { output::text(&plain(script)) } else { output::text(script) }
}

fn print_diff(code: &code::Code) {
    match &code.parent {
        None => output::talk(&format!("{} has no parent script; --code prints it", code.place)),
        Some((parent, _)) if code.diff().is_empty() => {
            output::talk(&format!("{} is the same as {parent}", code.place));
        }
        Some(_) => print_code(&code.diff()),
    }
}

/// A run in lines.
pub fn lines(view: &RunView, views: &Views) -> Vec<String> {
    let mut lines = head(view, views);
    lines.extend(ledger(views));
    for group in &views.tree.groups {
        lines.extend([String::new(), group.name.clone()]);
        for node in &group.nodes {
            let mark = if node.on_way { "◆" } else { " " };
            let (score, change) =
                (node.score.as_deref().unwrap_or_default(), node.change.as_deref().unwrap_or_default());
            let time = node.time.as_deref().unwrap_or_default();
            let name = format!("{}{}", "  ".repeat(usize::from(node.depth)), node.place);
            let line = format!(
                "{mark} {name:<26} {score:>12} {change:>12} {time:>8}  {}",
                first_line(&node.outcome, 60)
            );
            lines.push(line.trim_end().to_owned());
        }
    }
    if !views.tree.groups.is_empty() {
        lines.extend([
            String::new(),
            "◆ led to the best solution; --code PLACE prints a script, --diff PLACE its changes".to_owned(),
        ]);
    }
    lines
}

fn head(view: &RunView, views: &Views) -> Vec<String> {
    let Summary { run_id, task, metric, direction, .. } = &view.summary;
    // The final solution is not always the one with the best score.
    let best = match &views.overview.score.validated {
        Some(validated) => format!("validated:  {validated}"),
        None => {
            format!("best score: {}", view.summary.best_score.map_or_else(|| "none yet".to_owned(), number))
        }
    };
    let at = views.overview.score.best_at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
    let mut lines = vec![
        format!("run:        {run_id} ({})", view.summary.state.name()),
        format!("folder:     {}", view.folder.display()),
        format!("task:       {task}"),
        format!("metric:     {metric} ({})", direction.name()),
        format!("{best}{at}"),
    ];
    lines.extend(views.overview.score.held_out.iter().map(|score| format!("held out:   {score}")));
    lines.extend([
        format!("time:       {}", duration(view.summary.elapsed_seconds)),
        format!("scripts:    {}, {} failed", views.overview.work.scripts, views.overview.work.failed),
    ]);
    for (index, row) in views.runners.iter().flat_map(|runners| &runners.rows).enumerate() {
        lines.push(format!("{:11} {}", if index == 0 { "runners:" } else { "" }, row.words()));
    }
    lines.push(format!("made with:  {}", views.script.made_with));
    lines.extend(views.overview.work.cost.iter().map(|line| format!("cost:       {line}")));
    lines.extend(view.summary.submission.iter().map(|path| format!("submission: {path}")));
    lines.extend(views.overview.notes.iter().map(|note| format!("note:       {note}")));
    lines.extend(
        views
            .overview
            .now
            .iter()
            .map(|now| format!("now:        {}: {}, {}", now.place, now.what, now.since)),
    );
    let costs = usage::lines(&view.spending);
    if !costs.is_empty() {
        lines.push(String::new());
        lines.extend(costs);
    }
    lines
}

fn ledger(views: &Views) -> Vec<String> {
    let ledger = &views.ledger;
    if ledger.entries.is_empty() {
        return Vec::new();
    }
    let title = format!("accepted changes: {} of {} scored edits", ledger.entries.len(), ledger.tried);
    let entry = |entry: &views::Entry| {
        let mark = if entry.on_way { "◆" } else { " " };
        format!(
            "{mark} {:<26} {:>12} {:>12}  {}",
            entry.place,
            entry.score,
            entry.change,
            first_line(&entry.plan, 60)
        )
    };
    [String::new(), title].into_iter().chain(ledger.entries.iter().map(entry)).collect()
}
