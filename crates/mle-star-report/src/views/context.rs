//! A run as the parts of its page read it.

use mle_star::result::FinalResult;
use serde::de::DeserializeOwned;

use super::descent::Descent;
use super::steps::{Step, Steps};
use crate::at_work::AtWork;
use crate::files;
use crate::run_view::RunView;
use crate::words::Models;

/// The largest JSON file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A run with its records grouped by step, the descent of its solutions and its work in progress.
pub struct Context<'a> {
    /// The run.
    pub run: &'a RunView,
    /// The models that its steps tried.
    pub tried: Models,
    /// The run's records by step.
    pub steps: Steps<'a>,
    /// Which solution was made from which.
    pub descent: Descent,
    /// The run's work in progress, and its runners.
    pub at_work: &'a AtWork,
}

impl<'a> Context<'a> {
    /// Groups the records of a run, whose present this is.
    pub fn of(run: &'a RunView, at_work: &'a AtWork) -> Self {
        let verdicts = run.snapshot.verdicts();
        let mut descent = Descent::of(&verdicts, run.snapshot.frozen.task.metric_direction);
        // What is delivered is not always the best solution.
        descent.best = run.result.as_ref().and_then(FinalResult::final_step).or(descent.best);
        let steps = Steps::of(&run.snapshot, &verdicts);
        Self { run, tried: Models::of(&verdicts), steps, descent, at_work }
    }

    /// Whether the score of a step counts: one with a leak does not.
    pub fn counts(&self, step: &Step<'_>) -> bool {
        let scored = step.scored().map(|run| run.place.as_str());
        self.run.steps.iter().any(|row| row.counts && scored == Some(row.place.as_str()))
    }

    /// The content of a JSON file of the run; `None` if it cannot be read.
    pub fn file<T: DeserializeOwned>(&self, path: &[&str]) -> Option<T> {
        let text = files::read(&self.run.folder, &path.join("/"), MAX_FILE_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The run's result, if any.
    pub fn result(&self) -> Option<&FinalResult> {
        self.run.result.as_ref()
    }
}
