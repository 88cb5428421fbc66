//! Which model comes first: the usual one, or a lighter one if that is not sure to fit into its share of the time limit.
//!
//! The program has run two scripts before, a constant and a linear model. They tell how fast this machine is now.

use crate::catalogue::parameter;
use crate::families::Family;
use crate::inputs::Inputs;
use crate::portfolio::{FEW_TREES, Model, SINGLE_WORDS};
use crate::problem::Problem;
use crate::writer;

/// The share of the time limit that the first model may take.
const SHARE: f64 = 0.1;
/// How many values trees of LightGBM may read while a script of a constant runs. An idle core takes 4 to 6 ns for each, so that
/// they are 200 to 300 million; half of that leaves a margin.
const VALUES: f64 = 120e6;

/// The models, with a lighter one first where the usual one is too slow. They remain as they are if agents are told no times.
pub(crate) fn fitting_first(
    problem: &Problem,
    mut models: Vec<&'static Model>,
    told: Inputs<'_>,
) -> Vec<&'static Model> {
    let (limit, baseline) = (told.number("time_limit"), told.scores("baseline_seconds"));
    let (Some(limit), [Some(constant), Some(linear), ..], Some(usual)) =
        (limit, baseline.as_slice(), models.first())
    else {
        return models;
    };
    let (seconds, lighter) = match usual.family {
        // The linear model of texts is the same.
        Family::TfidfLinear => (*linear, SINGLE_WORDS),
        Family::LightGbm => (constant * (1.0 + grown(problem, usual) / VALUES), FEW_TREES),
        _ => return models,
    };
    if seconds > limit * SHARE {
        models.insert(0, Model::named(lighter));
    }
    models
}

/// How many values its trees read: each tree all of the table.
fn grown(problem: &Problem, model: &'static Model) -> f64 {
    let text = writer::solution(problem, model).map(|script| script.text()).unwrap_or_default();
    let trees: Option<usize> = parameter(&text, "n_estimators").and_then(|trees| trees.parse().ok());
    // The first fit finds the number of trees.
    let fits = if text.contains("x_stop") { 2 } else { 1 };
    (trees.unwrap_or_default() * fits * problem.cells_of_trees()) as f64
}
