//! Leaks of validation or test data, found in Python source.
//!
//! [`check`] follows the data through a script: which rows a table has, what was computed from which rows, what a
//! model was fitted on, and which rows a score was computed on. A score that saw its own answers is a [`Finding`].
//! What the analysis does not know is never a finding.
//!
//! ```
//! use mle_star_leakage::{Facts, check};
//!
//! let script = "\
//! import pandas as pd
//! from sklearn.linear_model import LinearRegression
//! from sklearn.metrics import mean_squared_error
//! from sklearn.model_selection import train_test_split
//! table = pd.read_csv('train.csv')
//! train, valid = train_test_split(table, random_state=0)
//! columns = ['size', 'age']
//! model = LinearRegression().fit(table[columns], table['price'])
//! score = mean_squared_error(valid['price'], model.predict(valid[columns]))
//! print('Final Validation Performance:', score)
//! ";
//! let findings = check(script, &Facts::default())?;
//! assert_eq!((findings.len(), findings[0].line), (1, 8));
//! println!("line {}: {}; {}", findings[0].line, findings[0].text, findings[0].instead);
//!
//! let mended = script.replace("fit(table[columns], table", "fit(train[columns], train");
//! assert!(check(&mended, &Facts::default())?.is_empty());
//! # Ok::<(), mle_star_leakage::Unreadable>(())
//! ```
//!
//! Lines and columns are counted from 1, columns in characters; blocks are ranges of bytes. [`Unreadable`] says why a source
//! cannot be checked: it is no Python 3, too large, or nested too deeply. Nothing is executed.
//!
//! # How it works
//!
//! A machine runs the script on abstract values, statement by statement. Functions and classes of the script are
//! followed at their calls, branches are joined, and loops run each known item, or twice.
//!
//! - **Effects** of calls are a table (`effects`): which methods and functions choose rows, put them in order, compute
//!   something from many rows, fit or divide, and what attributes are. A function that is not in it gives something unknown.
//! - **Rows** are sets with an origin: a file, one side of a split, rows repeated, sets joined. Their origins decide
//!   whether one set certainly contains another.
//! - **Dependencies** are what values depend on: a model, statistics of the target, a choice by scores. Each says where it
//!   was learnt, and from which rows.
//! - **Answers** are values computed from the target of their own row. Columns, lists of names and rows in a loop carry
//!   them. They leak once a model has them among its features (`answers`, `targets`).
//! - **Statistics** of the target are sums and means over groups, codes, keys of a dictionary or rows of a matrix, and
//!   values that are looked up in other rows (`statistics`, `groups`, `polars`).
//! - **Bounds** of columns, positions and shares of rows say where slices and masks overlap (`conditions`, `rows`).
//! - **Choices** are made where scores are compared, sorted, or used as weights (`choices`).
//! - **Networks** learn when the gradient of a loss is taken, from the rows that they were called for. A model that goes
//!   on learning in each fold saw all rows.
//! - **One row** in a loop stands for all, so a list that such a loop fills has these rows, or copies of them.
//! - **Scores** keep the dependencies of their predictions. A dependency from rows that are scored is a leak.
//! - **Rules** find leaks in what is known of the reported scores. Each is a file with its page (`rules`).
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
mod allow;
mod answers;
mod assignments;
mod builtins;
mod calls;
mod choices;
mod columns;
mod comparisons;
mod conditions;
mod copies;
mod effects;
mod expressions;
mod facts;
mod finding;
mod frames;
mod groups;
mod info;
mod items;
mod join;
mod learning;
mod library;
mod machine;
mod methods;
pub mod notebook;
mod numpy;
mod operators;
mod pandas;
mod polars;
mod report;
mod reported;
mod rows;
mod rules;
mod score_words;
mod scores;
mod selection;
mod site;
mod source;
mod splits;
mod state;
mod statements;
mod statistics;
mod syntax;
mod table;
mod targets;
mod together;
mod training;
mod unreadable;
mod uses;
mod value;
mod windows;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use allow::Comment;
use machine::Machine;
use ruff_python_ast::Stmt;
use syntax::Syntax;
use targets::Targets;

pub use allow::{Allowed, Reviewed};
pub use facts::{Facts, Split};
pub use finding::Finding;
pub use rules::Rule;
pub use unreadable::Unreadable;

/// The findings in a Python script, in the order of their lines.
///
/// # Errors
///
/// Fails if the source is no Python 3, or too large or too deeply nested to be checked. A defect of this crate is an
/// error too, so that it costs its caller nothing else.
pub fn check(source: &str, facts: &Facts) -> Result<Vec<Finding>, Unreadable> {
    caught(|| Ok(found(source, source::parse(source)?.suite(), facts, &[]).0))
}

/// The findings in a Python script, parted by its comments: `# mle-star: allow RULE: reason` allows those of the rule on its
/// line, or on the next line if the comment stands alone. Several rules are separated by commas.
///
/// ```
/// use mle_star_leakage::{Facts, check, review};
///
/// let script = "print('Final Validation Performance: 0.91')  # mle-star: allow constant-score: a placeholder\n";
/// assert_eq!(check(script, &Facts::default())?.len(), 1);
/// let reviewed = review(script, &Facts::default())?;
/// assert!(reviewed.findings.is_empty());
/// assert_eq!(reviewed.allowed[0].reason, "a placeholder");
/// # Ok::<(), mle_star_leakage::Unreadable>(())
/// ```
///
/// # Errors
///
/// As [`check`].
pub fn review(source: &str, facts: &Facts) -> Result<Reviewed, Unreadable> {
    caught(|| {
        let parsed = source::parse(source)?;
        let comments = allow::comments(source, parsed.tokens());
        let (findings, has_score) = found(source, parsed.suite(), facts, &comments);
        let has_score = has_score || score_words::are_in(source, parsed.tokens());
        Ok(Reviewed { has_score, ..allow::review(&comments, findings) })
    })
}

fn caught<T>(work: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Unreadable::Defect))
}

/// The findings, and whether a score was seen.
fn found(source: &str, script: &[Stmt], facts: &Facts, comments: &[Comment<'_>]) -> (Vec<Finding>, bool) {
    // What models get as their target is the target, before that place as well.
    let targets = Targets::named(&facts.targets);
    let syntax = Rc::new(Syntax::new(script));
    let mut first = Machine::new(source, Rc::clone(&syntax), facts, targets.clone());
    run(&mut first, script);
    let targets = targets.after(first.seen.targets);
    let mut machine = Machine::new(source, syntax, facts, targets);
    run(&mut machine, script);
    let has_score = !machine.seen.finals.is_empty() || machine.infos.all_scores().next().is_some();
    (report::findings(&mut machine, comments), has_score)
}

/// Runs the script. An exception ends a cell of a notebook, but not those below it.
fn run<'a>(machine: &mut Machine<'a>, script: &'a [Stmt]) {
    for part in script.split_inclusive(Stmt::is_raise_stmt) {
        machine.run(part);
    }
}
