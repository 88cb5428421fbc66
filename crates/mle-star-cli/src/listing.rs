//! The runs of a directory in short, and which of them are the best.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use mle_star_domain::metric::Score;
use mle_star_report::run_view::RunSummary;
use mle_star_report::summary_file;
use mle_star_run::runs::{self, is_hidden};

/// A folder of the runs directory.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The run ID.
    pub id: String,
    /// The run, or why it cannot be read.
    pub run: Result<RunSummary, String>,
}

/// Task, metric, direction and data: runs with equal scales have comparable scores.
pub type Scale<'a> = [&'a str; 4];

/// The runs of a directory, which need not exist, by their IDs.
pub fn entries(runs_dir: &Path) -> Vec<Entry> {
    let folders = fs::read_dir(runs_dir).into_iter().flatten().flatten();
    let folders = folders.filter(|folder| !is_hidden(folder) && runs::is_run(&folder.path()));
    let entry = |folder: fs::DirEntry| Entry {
        id: folder.file_name().to_string_lossy().into_owned(),
        run: summary_file::read(&folder.path()).map_err(|error| error.to_string()),
    };
    let mut entries: Vec<Entry> = folders.map(entry).collect();
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    entries
}

/// What makes the score of a run comparable with others.
pub fn scale(run: &RunSummary) -> Scale<'_> {
    [&run.task, &run.run.metric, run.run.direction.name(), &run.data]
}

/// The runs with the best score among those with which they can be compared, if there are any; of equal ones the oldest. Where
/// a run has an expected score, those with only a validated one do not count: it is optimistic.
pub fn best(entries: &[Entry]) -> BTreeSet<String> {
    let mut scales: HashMap<Scale<'_>, Vec<(Score, &RunSummary, &Entry)>> = HashMap::new();
    for entry in entries {
        let Ok(run) = &entry.run else { continue };
        if let Some(score) = run.score().and_then(|score| Score::new(score, run.run.direction)) {
            scales.entry(scale(run)).or_default().push((score, run, entry));
        }
    }
    let best = scales.into_values().filter_map(|mut runs| {
        let is_expected = runs.iter().any(|(_, run, _)| run.expected.is_some());
        runs.retain(|(_, run, _)| run.expected.is_some() == is_expected);
        runs.sort_by_key(|(_, run, entry)| (&run.created_at, &entry.id));
        let is_alone = runs.len() < 2;
        let best = runs.into_iter().reduce(|best, next| if next.0.beats(best.0) { next } else { best });
        best.filter(|_| !is_alone).map(|(.., entry)| entry.id.clone())
    });
    best.collect()
}

#[cfg(test)]
mod tests;
