//! What the templates of a page read, beside the report of the run: functions of the run's journal and result.
//!
//! [`part`] makes it for each part of the page, at any stage of the run: plain values of the domain's types, and charts.
//! Filters format them. The parts start from `steps`, the records grouped by step of the algorithm, and `descent`, which
//! solution was made from which. Nothing here reads the clock: the same run gives the same bytes.

mod ablation;
pub mod code;
mod context;
mod costs;
mod descent;
mod diagnostics;
mod diff;
mod failures;
mod family;
pub(crate) mod importance;
mod leakage;
mod ledger;
mod models;
pub mod now;
mod outcome;
mod overview;
mod plans;
mod runners;
mod scores;
mod script;
mod solutions;
mod spots;
pub(crate) mod steps;
#[cfg(test)]
mod tests;
mod trust;

use serde_json::Value;

pub use context::Context;
pub use ledger::{Edit, edits};
pub use runners::{Figures, figures};

/// What the template of a part reads, scores in the metric's unit and times in seconds; `None` if the run has no such part.
pub fn part(context: &Context<'_>, name: &str) -> Option<Value> {
    match name {
        "overview" => Some(overview::overview(context)),
        "now" => now::now(context.run, context.at_work),
        "trust" => trust::trust(context),
        "importance" => importance::importance(context),
        "diagnostics" => diagnostics::diagnostics(context),
        "scores" => Some(scores::scores(context)),
        "tree" => Some(solutions::tree(context)),
        "ledger" => Some(ledger::ledger(context)),
        "ablation" => Some(ablation::ablation(context)),
        "leakage" => Some(leakage::leakage(context)),
        "models" => Some(models::models(context)),
        "failures" => Some(failures::failures(context)),
        "runners" => runners::runners(context),
        "costs" => Some(costs::costs(context)),
        "script" => Some(script::script(context)),
        _ => None,
    }
}
