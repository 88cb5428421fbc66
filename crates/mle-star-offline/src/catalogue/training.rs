//! Refinement strategies for models: parameter presets, early stopping, several seeds and class weights.

use super::{Block, Strategy, with_import};
use crate::families::Family;
use crate::portfolio::stops_early;
use crate::problem::Problem;

/// The change of one parameter.
#[derive(Clone, Copy)]
enum Change {
    /// Set to this Python literal.
    Set(&'static str),
    /// Multiplied by this factor.
    Times(f64),
}

use Change::{Set, Times};
use mle_star_tables::metrics::Metric;

type Preset = &'static [(&'static str, Change)];

pub(super) const MODELS: &[Strategy] = &[
    Strategy {
        name: "balanced class weights",
        part: "Model",
        reason: "The metric counts rare classes as much as common ones, the model's loss does not.",
        how: "Weight every class by the inverse of its frequency.",
        edit: class_weights,
    },
    Strategy {
        name: "smaller steps and more trees",
        part: "Model",
        reason: "Boosting in smaller steps averages out the noise of single trees.",
        how: "Halve the learning rate and double the number of trees.",
        edit: |block| preset(block, smaller_steps(block.family()?)),
    },
    Strategy {
        name: "stronger regularisation",
        part: "Model",
        reason: "With a table of this size the model may follow noise in the fitting rows.",
        how: "Raise the penalties and the smallest number of rows that a leaf needs.",
        edit: |block| preset(block, stronger(block.family()?)),
    },
    Strategy {
        name: "row and column sampling",
        part: "Model",
        reason: "Trees that see different rows and columns make different errors, which cancel out.",
        how: "Let every tree see a smaller part of the rows or columns.",
        edit: |block| preset(block, sampling(block.family()?)),
    },
    Strategy {
        name: "several seeds averaged",
        part: "Model",
        reason: "Part of the error comes from the random choices made while fitting.",
        how: "Fit the model with three seeds and average the predictions.",
        edit: seeds,
    },
    Strategy {
        name: "early stopping",
        part: "Model",
        reason: "Few trees are best where noise prevails, many where the target follows from the columns.",
        how: "Find the number of trees on 15 % of the fitting rows, then fit all of them with it.",
        edit: early_stopping,
    },
];

fn smaller_steps(family: Family) -> Preset {
    match family {
        Family::LightGbm | Family::XgBoost => &[("learning_rate", Times(0.5)), ("n_estimators", Times(2.0))],
        Family::CatBoost => &[("learning_rate", Times(0.5)), ("iterations", Times(2.0))],
        Family::HistGradientBoosting => &[("learning_rate", Times(0.5)), ("max_iter", Times(2.0))],
        _ => &[],
    }
}

fn stronger(family: Family) -> Preset {
    match family {
        Family::LightGbm => &[("reg_lambda", Set("10.0")), ("min_child_samples", Times(2.0))],
        Family::XgBoost => &[("reg_lambda", Set("10.0")), ("min_child_weight", Set("6"))],
        Family::CatBoost => &[("l2_leaf_reg", Set("12.0"))],
        Family::HistGradientBoosting => {
            &[("l2_regularization", Set("10.0")), ("min_samples_leaf", Times(2.0))]
        }
        Family::ExtraTrees | Family::RandomForest => &[("min_samples_leaf", Set("5"))],
        Family::Linear | Family::TfidfLinear => &[("C", Times(0.2)), ("alpha", Times(10.0))],
        Family::NeuralNetwork => &[("alpha", Times(30.0)), ("max_iter", Times(0.6))],
        // Between the estimated shrinkage and no correlations at all.
        Family::Discriminant => &[("shrinkage", Set("0.5"))],
        Family::Seasons | Family::Constant => &[],
    }
}

