//! Leaks of validation or test data, found in Python source.
//!
//! [`check`] follows the data through a script: which rows a table has, what was computed from which rows, what a
//! model was fitted on, and which rows a score was computed on. A score that saw its own answers is a [`Finding`].
//! What the analysis does not know is never a finding.
//!
//! # How it works
//!
//! A machine runs the script on abstract values, statement by statement. Functions and classes of the script are
//! followed at their calls, branches are joined, and loops run each known item, or twice.
//!
//! - **Rows** are sets with an origin: a file, one side of a split, rows repeated, sets joined. Their origins decide
//!   whether one set certainly contains another.
//! - **Lessons** are what values depend on: a model, statistics of the target, a choice by scores. Each says where it
//!   was learnt, and from which rows.
//! - **Networks** learn when the gradient of a loss is taken, from the rows that they were called for. A model that goes
//!   on learning in each fold saw all rows.
//! - **One row** in a loop stands for all, so a list that such a loop fills has these rows, or copies of them.
//! - **Scores** keep the lessons of their predictions. A lesson from rows that are scored is a leak.
//!
//! The scores that count are those in the line that begins with `Final Validation Performance`. If nothing is known of
//! that line, all scores count, except those of training rows.
//!
//! The target is given by [`Facts`]. Otherwise it is what models and metrics get as true values, which a first run of
//! the machine finds out.
//!
//! Work is limited by a number of steps, so every source takes a bounded time.
#![forbid(unsafe_code)]

mod access;
mod assignments;
mod builtins;
mod calls;
mod conditions;
mod copies;
mod cross_validation;
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
mod paths;
mod report;
mod resampling;
mod rows;
mod scores;
mod selection;
mod site;
mod source;
mod splits;
mod state;
mod statements;
mod table;
mod training;
mod unreadable;
mod value;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use machine::Machine;

pub use facts::{Facts, Split};
pub use finding::{Finding, Rule};
pub use unreadable::Unreadable;

/// The findings in a Python script, in the order of their lines.
///
/// # Errors
///
/// Fails if the source is no Python 3, or too large or too deeply nested to be checked. A defect of this crate is an
/// error too, so that it costs its caller nothing else.
pub fn check(source: &str, facts: &Facts) -> Result<Vec<Finding>, Unreadable> {
    catch_unwind(AssertUnwindSafe(|| checked(source, facts))).unwrap_or(Err(Unreadable::Defect))
}

fn checked(source: &str, facts: &Facts) -> Result<Vec<Finding>, Unreadable> {
    let parsed = source::parse(source)?;
    let mut targets: BTreeSet<String> = facts.targets.iter().cloned().collect();
    if targets.is_empty() {
        // What models get as their target is the target, before that place as well.
        let mut first = Machine::new(source, facts, targets);
        first.run(parsed.suite());
        targets = first.seen.targets;
    }
    let mut machine = Machine::new(source, facts, targets);
    machine.run(parsed.suite());
    Ok(report::findings(&mut machine))
}
