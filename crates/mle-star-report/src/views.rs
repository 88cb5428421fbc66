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
mod diff;
mod failures;
mod family;
mod leakage;
mod ledger;
mod models;
mod outcome;
mod overview;
mod runners;
mod scores;
mod script;
mod solutions;
mod steps;
#[cfg(test)]
mod tests;
mod trust;

use serde::Serialize;

use crate::run_view::RunView;
use context::Context;

pub use diff::diff;
pub use ledger::Entry;
pub use runners::Figures;
pub use scores::course;

/// All views of a run. Scores are in the metric's unit, times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// The overview.
    pub overview: overview::Overview,
    /// How far the score can be trusted; `None` without a result that says so.
    pub trust: Option<trust::TrustView>,
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

/// The final script of a run, or the best one so far if it has no result.
pub fn last_script(run: &RunView) -> Option<String> {
    script::last(&Context::of(run))
}

/// The views of a run.
pub fn of_run(run: &RunView) -> Views {
    let context = Context::of(run);
    let tree = solutions::tree(&context);
    Views {
        overview: overview::overview(&context),
        trust: trust::trust(&context),
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
