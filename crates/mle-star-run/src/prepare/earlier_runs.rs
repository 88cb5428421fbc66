//! The runs of `--learn-from`: what they tried, for the prompts of a new run.

use std::path::Path;

use mle_star::journal;
use mle_star::lessons::{EarlierRun, MAX_LINES_OF_EARLIER_RUNS, earlier_runs};
use mle_star::verdict::Verdicts;
use mle_star_domain::config::{Config, Context};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::count;

use crate::runs;

/// The changes that the named runs tried.
///
/// # Errors
/// There is no such run, or its journal cannot be read.
pub fn read(names: &[String], runs_dir: Option<&Path>) -> Result<Vec<EarlierRun>, Trouble> {
    let runs_dir = runs_dir.unwrap_or(Path::new(runs::DEFAULT_DIR));
    let runs = names.iter().map(|name| read_run(name, runs_dir)).collect::<Result<Vec<_>, Trouble>>()?;
    Ok(earlier_runs(&runs))
}

fn read_run(name: &str, runs_dir: &Path) -> Result<(String, Task, Verdicts), Trouble> {
    let folder = runs::find(name, runs_dir)?;
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("--learn-from {name}: {error}");
        Trouble::new(message, "name a run that `mle-star show` can read, or leave it out")
    };
    let snapshot = journal::read(&folder).map_err(|error| unreadable(&error))?;
    let verdicts = snapshot.verdicts();
    Ok((snapshot.frozen.run_id, snapshot.frozen.task, verdicts))
}

/// What a run says about them at its start, one line each.
pub fn opening(runs: &[EarlierRun], config: &Config) -> Vec<String> {
    if !runs.is_empty() && config.context == Context::Paper {
        return vec!["note: --learn-from has no effect with context: paper".to_owned()];
    }
    let one = |(index, run): (usize, &EarlierRun)| match run.changes() {
        // Each run has at least one line, so agents are told of no more runs than lines.
        0 if index >= MAX_LINES_OF_EARLIER_RUNS => {
            format!(
                "note: {} is left out: agents are told of at most {MAX_LINES_OF_EARLIER_RUNS} earlier runs",
                run.run_id
            )
        }
        0 => format!("note: {} has tried nothing that could be learned from", run.run_id),
        changes => format!("learning from {}: {} tried", run.run_id, count(changes as u64, "change")),
    };
    runs.iter().enumerate().map(one).collect()
}
