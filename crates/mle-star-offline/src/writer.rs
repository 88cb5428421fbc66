//! Builds scripts and single sections from the templates.

use serde_json::json;

use crate::families::{Family, Member};
use crate::problem::Problem;
use crate::sections::{Script, Section};
use crate::templates::{TemplateError, render};
use mle_star_metrics::names::Metric;

/// A complete solution with one model.
///
/// # Errors
/// A template is broken.
pub(crate) fn solution(problem: &Problem, family: Family) -> Result<Script, TemplateError> {
    let member = family.member();
    let mut sections = head(problem)?;
    sections.extend(member_sections(problem, family, &member)?);
    let validation = match &problem.time {
        _ if !problem.several.is_empty() => "cross_validation_of_targets",
        Some(_) => "cross_validation_in_time",
        None => "cross_validation",
    };
    sections.push(section(problem, validation)?);
    sections.push(training(std::slice::from_ref(&member))?);
    sections.extend(tail(problem)?);
    Ok(Script { preamble: docstring(problem, &member.title), sections })
}

/// The script's docstring.
pub(crate) fn docstring(problem: &Problem, models: &str) -> String {
    let metric = problem.metric.words;
    let folds = match (&problem.time, &problem.grouping) {
        (Some(_), _) => "validated on later rows".to_owned(),
        (None, Some(_)) => format!("{} folds of whole groups", problem.folds),
        (None, None) => format!("{} folds", problem.folds),
    };
    let headline = format!("{models} for {}: {folds}, {}", problem.name, lower_first(metric));
    format!("\"\"\"{}.\"\"\"", headline.replace(['"', '\\'], "'"))
}

/// Setup, data, folds, metric and, for numbers, the target's scale.
fn head(problem: &Problem) -> Result<Vec<Section>, TemplateError> {
    let mut sections = Vec::new();
    for name in ["setup", "data", "folds", "metric"] {
        sections.push(section(problem, name)?);
    }
    if !problem.classification {
        sections.push(target(problem.scale)?);
    }
    Ok(sections)
}

fn tail(problem: &Problem) -> Result<Vec<Section>, TemplateError> {
    [decision_rule(problem), "validation", "submission"]
        .into_iter()
        .map(|name| section(problem, name))
        .collect()
}

/// The template of the postprocessing. For F1 of a rare class, a threshold of one half is a poor choice.
pub(crate) fn decision_rule(problem: &Problem) -> &'static str {
    let is_f1 = problem.several.is_empty() && problem.metric.id == Metric::F1 && problem.classes == 2;
    if is_f1 { "posts/thresholds" } else { "posts/plain" }
}

/// Features, encoding and model of one family, under the given names.
///
/// # Errors
/// A template is broken.
pub(crate) fn member_sections(
    problem: &Problem,
    family: Family,
    member: &Member,
) -> Result<Vec<Section>, TemplateError> {
    let model = format!("members/{}", family.slug());
    ["features", family.encoding(), &model]
        .into_iter()
        .map(|name| {
            render(name, &json!({ "p": problem, "m": member, "t": sizes(problem) })).map(Section::new)
        })
        .collect()
}

/// One section that depends on the problem alone.
///
/// # Errors
/// A template is broken.
pub(crate) fn section(problem: &Problem, name: &str) -> Result<Section, TemplateError> {
    render(name, &json!({ "p": problem })).map(Section::new)
}

/// The target's scale: `plain`, `log`, `root` or `arcsinh`.
///
/// # Errors
/// A template is broken.
pub(crate) fn target(scale: &str) -> Result<Section, TemplateError> {
    render("target", &json!({ "scale": scale })).map(Section::new)
}

/// The section that trains all members.
///
/// # Errors
/// A template is broken.
pub(crate) fn training(members: &[Member]) -> Result<Section, TemplateError> {
    render("training", &json!({ "members": members })).map(Section::new)
}

/// The sizes of models for this many rows and classes.
fn sizes(problem: &Problem) -> serde_json::Value {
    let rows = problem.used_rows;
    let trees = match (rows, problem.classes) {
        (_, 11..) => 100,
        (_, 4..) => 150,
        _ => 200,
    };
    let (rate, fast) = (0.08, 0.12);
    json!({ "trees": trees, "rate": rate, "fast": fast, "small": rows < 1_000 })
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    // Abbreviations keep their capitals.
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
        }
        _ => text.to_owned(),
    }
}
