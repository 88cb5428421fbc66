//! `summary.json`: a run in short, so that lists of runs read no journal.
//!
//! The process that works on a run writes it, and nobody else. It is believed while no file that it depends on is newer, and
//! while no process works on the run; else the journal is read.

use std::path::Path;

use mle_star::journal::JournalError;
use mle_star_domain::layout;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::run_view::{self, RunView, State, Submissions, Summary};
use crate::score_report::{Figure, ScoreReport};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// A run in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// State, scores, time and cost.
    #[serde(flatten)]
    pub summary: Summary,
    /// The digest of its data.
    pub data: String,
    /// The score on held-out rows with its 95 % interval, for people.
    pub held_out: Option<Figure>,
    /// Why only a part of its journal could be read.
    pub damage: Option<String>,
}

impl RunSummary {
    /// That of a run.
    pub fn of(view: RunView) -> Self {
        Self {
            data: view.snapshot.frozen.data_id,
            held_out: view.result.as_ref().and_then(|result| ScoreReport::of(result).held_out()),
            damage: view.snapshot.damage,
            summary: view.summary,
        }
    }

    /// Reads that of a run folder.
    ///
    /// # Errors
    /// The journal is missing, damaged or of another format.
    pub fn read(folder: &Path) -> Result<Self, JournalError> {
        match kept(folder) {
            Some(summary) => Ok(summary),
            None => run_view::read(folder).map(Self::of),
        }
    }
}

/// What the file says, if it is up to date.
fn kept(folder: &Path) -> Option<RunSummary> {
    if run_view::is_held(folder) {
        return None;
    }
    let text = files::read(folder, layout::SUMMARY, LARGEST).ok()?;
    let mut kept: RunSummary = serde_json::from_str(&text).ok()?;
    let changed = |name: &str| files::stamp(folder, name).map(|(_, seconds, nanos, _)| (seconds, nanos));
    let log = format!("{}-wal", layout::JOURNAL);
    // The journal of a finished run is closed after its result is written.
    let sources: &[&str] = match kept.summary.run.state {
        State::Finished => &[layout::RESULT, layout::CONFIG],
        State::Running | State::Unfinished => &[layout::JOURNAL, &log, layout::RESULT, layout::CONFIG],
    };
    let written = changed(layout::SUMMARY);
    // The last report is written before the result, which makes the run a finished one.
    let lacks_result = kept.summary.run.state == State::Finished && changed(layout::RESULT).is_none();
    if lacks_result || sources.iter().any(|name| changed(name) > written) {
        return None;
    }
    // The folder may have been moved or renamed since.
    let run = &mut kept.summary;
    run.run.run_id = run_view::name(folder)?;
    if run.run.state == State::Running {
        run.run.state = State::Unfinished;
    }
    let whole = || Some(run_view::submission(folder).display().to_string());
    let answer = std::mem::take(&mut run.answer);
    run.answer = Submissions {
        submission: answer.submission.and_then(|_| whole()),
        so_far: answer.so_far.and_then(|_| run_view::so_far(folder)),
    };
    Some(kept)
}
