//! Chooses the first model: the usual one, or a lighter one if that may not fit into its share of the time limit.
//!
//! The program has run a script with a constant before. It tells how fast this machine is now.

use crate::catalogue::parameter;
use crate::families::Family;
use crate::inputs::Inputs;
use crate::portfolio::{FEW_TREES, Model, SINGLE_WORDS};
use crate::problem::Problem;
use crate::writer;

/// The share of the time limit that the first model may take.
const TIME_SHARE: f64 = 0.1;
/// How many values trees of LightGBM may read while a script of a constant runs. An idle core takes 5 to 10 ns for each, so that
/// they are 120 to 250 million.
const VALUES: f64 = 100e6;
/// How many letters of texts, times folds, may become pairs of words in that time. An idle core takes 0.1 µs for each; this leaves
/// a margin.
const LETTERS: f64 = 8e6;

/// A lighter model than the usual one, if that is too slow; `None` also if agents are told no times.
pub(crate) fn lighter(problem: &Problem, usual: &'static Model, told: Inputs<'_>) -> Option<&'static Model> {
    let constant = (*told.scores("baseline_seconds").first()?)?;
    let (times, lighter) = match usual.family {
        Family::TfidfLinear => (problem.letters * problem.folds as f64 / LETTERS, SINGLE_WORDS),
        Family::LightGbm => (grown(problem, usual) / VALUES, FEW_TREES),
        _ => return None,
    };
    (constant * (1.0 + times) > told.number("time_limit")? * TIME_SHARE).then(|| Model::named(lighter))
}

/// How many values its trees read: each tree a part of the columns in all rows.
fn grown(problem: &Problem, model: &'static Model) -> f64 {
    let text = writer::solution(problem, model).map(|script| script.text()).unwrap_or_default();
    let number = |name| parameter(&text, name)?.parse::<f64>().ok();
    // The first fit finds the number of trees.
    let fits = if text.contains("x_stop") { 2.0 } else { 1.0 };
    let trees = number("n_estimators").unwrap_or_default() * number("colsample_bytree").unwrap_or(1.0);
    trees * fits * problem.cells_of_trees() as f64
}
