//! The retriever's list of models, and the first script for one of them.

use std::borrow::Cow;

use serde_json::json;

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::portfolio::{Model, ranked};
use crate::problem::Problem;
use crate::templates::TemplateError;
use crate::writer;

/// The number of folds that models of the portfolio have when they are tried again.
const FOLDS: usize = 10;
/// The end of their names.
const MORE_FOLDS: &str = " with ten folds";
/// The number of models that are tried again.
const AGAIN: usize = 8;

/// The models that fit the task as JSON, the most promising first: as many as asked for, or the whole portfolio.
pub(crate) fn retriever(problem: &Problem, inputs: Inputs<'_>) -> String {
    let wanted =
        if inputs.is_set("portfolio") { usize::MAX } else { inputs.count("num_models").unwrap_or(4) };
    let model =
        |model: &Model| json!({ "model_name": model.title, "example_code": example(problem, model.family) });
    let ranked = ranked(problem);
    let mut models: Vec<_> = ranked.iter().copied().take(wanted).map(model).collect();
    if inputs.is_set("portfolio") && more_folds(problem).is_some() {
        let again = |model: &Model| {
            let name = format!("{}{MORE_FOLDS}", model.title);
            json!({ "model_name": name, "example_code": example(problem, model.family) })
        };
        models.extend(ranked.into_iter().take(AGAIN).map(again));
    }
    json!({ "models": models }).to_string()
}

/// The problem with more folds, whose models learn from more rows; `None` if groups or times decide on the folds.
fn more_folds(problem: &Problem) -> Option<Problem> {
    let may_have = problem.grouping.is_none() && problem.time.is_none() && problem.used_rows >= 10 * FOLDS;
    may_have.then(|| Problem { folds: FOLDS, ..problem.clone() })
}

fn example(problem: &Problem, family: Family) -> String {
    let (module, class) = family.class(problem.classification);
    let answer = if problem.classification && !problem.metric.labels { "predict_proba" } else { "predict" };
    let words = "from sklearn.feature_extraction.text import TfidfVectorizer\n";
    let (import, first) = match family {
        Family::TfidfLinear => (
            words,
            "words = TfidfVectorizer().fit(texts)\nx, x_new = words.transform(texts), words.transform(new_texts)\n",
        ),
        _ => ("", ""),
    };
    format!(
        "{import}from {module} import {class}\n\n{first}model = {class}()\nmodel.fit(x, y)\npredictions = model.{answer}(x_new)\n"
    )
}

/// A complete script with the given model, or with the best fitting one if the rules do not know it. Suspicious
/// columns are not its features.
///
/// # Errors
/// A template is broken.
pub(crate) fn init(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    let problem = problem.without(&inputs.texts("suspicious_columns"));
    let name = inputs.text("model_name");
    let (name, problem) = match (name.strip_suffix(MORE_FOLDS), more_folds(&problem)) {
        (Some(name), Some(more)) => (name, Cow::Owned(more)),
        _ => (name, problem),
    };
    let model = model_of(&problem, name);
    Ok(fenced(&writer::solution(&problem, model)?.text()))
}

fn model_of(problem: &Problem, name: &str) -> &'static Model {
    let known = Model::by_name(name);
    let without_texts = problem.columns.texts.is_empty();
    let fits = known.filter(|model| model.family != Family::TfidfLinear || !without_texts);
    let linear = known.map(|_| Model::of(Family::Linear));
    fits.or(linear).or(ranked(problem).first().copied()).unwrap_or(Model::of(Family::LightGbm))
}
