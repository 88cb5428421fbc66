//! Builds scripts and single sections from the templates.

use serde_json::json;

use crate::catalogue::{self, Block};
use crate::families::{Family, ScriptModel};
use crate::history::Past;
use crate::portfolio::{self, Model};
use crate::problem::Problem;
use crate::sections;
use crate::sections::{Script, Section};
use crate::templates::{TemplateError, render};
use mle_star_tables::metrics::Metric;

/// The headings of the sections that models of texts or with a history need, in their order.
pub(crate) const SERIES_CLASSES: [&str; 5] = ["Texts", "Series", "Levels", "Windows", "Seasons"];

/// A complete solution with one model, or with the mean of several.
///
/// # Errors
/// A template is broken.
pub(crate) fn solution(problem: &Problem, model: &'static Model) -> Result<Script, TemplateError> {
    let models = model.models();
    let members: Vec<ScriptModel> = models.iter().map(|model| model.member(problem)).collect();
    let mut sections = head(problem, model)?;
    sections.extend(series_sections(problem, &models)?);
    for (model, member) in models.iter().zip(&members) {
        sections.extend(member_sections(problem, model, member)?);
    }
    if problem.pair.is_some() {
        sections.push(section(problem, "pair")?);
    }
    sections.push(validation(problem, &members)?);
    sections.push(training(&members)?);
    if members.len() > 1 {
        sections.push(section(problem, "blends/mean")?);
    }
    sections.extend(tail(problem)?);
    Ok(Script { preamble: docstring(problem, model.title), sections })
}

/// What the models of texts or with a history need, beside their own sections.
fn series_sections(problem: &Problem, models: &[&Model]) -> Result<Vec<Section>, TemplateError> {
    let uses = |wanted: &[Past]| models.iter().any(|model| wanted.contains(&model.past_in(problem)));
    let with_forecasts = uses(&[Past::Forecasts, Past::Distance, Past::Alone]);
    let reads = |model: &&Model| model.family.features() == "features";
    let texts = !problem.columns.texts.is_empty() && models.iter().any(reads);
    let any = with_forecasts || uses(&[Past::Windows]);
    [
        ("texts", texts),
        ("series", any),
        ("levels", any && !problem.classification),
        ("windows", uses(&[Past::Windows])),
        ("seasons", with_forecasts),
    ]
    .into_iter()
    .filter(|(_, used)| *used)
    .map(|(name, _)| section(problem, name))
    .collect()
}

fn validation(problem: &Problem, members: &[ScriptModel]) -> Result<Section, TemplateError> {
    let name = match &problem.time {
        _ if !problem.several.is_empty() => "cross_validation_of_targets",
        Some(_) => "cross_validation_in_time",
        None => "cross_validation",
    };
    let past = members.iter().any(|member| member.has_history);
    render(name, &json!({ "p": problem, "past": past })).map(Section::new)
}

/// The script's docstring.
pub(crate) fn docstring(problem: &Problem, models: &str) -> String {
    let folds = match (&problem.time, &problem.grouping) {
        (Some(_), _) => "validated on later rows".to_owned(),
        (None, Some(_)) => format!("{} folds of whole groups", problem.folds),
        (None, None) => format!("{} folds", problem.folds),
    };
    let headline = format!("{models} for {}: {folds}, {}", problem.name, problem.metric.id);
    format!("\"\"\"{}.\"\"\"", headline.replace(['"', '\\'], "'"))
}

/// Setup, data, folds, metric and, for numbers, the target's scale.
fn head(problem: &Problem, model: &Model) -> Result<Vec<Section>, TemplateError> {
    let mut sections = Vec::new();
    for name in ["setup", "data", "folds", "metric"] {
        sections.push(section(problem, name)?);
    }
    if !problem.classification {
        let target = sections::target(problem.scale)?;
        sections.push(Section::new(configured(problem, model, target.text)));
    }
    Ok(sections)
}

fn tail(problem: &Problem) -> Result<Vec<Section>, TemplateError> {
    let names = [decision_rule(problem), "validation", "submission"].into_iter();
    let sections = names.map(|name| section(problem, name)).chain(other_rows(problem).transpose());
    sections.collect()
}

/// The section that predicts other rows, and keeps the model; `None` if columns depend on earlier rows, which only the data of the
/// run has.
///
/// # Errors
/// A template is broken.
pub(crate) fn other_rows(problem: &Problem) -> Result<Option<Section>, TemplateError> {
    let needs_data = problem.history.is_some() || problem.joins.iter().any(|join| join.before.is_some());
    (!needs_data).then(|| section(problem, "other_rows")).transpose()
}