fn sampling(family: Family) -> Preset {
    match family {
        Family::LightGbm | Family::XgBoost => &[("subsample", Set("0.7")), ("colsample_bytree", Set("0.5"))],
        Family::CatBoost => &[("rsm", Set("0.6"))],
        Family::HistGradientBoosting => &[("max_features", Set("0.5"))],
        Family::ExtraTrees | Family::RandomForest => &[("max_features", Set("0.35"))],
        _ => &[],
    }
}

/// Applies a preset to the parameters of the block; `None` if it changes none.
fn preset(block: &Block<'_>, preset: Preset) -> Option<String> {
    let mut text = block.text.to_owned();
    for (name, change) in preset {
        match change {
            Set(value) => text = set(&text, name, value)?,
            Times(factor) => {
                if let Some(value) = parameter(&text, name).and_then(|value| multiplied(value, *factor)) {
                    text = set(&text, name, &value)?;
                }
            }
        }
    }
    (text != block.text).then_some(text)
}

/// The current literal of a parameter.
pub(crate) fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("    \"{name}\": ");
    text.lines().find_map(|line| line.strip_prefix(start.as_str())?.strip_suffix(','))
}

fn multiplied(value: &str, factor: f64) -> Option<String> {
    if let Ok(whole) = value.parse::<u32>() {
        return Some(format!("{}", (f64::from(whole) * factor).round().max(1.0)));
    }
    // Rounding to ten digits hides binary rounding errors.
    let product = format!("{:.10}", value.parse::<f64>().ok()? * factor);
    let short = product.trim_end_matches('0');
    Some(if short.ends_with('.') { format!("{short}0") } else { short.to_owned() })
}

/// Sets a parameter, or adds it at the end of the dictionary.
pub(crate) fn set(text: &str, name: &str, value: &str) -> Option<String> {
    let line = format!("    \"{name}\": {value},");
    if let Some(old) = parameter(text, name) {
        return Some(text.replacen(&format!("    \"{name}\": {old},"), &line, 1));
    }
    let at = text.find("PARAMS_")?;
    let end = at + text[at..].find("\n}")?;
    Some(format!("{}\n{line}{}", &text[..end], &text[end..]))
}

fn class_weights(block: &Block<'_>) -> Option<String> {
    let problem = &block.problem;
    let counts_rare =
        matches!(problem.metric.id, Metric::BalancedAccuracy | Metric::F1 | Metric::MacroF1 | Metric::Mcc);
    if !counts_rare || !problem.classification || problem.rarest * problem.classes as f64 > 0.8 {
        return None;
    }
    match block.family()? {
        Family::XgBoost | Family::NeuralNetwork | Family::Discriminant => None,
        Family::CatBoost => preset(block, &[("auto_class_weights", Set("\"Balanced\""))]),
        _ => preset(block, &[("class_weight", Set("\"balanced\""))]),
    }
}

/// Fits with three seeds: turns the body of the function into a loop.
fn seeds(block: &Block<'_>) -> Option<String> {
    if matches!(block.family()?, Family::Linear | Family::TfidfLinear | Family::NeuralNetwork) {
        return None;
    }
    let start = block.text.find("    model = ")?;
    let (head, body) = block.text.split_at(start);
    if !body.contains("SEED") || body.contains("for seed in") {
        return None;
    }
    let (body, result) = body.trim_end().split_once("    return lambda rows: ")?;
    let looped: Vec<String> =
        body.trim_end().lines().map(|line| format!("    {}", line.replace("=SEED", "=seed"))).collect();
    Some(format!(
        "{head}    models = []\n    for seed in (SEED, SEED + 1, SEED + 2):\n{}\n        models.append(model)\n    \
         return lambda rows: np.mean([{result} for model in models], axis=0)",
        looped.join("\n")
    ))
}

/// How a library finds the number of trees, as Python.
struct Stopping {
    /// The parameter for the number of trees.
    trees: &'static str,
    /// More arguments of the model.
    made: &'static str,
    /// More arguments of `fit`.
    fitted: &'static str,
    /// The number of trees that was best.
    best: &'static str,
}

