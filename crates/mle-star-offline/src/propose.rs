//! The retriever's list of models, and the first script for one of them.

use std::borrow::Cow;

use serde_json::json;

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::pace;
use crate::portfolio::{Model, ranked};
use crate::problem::Problem;
use crate::templates::TemplateError;
use crate::writer;

/// The number of models of the portfolio that are tried again.
const RETRIED_MODELS: usize = 8;
/// The ends of their names: with more folds, they learn from more rows, and with another seed, they make other errors.
const MORE_FOLDS: &str = " with ten folds";
const OTHER_SEED: &str = " with another seed";
/// How far the other seed is from that of the run. Scripts use a few seeds after theirs.
const FARTHER: u32 = 1_192;

/// The models that fit the task as JSON, the most promising first: as many as asked for, or the whole portfolio. The first one
/// fits into the time.
pub(crate) fn retriever(problem: &Problem, inputs: Inputs<'_>, told: Inputs<'_>) -> String {
    let wanted =
        if inputs.is_set("portfolio") { usize::MAX } else { inputs.count("num_models").unwrap_or(4) };
    let model =
        |model: &Model| json!({ "model_name": model.title, "example_code": example(problem, model.family) });
    let mut ranked = ranked(problem);
    ranked.splice(0..0, ranked.first().and_then(|usual| pace::lighter(problem, usual, told)));
    let mut models: Vec<_> = ranked.iter().copied().take(wanted).map(model).collect();
    let endings = [MORE_FOLDS, OTHER_SEED].into_iter().filter(|ending| repeated(problem, ending).is_some());
    for ending in endings.filter(|_| inputs.is_set("portfolio")) {
        let named = |model: &&Model| {
            let name = format!("{}{ending}", model.title);
            json!({ "model_name": name, "example_code": example(problem, model.family) })
        };
        models.extend(ranked.iter().take(RETRIED_MODELS).map(named));
    }
    json!({ "models": models }).to_string()
}

/// The problem for models that are tried again under names that end like this; `None` if a file, groups or times
/// decide on the folds.
fn repeated(problem: &Problem, ending: &str) -> Option<Problem> {
    const FOLDS: usize = 10;
    let given = problem.grouping.is_some() || problem.time.is_some() || problem.names.folds_file.is_some();
    let chooses = !given && problem.used_rows >= 10 * FOLDS;
    match ending {
        OTHER_SEED => Some(Problem { seed: problem.seed + FARTHER, ..problem.clone() }),
        _ => chooses.then(|| Problem { folds: FOLDS, ..problem.clone() }),
    }
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
    let ending = [MORE_FOLDS, OTHER_SEED].into_iter().find_map(|ending| {
        let model = name.strip_suffix(ending)?;
        Some((model, Cow::Owned(repeated(&problem, ending)?)))
    });
    let (name, problem) = ending.unwrap_or((name, problem));
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
