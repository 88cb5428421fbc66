//! The Python templates, and how values are rendered in them.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, Value};

/// A failed rendering, which is a bug in a template.
pub(crate) type TemplateError = Error;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../templates/", $name, ".py")))),*]
    };
}

const SOURCES: &[(&str, &str)] = templates![
    "setup",
    "data",
    "sample",
    "folds",
    "metric",
    "target",
    "features",
    "features_none",
    "encoding_trees",
    "encoding_scaled",
    "encoding_catboost",
    "encoding_none",
    "members/lightgbm",
    "members/xgboost",
    "members/catboost",
    "members/hist_gradient_boosting",
    "members/extra_trees",
    "members/random_forest",
    "members/linear",
    "members/tfidf_linear",
    "members/neural_network",
    "members/discriminant",
    "members/seasons",
    "members/constant",
    "cross_validation",
    "cross_validation_in_time",
    "cross_validation_of_targets",
    "fold_models",
    "texts",
    "series",
    "levels",
    "windows",
    "seasons",
    "history/windows",
    "history/forecast",
    "history/seasons",
    "pair",
    "training",
    "blends/mean",
    "posts/plain",
    "validation",
    "submission",
    "other_rows",
    "steps/calendar",
    "steps/character_counts",
    "steps/character_ngrams",
    "steps/indicators",
    "steps/interactions",
    "steps/selected_columns",
    "steps/splines",
    "steps/target_means",
    "blends/stacking",
    "blends/weights",
    "posts/bounds",
    "posts/class_factors",
    "posts/cuts",
    "posts/most_probable",
    "posts/quantile",
    "posts/thresholds",
    "ablation",
    "solution_function",
    "ensemble_training",
];

static ENVIRONMENT: LazyLock<Result<Environment<'static>, String>> =
    LazyLock::new(|| environment().map_err(|error| format!("{error:#}")));

/// Renders a template and trims surrounding blank lines.
///
/// # Errors
/// The template is broken or lacks a value, which is a bug.
pub(crate) fn render(name: &str, values: &serde_json::Value) -> Result<String, TemplateError> {
    let environment = ENVIRONMENT
        .as_ref()
        .map_err(|error| Error::new(minijinja::ErrorKind::InvalidOperation, error.clone()))?;
    Ok(environment.get_template(name)?.render(Value::from(Serde(values)))?.trim_matches('\n').to_owned())
}

fn environment() -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.add_filter("py", |value: Value| literal(&value));
    environment.add_filter("py_list", |value: Value| list(&value));
    environment.add_function("moments", moments);
    for (name, source) in SOURCES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

/// The Python expression for the dates in these texts: by the script's own function, or by pandas alone. `day_first` tells whether
/// they begin with the day; it may be empty.
#[expect(clippy::needless_pass_by_value, reason = "functions of templates own their arguments")]
fn moments(own: bool, texts: String, day_first: String) -> String {
    match (own, day_first.as_str()) {
        (true, "") => format!("moments_of({texts})"),
        (true, day_first) => format!("moments_of({texts}, day_first={day_first})"),
        (false, _) => {
            format!("pd.to_datetime({texts}, errors=\"coerce\", format=\"mixed\", utc=True)")
        }
    }
}

/// A value as a Python literal. JSON strings and numbers are valid Python.
pub(crate) fn literal(value: &Value) -> Result<String, TemplateError> {
    serde_json::to_string(value)
        .map_err(|error| Error::new(minijinja::ErrorKind::BadSerialization, error.to_string()))
}

/// A list of strings as a Python literal, wrapped if it is too long for one line.
fn list(value: &Value) -> Result<String, TemplateError> {
    let items = value.try_iter()?.map(|item| literal(&item)).collect::<Result<Vec<_>, _>>()?;
    let line = format!("[{}]", items.join(", "));
    if line.len() <= 90 {
        return Ok(line);
    }
    let mut lines = vec![String::new()];
    for item in items {
        let current = lines.len() - 1;
        if lines[current].len() + item.len() > 100 {
            lines.push(String::new());
        }
        let current = lines.len() - 1;
        if !lines[current].is_empty() {
            lines[current].push(' ');
        }
        lines[current].push_str(&item);
        lines[current].push(',');
    }
    Ok(format!("[\n    {}\n]", lines.join("\n    ")))
}