const fn stopping(family: Family) -> Option<Stopping> {
    match family {
        Family::LightGbm => Some(Stopping {
            trees: "n_estimators",
            made: "",
            fitted: ", eval_X=(x_stop,), eval_y=(y_stop,), callbacks=[early_stopping(50, verbose=False)]",
            best: "model.best_iteration_",
        }),
        Family::XgBoost => Some(Stopping {
            trees: "n_estimators",
            made: ", early_stopping_rounds=50",
            fitted: ", eval_set=[(x_stop, y_stop)], verbose=False",
            best: "(model.best_iteration + 1)",
        }),
        Family::CatBoost => Some(Stopping {
            trees: "iterations",
            made: "",
            fitted: ", eval_set=(x_stop, y_stop), early_stopping_rounds=50",
            best: "(model.best_iteration_ + 1)",
        }),
        _ => None,
    }
}

/// Finds the number of trees on a part of the fitting rows, and fits all of them with it.
fn early_stopping(block: &Block<'_>) -> Option<String> {
    let (problem, family) = (&block.problem, block.family()?);
    let Stopping { trees, made, fitted, best } = stopping(family).filter(|_| stops_early(problem))?;
    // Only at the start of a line, not in a loop over seeds.
    let start = block.text.find("\n    model = ")? + 1;
    let (head, body) = block.text.split_at(start);
    let (make, rest) = body.split_once('\n')?;
    let (fit, rest) = rest.split_once('\n')?;
    let parameters = format!("**PARAMS_{}", block.slug.to_uppercase());
    if !fit.starts_with("    model.fit(x, y_fit") || !make.contains(&parameters) {
        return None;
    }
    let make_first = make.replacen(&parameters, &format!("{parameters}{made}"), 1);
    let make_second = make.replacen(&parameters, &format!("**{{{parameters}, \"{trees}\": trees}}"), 1);
    let weighs = problem.weight.is_some();
    let fit_first = fit.replacen("x, y_fit", &format!("x_in, y_in{fitted}"), 1);
    let fit_first = fit_first.replace("sample_weight=weight", "sample_weight=weight_in");
    let [parts, of_all] = if weighs { [", weight_in, _", ", weight"] } else { ["", ""] };
    let stratify = if problem.classification { ", stratify=y_fit" } else { "" };
    let text = format!(
        "{head}    # A part of the fitting rows says how many trees are enough. Then all of them are fitted.\n    \
         x_in, x_stop, y_in, y_stop{parts} = train_test_split(x, y_fit{of_all}, test_size=0.15, random_state=SEED{stratify})\n\
         {make_first}\n{fit_first}\n    \
         trees = max(1, round(1.1 * {best}))\n\
         {make_second}\n{fit}\n{rest}"
    );
    let text = text.replacen("from lightgbm import ", "from lightgbm import early_stopping, ", 1);
    let text = set(&text, trees, &most_trees(problem, family).to_string())?;
    Some(with_import(&text, "from sklearn.model_selection import train_test_split"))
}

/// How many trees early stopping may use: fewer for large tables, since nobody knows how long they would take.
fn most_trees(problem: &Problem, family: Family) -> usize {
    const CELLS: usize = 250_000_000;
    // CatBoost's trees take longest.
    let most = if family == Family::CatBoost { 400 } else { 1_000 };
    // Each round fits one tree for each class.
    let (classes, fewest) = if problem.classes > 2 { (problem.classes, 100) } else { (1, 200) };
    ((CELLS / problem.cells()).min(most) / classes).max(fewest)
}

/// How many rounds all folds together fit in one to two seconds of an idle core.
pub(crate) fn few_trees(problem: &Problem) -> usize {
    const CELLS: usize = 200_000_000;
    (CELLS / problem.cells_of_trees()).clamp(20, 60)
}
