//! What people look at after and during a run: views over its journal and result.
//!
//! [`of_run`] makes [`Views`] of a run, however far it is: small structs of figures and cut texts, one file per view.
//! `page` renders each as a `<section>` of HTML, which the report and the web page share; `chart` draws. The views
//! start from `steps`, the records by step of the algorithm, and `descent`, what was made from what.
//! The same run gives the same bytes: nothing here asks the clock.

mod ablation;
mod at_work;
mod chart;
pub mod code;
mod costs;
mod descent;
mod diff;
mod failures;
mod family;
mod leakage;
mod ledger;
mod models;
mod overview;
mod page;
mod scores;
mod script;
mod solutions;
mod steps;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;

use crate::runs::run_view::RunView;
use at_work::AtWork;
use descent::Descent;
use steps::Steps;

pub use chart::{About, Course, Point, courses};
pub use diff::diff;
pub use ledger::Entry;
pub use page::{PARTS, SCRIPT, STYLE, environment, part};
pub use scores::course;

/// Everything that is shown of a run. Scores are in the metric's unit, times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// What the run is and how far.
    pub overview: overview::Overview,
    /// Scores over the run.
    pub scores: scores::Scores,
    /// Every solution, and what it was made from.
    pub tree: solutions::Tree,
    /// The accepted edits.
    pub ledger: ledger::Ledger,
    /// The ablation studies.
    pub ablation: ablation::Ablation,
    /// Leaks that were found.
    pub leakage: leakage::Leakage,
    /// The models that were tried.
    pub models: models::Models,
    /// What went wrong.
    pub failures: failures::Failures,
    /// Money and time.
    pub costs: costs::Costs,
    /// The final script and the run's inputs.
    pub script: script::Script,
}

/// A run as its views start from it.
pub(crate) struct Told<'a> {
    run: &'a RunView,
    steps: Steps<'a>,
    descent: Descent,
    at_work: AtWork,
}

/// The whole final script of a run; the best one so far in a run that has no result.
pub fn last_script(run: &RunView) -> Option<String> {
    script::last(&Told::of(run))
}

/// The views of a run.
pub fn of_run(run: &RunView) -> Views {
    let told = Told::of(run);
    let tree = solutions::tree(&told);
    Views {
        overview: overview::overview(&told),
        scores: scores::scores(&told),
        ledger: ledger::ledger(&told),
        ablation: ablation::ablation(&told),
        leakage: leakage::leakage(&told),
        models: models::models(&told),
        failures: failures::failures(&told),
        costs: costs::costs(&told),
        script: script::script(&told),
        tree,
    }
}

impl<'a> Told<'a> {
    fn of(run: &'a RunView) -> Self {
        let steps = Steps::of(&run.snapshot);
        let descent = Descent::of(&steps);
        Self { run, steps, descent, at_work: AtWork::of(run) }
    }

    /// The run's result, when it has one.
    fn result(&self) -> Option<&mle_star::result::FinalResult> {
        self.run.result.as_ref()
    }
}
