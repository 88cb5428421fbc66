//! Which model comes first, by what it is expected to take on this machine.
//!
//! The program has made a baseline before: its quicker script tells how fast the machine starts a script now, and the linear
//! model what such a model takes. The rest are constants, in seconds of one core.

use crate::catalogue::parameter;
use crate::families::Family;
use crate::inputs::Inputs;
use crate::portfolio::{FEW_TREES, Model};
use crate::problem::Problem;
use crate::writer;

/// The share of the time limit that the first model may take.
const SHARE: f64 = 0.1;
/// A script that learns nothing, and what it takes for each value of its table.
const START: f64 = 1.1;
const READ: f64 = 1e-7;
/// A tree of LightGBM, and what it takes for each value of its table.
const TREE: f64 = 5e-5;
const GROW: f64 = 4.3e-9;
/// A row of a fold in the rounds of two neural networks, and in the forecasts of series.
const LEARN: f64 = 2.5e-4;
const FORECAST: f64 = 5e-6;
/// A linear model of curves, relative to one of the columns as they are.
const CURVES: f64 = 4.0;

/// The models, with a lighter one before the first if that is not expected to fit into its share of the time limit. They remain
/// as they are if agents are told no times.
pub(crate) fn fitting_first(
    problem: &Problem,
    mut models: Vec<&'static Model>,
    told: Inputs<'_>,
) -> Vec<&'static Model> {
    let (limit, baseline) = (told.number("time_limit"), told.scores("baseline_seconds"));
    let (Some(limit), [Some(constant), Some(linear), ..]) = (limit, baseline.as_slice()) else {
        return models;
    };
    let start = constant.min(*linear);
    let usual = START + READ * (problem.rows * problem.width()) as f64;
    let slowness = (start / usual).max(0.5);
    let seconds = |model: &'static Model| match model.family {
        Family::Linear if model.strategies.is_empty() => *linear,
        Family::TfidfLinear if !model.parameters.is_empty() => start + (linear - start) / 2.0,
        Family::TfidfLinear | Family::Discriminant => *linear,
        Family::Linear => start + (linear - start) * CURVES,
        _ => start + slowness * work(problem, model),
    };
    let lighter = ["tfidf_quick", FEW_TREES, "linear_quick"].map(Model::named);
    let lighter = &lighter[usize::from(problem.columns.texts.is_empty())..];
    let options: Vec<_> = models.iter().copied().take(1).chain(lighter.iter().copied()).collect();
    let fits = options.iter().find(|model| seconds(model) <= limit * SHARE);
    let quickest = options.iter().min_by(|one, other| seconds(one).total_cmp(&seconds(other)));
    if let Some(first) = fits.or(quickest) {
        models.retain(|model| model != first);
        models.insert(0, first);
    }
    models
}

/// The seconds that the fits of a script take, on one core that does nothing else.
fn work(problem: &Problem, model: &'static Model) -> f64 {
    let text = writer::solution(problem, model).map(|script| script.text()).unwrap_or_default();
    let trees = ["n_estimators", "iterations", "max_iter"].iter().find_map(|name| parameter(&text, name));
    let trees: f64 = trees.and_then(|trees| trees.parse().ok()).unwrap_or_default();
    let (rows, folds) = (problem.used_rows as f64, problem.folds as f64);
    let classes = if problem.classes > 2 { problem.classes as f64 } else { 1.0 };
    // The first fit finds the number of trees.
    let fits = if text.contains("x_stop") { 2.0 } else { 1.0 };
    let boosted = folds * fits * trees * classes * (TREE + GROW * problem.cells() as f64);
    match model.family {
        Family::Seasons | Family::Constant => folds * rows * FORECAST,
        Family::NeuralNetwork => folds * rows * LEARN,
        Family::CatBoost => 4.0 * boosted,
        Family::ExtraTrees | Family::RandomForest => 10.0 * boosted / classes,
        _ => boosted,
    }
}