/// The template of the postprocessing. The most probable class is a poor choice for metrics that count rare classes like
/// common ones, and so is the rounded expected class for those that count distances between classes.
pub(crate) fn decision_rule(problem: &Problem) -> &'static str {
    if !problem.several.is_empty() {
        return "posts/plain";
    }
    let unequal = problem.stratified && problem.rarest * problem.classes as f64 <= 0.8;
    match (problem.metric.id, problem.classes) {
        (Metric::Pinball(_), _) => "posts/quantile",
        (Metric::IntervalScore(_), _) => "posts/bounds",
        (Metric::QuadraticKappa, 3..) => "posts/cuts",
        (Metric::F1, 2) => "posts/thresholds",
        (Metric::MacroF1 | Metric::BalancedAccuracy | Metric::Mcc, 2) if unequal => "posts/thresholds",
        (Metric::F1 | Metric::MacroF1 | Metric::BalancedAccuracy | Metric::Mcc, 3..=30) if unequal => {
            "posts/class_factors"
        }
        _ => "posts/plain",
    }
}

/// Features, encoding and model, under the given names.
///
/// # Errors
/// A template is broken.
pub(crate) fn member_sections(
    problem: &Problem,
    model: &Model,
    member: &ScriptModel,
) -> Result<Vec<Section>, TemplateError> {
    let template = format!("members/{}", model.family.slug());
    let indicators = matches!(model.family, Family::LightGbm | Family::XgBoost);
    let past = model.past_in(problem);
    let distance = past == Past::Distance;
    let values = json!({
        "p": problem, "m": member, "t": sizes(problem, model), "indicators": indicators, "distance": distance,
    });
    [Some(model.family.features()), past.template(), Some(model.family.encoding()), Some(&template)]
        .into_iter()
        .flatten()
        .map(|name| {
            let text = render(name, &values)?;
            Ok(Section::new(configured(problem, model, text)))
        })
        .collect()
}

/// A section with the model's own parameters and strategies. A strategy that does not fit the task is left out.
fn configured(problem: &Problem, model: &Model, section: String) -> String {
    let mut text = section;
    for (name, value) in model.parameters {
        // Of a wide table, the template's share of the columns is enough. Linear models of numbers have no inverse penalty.
        if *name == "colsample_bytree" && problem.is_wide() || *name == "C" && !problem.classification {
            continue;
        }
        text = catalogue::with_parameter(&text, name, value).unwrap_or(text);
    }
    for name in model.strategies {
        let edited = catalogue::carried_out(name, &Block::read(problem, &text));
        text = edited.unwrap_or(text);
    }
    text
}

/// One section that depends on the problem alone.
///
/// # Errors
/// A template is broken.
pub(crate) fn section(problem: &Problem, name: &str) -> Result<Section, TemplateError> {
    render(name, &json!({ "p": problem })).map(Section::new)
}

/// The section that trains all members.
///
/// # Errors
/// A template is broken.
pub(crate) fn training(members: &[ScriptModel]) -> Result<Section, TemplateError> {
    render("training", &json!({ "members": members })).map(Section::new)
}

/// The sizes of models for this many rows and classes: small steps and small trees, unless there is much to learn from.
fn sizes(problem: &Problem, model: &Model) -> serde_json::Value {
    let many_rows = problem.used_rows >= 10_000;
    let few = model.slug == portfolio::FEW_TREES;
    let rounds = match problem.classes {
        _ if few => catalogue::few_trees(problem),
        // Each round fits one tree for each class.
        3.. => 100,
        _ if many_rows => 200,
        _ => 250,
    };
    let large_steps = many_rows || rounds == 100;
    let rate = match portfolio::stops_early(problem) {
        _ if few => 0.3,
        _ if large_steps => 0.08,
        true => 0.06,
        false => 0.04,
    };
    json!({
        // Threads that wait for a busy core cost more than few trees.
        "few": few, "pairs": model.family.encoding() == "encoding_scaled" && model.slug != portfolio::SINGLE_WORDS,
        "rounds": rounds, "rate": rate, "large_steps": large_steps, "many_rows": many_rows,
        "small": problem.used_rows < 1_000, "wide": problem.is_wide(),
        // With few rows of a class, boosting soon learns them by heart.
        "rare": problem.stratified && problem.rarest < 0.1 && problem.rarest * (problem.used_rows as f64) < 500.0,
    })
}
