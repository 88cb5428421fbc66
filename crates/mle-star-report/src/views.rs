//! The parts of a page, one file each: what the template of a part reads beside the report of the run.
//!
//! A part is a function of the run's journal and result, at any stage of the run. It makes plain values of the domain's types,
//! and charts; filters format them. The parts start from `steps`, the records grouped by step of the algorithm, and `descent`,
//! which solution was made from which. Nothing here reads the clock: the same run gives the same bytes.

mod ablation;
pub mod code;
mod context;
mod costs;
pub mod data;
mod descent;
mod diagnostics;
mod diff;
mod failures;
mod family;
pub(crate) mod importance;
mod leakage;
mod ledger;
mod model;
mod models;
pub mod now;
mod outcome;
mod overview;
mod plans;
mod runners;
pub(crate) mod scores;
mod script;
mod spots;
pub(crate) mod steps;
#[cfg(test)]
mod tests;
mod tree;
mod trust;

use serde_json::Value;

pub use context::Context;
pub use runners::{RunnerRow, runner_rows};

/// A part of a page.
pub struct Part {
    /// The name, which is that of the part's file and of the section's ID.
    pub name: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The path of the template among the templates.
    pub path: &'static str,
    /// The template.
    pub template: &'static str,
    /// What the template reads, scores in the metric's unit and times in seconds; `None` if the run has no such part.
    pub values: fn(&Context<'_>) -> Option<Value>,
}

/// The parts with these names and titles.
macro_rules! parts {
    ($($name:ident $title:literal)*) => {
        [$(Part {
            name: stringify!($name),
            title: $title,
            path: concat!("parts/", stringify!($name), ".html"),
            template: include_str!(concat!("../templates/parts/", stringify!($name), ".html")),
            values: $name::$name,
        }),*]
    };
}

/// The parts in the order of the page.
pub static PARTS: [Part; 17] = parts! {
    overview "Overview"
    now "Now"
    trust "How far to trust this score"
    importance "What matters"
    diagnostics "Diagnostics"
    data "The data"
    model "The model"
    scores "Scores"
    tree "Solutions"
    ledger "Accepted changes"
    ablation "Ablation studies"
    leakage "Leakage"
    models "Models"
    failures "Failures"
    runners "Runners"
    costs "Cost and time"
    script "Script and inputs"
};

/// The part with this name.
pub fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}
