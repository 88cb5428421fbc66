//! `list`: the runs of a runs directory.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::RunSummary;
use mle_star_report::sanitize::{one_line, shortened};

use super::runs_dir;
use crate::args::ListArgs;
use crate::exit::{Exit, Failure};
use crate::listing::{Entry, best, entries};
use crate::output;
use crate::table::Table;

/// The most columns of a metric's name.
const MAX_METRIC_CHARS: usize = 12;

/// Lists runs.
///
/// # Errors
/// JSON cannot be written. A folder that cannot be read is skipped with a note.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let entries = entries(&dir);
    let best = best(&entries);
    let mut runs = readable(&dir, entries);
    if args.json {
        output::json(&runs)?;
    } else if runs.is_empty() {
        output::talk(&format!("no runs in {}", dir.display()));
    } else {
        // The runs of a task and metric stand together.
        runs.sort_by_cached_key(|run| (run.task.clone(), run.run.metric.clone()));
        table(&runs, &best).iter().for_each(|line| output::shown(line));
    }
    Ok(Exit::Done)
}

/// The runs that can be read, oldest first; says what is wrong with others.
fn readable(dir: &Path, entries: Vec<Entry>) -> Vec<RunSummary> {
    let mut runs = Vec::new();
    for Entry { id, run } in entries {
        match run {
            Ok(run) => {
                run.damage.iter().for_each(|damage| output::talk(&format!("note: {damage}")));
                runs.push(run);
            }
            Err(why) => output::talk(&format!("note: {}: {why}", dir.join(id).display())),
        }
    }
    runs.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    runs
}

/// The runs in aligned columns. What no run has is left out, and on a narrow terminal what matters least.
fn table(runs: &[RunSummary], best: &BTreeSet<String>) -> Vec<String> {
    let is_best = |run: &RunSummary| best.contains(&run.run.run_id);
    let mark = |run: &RunSummary| if is_best(run) { "*" } else { "" };
    let table = Table::of(runs)
        .text("RUN", 0, |run| Some(one_line(&run.run.run_id)))
        .text("TASK", 3, |run| Some(one_line(&run.task)))
        .text("STATE", 0, |run| Some(run.run.state.name().to_owned()))
        .text("METRIC", 4, |run| Some(shortened(&one_line(&run.run.metric), MAX_METRIC_CHARS)))
        .text("EXPECTED", 0, |run| Some(number(run.expected.as_ref()?.score) + mark(run)))
        .text("VALIDATED", 1, |run| {
            Some(number(run.validated()?) + if run.expected.is_none() { mark(run) } else { "" })
        })
        .text("HELD OUT", 2, |run| run.held_out.map(number))
        .text("STARTED", 5, |run| Some(date(&run.created_at)))
        .text("TIME", 6, |run| Some(duration(run.spent.elapsed_seconds)))
        .text("COST", 7, RunSummary::cost);
    let mut lines = table.lines(output::data_columns());
    if runs.iter().any(is_best) {
        lines.push("* best of its task, metric and data".to_owned());
    }
    lines
}

/// The day of a moment, in this machine's time.
fn date(moment: &str) -> String {
    let read = moment.parse::<Timestamp>().map(|time| time.to_zoned(TimeZone::system()));
    read.map_or_else(|_| moment.to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}
