//! `list`: the runs of a runs directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::Summary;
use mle_star_report::sanitize::one_line;

use super::runs_dir;
use crate::args::ListArgs;
use crate::exit::{Exit, Failure};
use crate::listing::{Entry, Listing, Look, Read, best};
use crate::output;

/// Lists runs.
///
/// # Errors
/// JSON cannot be written. A folder that cannot be read is skipped with a note.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let entries = entries(&dir);
    let best = best(&entries);
    let (mut runs, notes) = told(&dir, entries);
    let all = runs.len();
    runs.retain(|run| takes(args, run));
    notes.iter().for_each(|note| output::talk(note));
    if args.json {
        output::json(&runs)?;
    } else if all == 0 {
        output::talk(&format!("no runs in {}", dir.display()));
    } else if runs.is_empty() {
        output::talk(&format!("none of the {all} runs in {} matches", dir.display()));
    } else {
        by_task(&mut runs);
        table(&runs, &best).iter().for_each(|line| output::shown(line));
    }
    Ok(Exit::Done)
}

/// The runs of a directory, oldest first, and notes about those that cannot be read.
pub fn summaries(dir: &Path) -> (Vec<Summary>, Vec<String>) {
    told(dir, entries(dir))
}

fn entries(dir: &Path) -> Vec<Entry> {
    let listing = Listing::of(dir);
    listing.look(Look::Whole);
    let mut entries = listing.entries();
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    entries
}

fn told(dir: &Path, entries: Vec<Entry>) -> (Vec<Summary>, Vec<String>) {
    let (mut summaries, mut notes) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry.read {
            Read::Run(row) => {
                notes.extend(row.damage.map(|damage| format!("note: {damage}")));
                summaries.push(row.summary);
            }
            Read::Unreadable(why) => notes.push(format!("note: {}: {why}", dir.join(entry.id).display())),
            Read::NotYet => {}
        }
    }
    summaries.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    (summaries, notes)
}

fn takes(args: &ListArgs, run: &Summary) -> bool {
    let has = |wanted: &Option<String>, of: &str| {
        wanted.as_ref().is_none_or(|wanted| of.to_lowercase().contains(&wanted.to_lowercase()))
    };
    has(&args.task, &run.task)
        && has(&args.metric, &run.run.metric)
        && args.state.is_none_or(|state| state == run.run.state)
}

/// The runs of a task stand together; the task of the newest run is last.
fn by_task(runs: &mut [Summary]) {
    let newest: BTreeMap<String, String> =
        runs.iter().map(|run| (run.task.clone(), run.created_at.clone())).collect();
    runs.sort_by(|a, b| {
        let key = |run: &Summary| (newest.get(&run.task).cloned(), run.task.clone());
        key(a).cmp(&key(b))
    });
}

/// The runs in lines under a heading. With several tasks, each has a line of its own.
fn table(runs: &[Summary], best: &BTreeSet<String>) -> Vec<String> {
    let heading =
        format!("{:<40} {:<11} {:>12}  {:<24} {:>8} {:>8}", "RUN", "STATE", "BEST", "METRIC", "TIME", "COST");
    let mut lines = vec![heading];
    let has_several = runs.iter().any(|run| run.task != runs[0].task);
    let mut task = None;
    for run in runs {
        if has_several && task != Some(&run.task) {
            lines.extend([String::new(), one_line(&run.task)]);
            task = Some(&run.task);
        }
        let mark = if best.contains(&run.run.run_id) { "  best of its task" } else { "" };
        lines.push(format!("{}{mark}", line(run)));
    }
    lines
}

/// A run in a line.
pub fn line(summary: &Summary) -> String {
    let best = summary.best_score.map_or_else(|| "-".to_owned(), number);
    let time = duration(summary.spent.elapsed_seconds);
    let cost = summary.cost().unwrap_or_else(|| "-".to_owned());
    format!(
        "{:<40} {:<11} {best:>12}  {:<24} {time:>8} {cost:>8}",
        one_line(&summary.run.run_id),
        summary.run.state.name(),
        one_line(&summary.run.metric)
    )
}
