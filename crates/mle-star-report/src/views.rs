//! The parts of a page, one file each: what the template of a part reads beside the report of the run.
//!
//! A part is a function of the run's records and of its report, at any stage of the run. It makes plain values of the domain's types,
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
mod helped;
pub(crate) mod importance;
mod leaderboard;
mod leakage;
mod model;
mod models;
pub mod now;
mod outcome;
mod overview;
pub mod picture;
mod plans;
mod runners;
pub(crate) mod script;
mod solutions;
pub(crate) mod steps;
#[cfg(test)]
mod tests;
mod tree;
mod trust;

use serde_json::Value;

use crate::at_work::AtWork;
use crate::run_report::RunReport;
use crate::run_view::RunView;

pub use context::Context;
pub use helped::Helped;
pub use runners::{RunnerRow, runner_rows};
pub use solutions::{Fate, Solution, solutions};

/// A part of a page.
pub struct Part {
    /// The name, which is that of the part's file and of the section's ID.
    pub name: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The path of the template among the templates.
    pub path: &'static str,
    /// The template of what stands below the heading.
    pub template: &'static str,
    /// How it stands in the page.
    pub shape: Shape,
    /// What the template reads, scores in the metric's unit and times in seconds; `None` if the run has no such part.
    pub values: fn(&Context<'_>, &RunReport) -> Option<Value>,
}

impl Part {
    /// Its name and title, if it is among the links to parts: those in sight, after the first.
    pub fn link(&self) -> Option<[&'static str; 2]> {
        let is_linked = self.shape == Shape::Open && self.name != PARTS[0].name;
        is_linked.then_some([self.name, self.title])
    }
}

/// How a part stands in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In sight.
    Open,
    /// Below its heading, once that is opened.
    Fold,
}

/// The parts with these shapes, names and titles.
macro_rules! parts {
    ($($shape:ident $name:ident $title:literal)*) => {
        [$(Part {
            name: stringify!($name),
            title: $title,
            path: concat!("parts/", stringify!($name), ".html"),
            template: include_str!(concat!("../templates/parts/", stringify!($name), ".html")),
            shape: Shape::$shape,
            values: $name::$name,
        }),*]
    };
}

/// The parts in the order of the page.
pub static PARTS: &[Part] = &parts! {
    Open overview "Overview"
    Open now "Now"
    Open picture "The search"
    Open leaderboard "Leaderboard"
    Open helped "What helped"
    Open importance "What matters"
    Open diagnostics "Where it is wrong"
    Open data "The data"
    Open model "The model"
    Fold trust "How far to trust this score"
    Fold tree "Solutions with plan and code"
    Fold ablation "Ablation studies"
    Fold leakage "Leakage"
    Fold models "Models"
    Fold failures "Failures"
    Fold runners "Runners"
    Fold costs "Cost and time"
    Fold script "Script and inputs"
};

/// The part with this name.
pub fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

/// What the template of the part with this name reads; `None` if the run has no such part.
pub fn values(view: &RunView, name: &str) -> Option<Value> {
    let at_work = AtWork::of(view);
    let run = Context::of(view, &at_work);
    (part(name)?.values)(&run, &RunReport::with(&run))
}
