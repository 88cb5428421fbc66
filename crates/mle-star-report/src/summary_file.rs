//! `summary.json` in a run folder: the run in short, so that lists of runs read no journal.
//!
//! The process that works on a run writes it, with each verdict and at the end, as the run is if this process ends then. It is
//! believed while no process works on the run and no file that it depends on is newer; else the journal is read.

use std::path::Path;

use mle_star::journal::JournalError;
use mle_star_domain::layout;

use crate::files;
use crate::run_view::{self, RunSummary, State, Submissions};

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Reads a run in short.
///
/// # Errors
/// The journal has to be read, and is missing, damaged or of another format.
pub fn read(folder: &Path) -> Result<RunSummary, JournalError> {
    match read_kept(folder) {
        Some(summary) => Ok(summary),
        None => run_view::read(folder).map(|view| view.summary),
    }
}

/// The run in short as `summary.json` has it; `None` if the file is not up to date.
fn read_kept(folder: &Path) -> Option<RunSummary> {
    if run_view::is_running(folder) {
        return None;
    }
    let text = files::read(folder, layout::SUMMARY, MAX_FILE_BYTES).ok()?;
    let mut run: RunSummary = serde_json::from_str(&text).ok()?;
    let changed = |name: &str| files::stamp(folder, name).map(|(_, seconds, nanos, _)| (seconds, nanos));
    let log = format!("{}-wal", layout::JOURNAL);
    let sources: &[&str] = match run.run.state {
        // The journal of a finished run is closed after its result is written.
        State::Finished => &[layout::RESULT, layout::CONFIG],
        State::Unfinished => &[layout::JOURNAL, &log, layout::RESULT, layout::CONFIG],
        // Earlier versions wrote so.
        State::Running => return None,
    };
    let written = changed(layout::SUMMARY);
    let lacks_result = run.run.state == State::Finished && changed(layout::RESULT).is_none();
    if lacks_result || sources.iter().any(|name| changed(name) > written) {
        return None;
    }
    // The folder may have been moved or renamed since.
    run.run.run_id = run_view::name(folder)?;
    let submission = || run_view::submission(folder).display().to_string();
    run.answer = Submissions {
        submission: run.answer.submission.map(|_| submission()),
        so_far: run.answer.so_far.and_then(|_| run_view::so_far(folder)),
    };
    Some(run)
}
