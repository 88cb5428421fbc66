//! `list`: the runs of a runs directory.

use std::path::Path;

use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::{self, Summary};
use mle_star_report::sanitize::one_line;
use mle_star_run::runs;

use super::runs_dir;
use crate::args::ListArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Lists the runs of a runs directory.
///
/// # Errors
/// JSON cannot be written. A folder that cannot be read is skipped with a note.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let dir = runs_dir(args.runs_dir.clone());
    let (summaries, notes) = summaries(&dir);
    notes.iter().for_each(|note| output::talk(note));
    if args.json {
        output::json(&summaries)?;
    } else if summaries.is_empty() {
        output::talk(&format!("no runs in {}", dir.display()));
    } else {
        output::data(&format!(
            "{:<40} {:<11} {:>12}  {:<24} {:>8} {:>8}",
            "RUN", "STATE", "BEST", "METRIC", "TIME", "COST"
        ));
        summaries.iter().for_each(|summary| output::shown(&line(summary)));
    }
    Ok(Exit::Done)
}

/// The runs of a directory, oldest first, and notes about those that cannot be read.
pub fn summaries(dir: &Path) -> (Vec<Summary>, Vec<String>) {
    let (mut summaries, mut notes) = (Vec::new(), Vec::new());
    for folder in runs::all(dir) {
        match run_view::read(&folder) {
            Ok(view) => {
                notes.extend(view.snapshot.damage.iter().map(|damage| format!("note: {damage}")));
                summaries.push(view.summary);
            }
            Err(error) => notes.push(format!("note: {}: {error}", folder.display())),
        }
    }
    summaries.sort_by(|a, b| a.created_at.cmp(&b.created_at));
    (summaries, notes)
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
