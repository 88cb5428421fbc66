//! The retriever's list of models, and the first script for one of them.

use serde_json::json;

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::portfolio::{Model, ranked};
use crate::problem::Problem;
use crate::templates::TemplateError;
use crate::writer;

/// The models that fit the task as JSON, the most promising first: as many as asked for, or the whole portfolio.
pub(crate) fn retriever(problem: &Problem, inputs: Inputs<'_>) -> String {
    let wanted =
        if inputs.is_set("portfolio") { usize::MAX } else { inputs.count("num_models").unwrap_or(4) };
    let model =
        |model: &Model| json!({ "model_name": model.title, "example_code": example(problem, model.family) });
    let models: Vec<_> = ranked(problem).into_iter().take(wanted).map(model).collect();
    json!({ "models": models }).to_string()
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
    let problem = &*problem.without(&inputs.texts("suspicious_columns"));
    let model = model_of(problem, inputs.text("model_name"));
    Ok(fenced(&writer::solution(problem, model)?.text()))
}

fn model_of(problem: &Problem, name: &str) -> &'static Model {
    let known = Model::by_name(name);
    let without_texts = problem.columns.texts.is_empty();
    let fits = known.filter(|model| model.family != Family::TfidfLinear || !without_texts);
    let linear = known.map(|_| Model::of(Family::Linear));
    fits.or(linear).or(ranked(problem).first().copied()).unwrap_or(Model::of(Family::LightGbm))
}
