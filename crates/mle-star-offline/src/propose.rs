//! The retriever's list of models, the first script for one of them, and repetitions of scripts.

use std::borrow::Cow;

use serde_json::json;

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::portfolio::{Model, ranked};
use crate::problem::Problem;
use crate::sections::Script;
use crate::templates::TemplateError;
use crate::writer;

/// The number of models of the portfolio that are tried again.
const AGAIN: usize = 8;
/// The ends of their names: with more folds, they learn from more rows, and with another seed, they make other errors.
const MORE_FOLDS: &str = " with ten folds";
const OTHER_SEED: &str = " with another seed";
/// How far the other seed is from that of the run. Scripts use a few seeds after theirs.
const FARTHER: u32 = 1_192;
/// The number of folds where there are more.
const MANY_FOLDS: usize = 10;

/// The models that fit the task as JSON, the most promising first: as many as asked for, or the whole portfolio.
pub(crate) fn retriever(problem: &Problem, inputs: Inputs<'_>) -> String {
    let wanted =
        if inputs.is_set("portfolio") { usize::MAX } else { inputs.count("num_models").unwrap_or(4) };
    let model =
        |model: &Model| json!({ "model_name": model.title, "example_code": example(problem, model.family) });
    let ranked = ranked(problem);
    let mut models: Vec<_> = ranked.iter().copied().take(wanted).map(model).collect();
    let endings = [MORE_FOLDS, OTHER_SEED].into_iter().filter(|ending| again(problem, ending).is_some());
    for ending in endings.filter(|_| inputs.is_set("portfolio")) {
        let named = |model: &&Model| {
            let name = format!("{}{ending}", model.title);
            json!({ "model_name": name, "example_code": example(problem, model.family) })
        };
        models.extend(ranked.iter().take(AGAIN).map(named));
    }
    json!({ "models": models }).to_string()
}

/// The problem for models that are tried again under names that end like this; `None` if it has no more folds.
fn again(problem: &Problem, ending: &str) -> Option<Problem> {
    match ending {
        OTHER_SEED => Some(Problem { seed: problem.seed + FARTHER, ..problem.clone() }),
        _ => has_more_folds(problem).then(|| Problem { folds: MANY_FOLDS, ..problem.clone() }),
    }
}

/// Whether time does not decide on the folds, and rows or groups are enough for more of them.
fn has_more_folds(problem: &Problem) -> bool {
    let divided = problem.grouping.as_ref().map_or(problem.used_rows, |grouping| grouping.groups);
    problem.time.is_none() && divided >= 10 * MANY_FOLDS
}

/// A script with another seed for each repetition and, if possible, with more folds.
fn repeated(problem: &Problem, mut script: Script, repetition: u32) -> Script {
    let seed = problem.seed + FARTHER * (repetition + 1);
    let edit = |script: &mut Script, heading: &str, edit: &dyn Fn(&str) -> String| {
        if let Some(section) = script.section(heading) {
            let lines: Vec<String> = section.text.lines().map(edit).collect();
            script.replace(heading, lines.join("\n"));
        }
    };
    edit(&mut script, "Setup", &|line| match line.strip_prefix("SEED = ") {
        Some(_) => format!("SEED = {seed}"),
        None => line.to_owned(),
    });
    if has_more_folds(problem) {
        let [few, many] = [problem.folds, MANY_FOLDS].map(|folds| format!("n_splits={folds}"));
        edit(&mut script, "Folds", &|line| line.replace(&few, &many));
        let [few, many] = [problem.folds, MANY_FOLDS].map(|folds| format!(": {folds} folds"));
        script.preamble = script.preamble.replacen(&few, &many, 1);
    }
    script
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
/// columns are not its features. For a repetition, the example with another seed.
///
/// # Errors
/// A template is broken.
pub(crate) fn init(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    let repetition = inputs.count("repetition").and_then(|count| u32::try_from(count).ok());
    if let Some((repetition, script)) = repetition.zip(Script::parse(inputs.text("example_code"))) {
        return Ok(fenced(&repeated(problem, script, repetition).text()));
    }
    let problem = problem.without(&inputs.texts("suspicious_columns"));
    let name = inputs.text("model_name");
    let ending = [MORE_FOLDS, OTHER_SEED].into_iter().find_map(|ending| {
        let model = name.strip_suffix(ending)?;
        Some((model, Cow::Owned(again(&problem, ending)?)))
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
