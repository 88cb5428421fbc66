//! `list`: the runs of a runs directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::RunSummary;
use mle_star_report::sanitize::{one_line, shortened, width};

use super::runs_dir;
use crate::args::ListArgs;
use crate::exit::{Exit, Failure};
use crate::listing::{Entry, best, best_score, entries};
use crate::output;

/// The most columns of a metric's name.
const LONGEST_METRIC: usize = 12;

/// Lists runs.
///
/// # Errors
/// JSON cannot be written. A folder that cannot be read is skipped with a note.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let entries = entries(&dir);
    let best = best(&entries);
    let (mut runs, notes) = readable(&dir, entries);
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
        by_scale(&mut runs);
        table(&runs, &best).iter().for_each(|line| output::shown(line));
    }
    Ok(Exit::Done)
}

fn readable(dir: &Path, entries: Vec<Entry>) -> (Vec<RunSummary>, Vec<String>) {
    let (mut runs, mut notes) = (Vec::new(), Vec::new());
    for Entry { id, run } in entries {
        match run {
            Ok(run) => {
                notes.extend(run.damage.as_ref().map(|damage| format!("note: {damage}")));
                runs.push(run);
            }
            Err(why) => notes.push(format!("note: {}: {why}", dir.join(id).display())),
        }
    }
    runs.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    (runs, notes)
}

fn takes(args: &ListArgs, run: &RunSummary) -> bool {
    let has = |wanted: &Option<String>, of: &str| {
        wanted.as_ref().is_none_or(|wanted| of.to_lowercase().contains(&wanted.to_lowercase()))
    };
    let of = &run.run;
    has(&args.task, &run.task)
        && has(&args.metric, &run.run.metric)
        && args.state.is_none_or(|state| state == of.state)
}

/// The runs of a task and metric stand together; the task of the newest run is last.
fn by_scale(runs: &mut [RunSummary]) {
    let newest: BTreeMap<String, String> =
        runs.iter().map(|run| (run.task.clone(), run.created_at.clone())).collect();
    runs.sort_by_cached_key(|run| {
        let task = &run.task;
        (newest.get(task).cloned(), task.clone(), run.run.metric.clone())
    });
}

/// The runs in aligned columns, those of each task and metric under a heading. What no run has is left out.
fn table(runs: &[RunSummary], best: &BTreeSet<String>) -> Vec<String> {
    let heading = |run: &RunSummary| {
        let metric = shortened(&one_line(&run.run.metric), LONGEST_METRIC);
        [
            one_line(&run.task),
            "STATE".into(),
            metric,
            "HELD OUT".into(),
            "STARTED".into(),
            "TIME".into(),
            "COST".into(),
        ]
    };
    let mut rows: Vec<[String; 7]> = Vec::new();
    for group in runs.chunk_by(|a, b| (&a.task, &a.run.metric) == (&b.task, &b.run.metric)) {
        rows.extend((!rows.is_empty()).then(Default::default));
        rows.push(heading(&group[0]));
        rows.extend(group.iter().map(|run| cells(run, best.contains(&run.run.run_id))));
    }
    let is_told = |column: &usize| match column {
        3 => runs.iter().any(|run| run.held_out.is_some()),
        6 => runs.iter().any(|run| run.cost().is_some()),
        _ => true,
    };
    let columns: Vec<usize> = (0..7).filter(is_told).collect();
    let widths: Vec<usize> =
        columns.iter().map(|column| rows.iter().map(|row| width(&row[*column])).max().unwrap_or(0)).collect();
    let mut lines: Vec<String> = rows.iter().map(|row| aligned(row, &columns, &widths)).collect();
    if runs.iter().any(|run| best.contains(&run.run.run_id)) {
        lines.push("* best of its task, metric and data".to_owned());
    }
    lines
}

fn aligned(row: &[String], columns: &[usize], widths: &[usize]) -> String {
    let cell = |(column, most): (&usize, &usize)| {
        let text = &row[*column];
        format!("{text}{}", " ".repeat(most - width(text)))
    };
    columns.iter().zip(widths).map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// The cells of a run.
fn cells(run: &RunSummary, is_best: bool) -> [String; 7] {
    let RunSummary { run: of, spent, created_at, .. } = run;
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mark = if is_best { "*" } else { "" };
    let date = created_at.parse::<Timestamp>().map(|time| time.to_zoned(TimeZone::system()));
    [
        one_line(&of.run_id),
        of.state.name().to_owned(),
        format!("{}{mark}", or_none(best_score(run))),
        or_none(run.held_out.map(number)),
        date.map_or_else(|_| created_at.clone(), |date| date.strftime("%Y-%m-%d").to_string()),
        duration(spent.elapsed_seconds),
        or_none(run.cost()),
    ]
}
