//! Views of a run, during and after it: functions of its journal and result.
//!
//! [`of_run`] makes the [`Views`] of a run at any stage: small structs of figures and shortened texts, one file per view.
//! They start from `steps`, the records grouped by step of the algorithm, and `descent`, which solution was made from
//! which. Nothing here reads the clock: the same run gives the same bytes.

mod ablation;
pub mod code;
mod context;
mod costs;
mod descent;
mod diagnostics;
mod diff;
mod failures;
mod family;
pub mod importance;
mod leakage;
mod ledger;
mod models;
mod notes;
pub mod now;
mod outcome;
mod overview;
mod plans;
mod runners;
mod scores;
mod script;
mod solutions;
mod spots;
mod steps;
#[cfg(test)]
mod tests;
mod trust;

use serde::Serialize;

use crate::at_work::AtWork;
use crate::run_view::RunView;
use context::Context;

pub use diff::diff;
pub use ledger::Entry;
pub use runners::Figures;

/// All views of a run. Scores are in the metric's unit, times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// The overview.
    pub overview: overview::Overview,
    /// What runs now; `None` unless the run is running.
    pub now: Option<now::NowView>,
    /// How far the score can be trusted; `None` without a result that says so.
    pub trust: Option<trust::TrustView>,
    /// How much the score depends on each column; `None` without a result that says so.
    pub importance: Option<importance::ImportanceView>,
    /// Where predictions are right and where they are wrong; `None` without predictions of a finished run.
    pub diagnostics: Option<diagnostics::DiagnosticsView>,
    /// Scores over the run.
    pub scores: scores::Scores,
    /// Every solution with its parents.
    pub tree: solutions::Tree,
    /// The accepted edits.
    pub ledger: ledger::Ledger,
    /// The ablation studies.
    pub ablation: ablation::Ablation,
    /// The leaks that were found.
    pub leakage: leakage::Leakage,
    /// The models that were tried.
    pub models: models::Models,
    /// Failed scripts and agents.
    pub failures: failures::Failures,
    /// The runners; `None` if the run used none.
    pub runners: Option<runners::Runners>,
    /// Cost and time.
    pub costs: costs::Costs,
    /// The final script, and the inputs of the run.
    pub script: script::Script,
}

/// The views of a run.
pub fn of_run(run: &RunView) -> Views {
    of_present(run, &AtWork::of(run))
}

/// The views of a run whose events have been read.
pub fn of_present(run: &RunView, at_work: &AtWork) -> Views {
    let context = Context::of(run, at_work);
    let tree = solutions::tree(&context);
    Views {
        overview: overview::overview(&context),
        now: now::Present::of(run).map(|present| present.view(&run.folder, at_work)),
        trust: trust::trust(&context),
        importance: importance::importance(&context),
        diagnostics: diagnostics::diagnostics(&context),
        scores: scores::scores(&context),
        ledger: ledger::ledger(&context),
        ablation: ablation::ablation(&context),
        leakage: leakage::leakage(&context),
        models: models::models(&context),
        failures: failures::failures(&context),
        runners: runners::runners(&context),
        costs: costs::costs(&context),
        script: script::script(&context),
        tree,
    }
}
