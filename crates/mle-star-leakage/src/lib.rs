//! Leaks of validation or test data, found in Python source.
//!
//! [`check`] follows the data through a script: which rows a table has, what was computed from which rows, what a
//! model was fitted on, and which rows a score was computed on. A score that saw its own answers is a [`Finding`].
//! What the analysis does not know is never a finding.
#![forbid(unsafe_code)]

mod access;
mod assignments;
mod builtins;
mod calls;
mod expressions;
mod facts;
mod finding;
mod frames;
mod info;
mod items;
mod join;
mod learning;
mod library;
mod machine;
mod methods;
mod names;
pub mod notebook;
mod numpy;
mod operators;
mod pandas;
mod report;
mod rows;
mod scores;
mod site;
mod source;
mod splits;
mod state;
mod statements;
mod table;
mod unreadable;
mod value;

use std::collections::BTreeSet;

use machine::Machine;

pub use facts::{Facts, Split, SplitKind};
pub use finding::{Finding, Rule, Severity};
pub use unreadable::Unreadable;

/// The findings in a Python script, in the order of their lines.
///
/// # Errors
///
/// Fails if the source is no Python 3, or too large or too deeply nested to be checked.
pub fn check(source: &str, facts: &Facts) -> Result<Vec<Finding>, Unreadable> {
    let parsed = source::parse(source)?;
    let mut targets: BTreeSet<String> = facts.targets.iter().cloned().collect();
    if targets.is_empty() {
        // What models get as their target is the target, before that place as well.
        let mut first = Machine::new(source, facts, targets);
        first.run(parsed.suite());
        targets = first.found.targets;
    }
    let mut machine = Machine::new(source, facts, targets);
    machine.run(parsed.suite());
    Ok(report::findings(&mut machine))
}
