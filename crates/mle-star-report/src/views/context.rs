//! A run as the parts of its page read it.

use mle_star::result::FinalResult;

use super::descent::Descent;
use super::steps::Steps;
use crate::at_work::AtWork;
use crate::run_report::RunReport;
use crate::run_view::RunView;

/// A run with its records grouped by step, the descent of its solutions and its work in progress.
pub struct Context<'a> {
    /// The run.
    pub run: &'a RunView,
    /// The run's report.
    pub report: RunReport,
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
        Self { run, report: RunReport::of(run), steps, descent, at_work }
    }

    /// The run's result, if any.
    pub fn result(&self) -> Option<&FinalResult> {
        self.run.result.as_ref()
    }
}
