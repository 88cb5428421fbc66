//! Several scripts in one: a base with a reference model, and ensembles of solutions.

use serde_json::json;

use crate::families::ScriptModel;
use crate::inputs::{Inputs, fenced};
use crate::problem::Problem;
use crate::sections;
use crate::sections::{Script, Section};
use crate::templates::{TemplateError, render};
use crate::writer;

/// The base script with the reference's models added to its blend.
///
/// # Errors
/// A template is broken.
pub(crate) fn merger(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    let base_code = inputs.text("base_code");
    let (Some(mut base), Some(reference)) =
        (Script::parse(base_code), Script::parse(inputs.text("reference_code")))
    else {
        return Ok(fenced(base_code));
    };
    for member in reference.members() {
        let named = free_name(&base.members(), &member);
        let sections: Vec<Section> =
            reference.sections_of(&member).map(|s| renamed(s, &member, &named)).collect();
        let at =
            base.sections.iter().position(|s| s.heading == "Cross-validation").unwrap_or(base.sections.len());
        base.sections.splice(at..at, sections);
    }
    take_history(&mut base, &reference);
    let members = base.members();
    base.replace("Training", writer::training(&members)?.text);
    if base.section("Blend").is_none() {
        let after = base.sections.iter().position(|s| s.heading == "Training").map_or(0, |at| at + 1);
        base.sections.insert(after, writer::section(problem, "blends/mean")?);
    }
    let names: Vec<&str> = members.iter().map(|member| member.title.as_str()).collect();
    base.preamble = writer::docstring(problem, &format!("Blend of {}", names.join(", ")));
    Ok(fenced(&base.text()))
}

/// Gives the base what the history of the reference's models needs.
fn take_history(base: &mut Script, reference: &Script) {
    let missing = |heading: &&&str| base.section(heading).is_none();
    let wanted: Vec<Section> = writer::SERIES_CLASSES
        .iter()
        .filter(missing)
        .filter_map(|heading| reference.section(heading).cloned())
        .collect();
    if base.section("Series").is_none() && !wanted.is_empty() {
        let validation = reference.section("Cross-validation").map(|section| section.text.clone());
        base.replace("Cross-validation", validation.unwrap_or_default());
    }
    let in_order =
        |section: &Section| writer::SERIES_CLASSES.iter().position(|heading| *heading == section.heading);
    for section in wanted {
        let later = |other: &Section| in_order(other) > in_order(&section) || other.kind() == "Features";
        let at = base.sections.iter().position(later).unwrap_or(base.sections.len());
        base.sections.insert(at, section);
    }
}

/// The member's name, numbered if the base has one of that name.
fn free_name(taken: &[ScriptModel], member: &ScriptModel) -> ScriptModel {
    let mut named = member.clone();
    let mut number = 2;
    while taken.iter().any(|other| other.slug == named.slug || other.title == named.title) {
        named = ScriptModel::new(
            format!("{} {number}", member.title),
            format!("{}_{number}", member.slug),
            member.has_history,
        );
        number += 1;
    }
    named
}

fn renamed(section: &Section, from: &ScriptModel, to: &ScriptModel) -> Section {
    if from == to {
        return section.clone();
    }
    let mut text = section.text.replacen(&format!(": {} ===", from.title), &format!(": {} ===", to.title), 1);
    for start in ["features_", "encode_", "fit_", "history_"] {
        text = text.replace(&format!("def {start}{}(", from.slug), &format!("def {start}{}(", to.slug));
    }
    let parameters = |member: &ScriptModel| format!("PARAMS_{}", member.slug.to_uppercase());
    Section::new(text.replace(&parameters(from), &parameters(to)))
}

/// A way to combine solutions: its name in plans, its description and its template.
struct Combination {
    name: &'static str,
    words: &'static str,
    template: &'static str,
}

const COMBINATIONS: [Combination; 3] = [
    Combination {
        name: "fitted weights",
        words: "Choose convex weights for the solutions greedily on their out-of-fold predictions, fold by fold, so that a stronger solution counts more.",
        template: "blends/weights",
    },
    Combination {
        name: "plain mean",
        words: "Average the solutions' predictions with equal weights; errors that differ cancel out, and nothing can be overfitted.",
        template: "blends/mean",
    },
    Combination {
        name: "stacking",
        words: "Fit a regularised linear model on the solutions' out-of-fold predictions, fold by fold, so that common errors are corrected.",
        template: "blends/stacking",
    },
];

/// The next untried ensemble plan, or the best one if all were tried.
pub(crate) fn ens_planner(problem: &Problem, inputs: Inputs<'_>) -> String {
    let plans = inputs.texts("plans");
    let fitting: Vec<&Combination> =
        COMBINATIONS.iter().filter(|one| problem.can_use(one.template)).collect();
    let tried = |one: &&&Combination| plans.iter().any(|plan| plan.contains(&marker(one)));
    let next = fitting.iter().find(|one| !tried(one)).copied();
    let again = fitting.get(plans.len() % fitting.len().max(1)).copied();
    next.or(again).map_or_else(String::new, |one| {
        format!("{} {} The solutions themselves stay as they are.", marker(one), one.words)
    })
}

fn marker(combination: &Combination) -> String {
    format!("Combine by: {}.", combination.name)
}

/// All solutions in one script, combined by the plan.
///
/// # Errors
/// A template is broken.
pub(crate) fn ensembler(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    let solutions = inputs.texts("solutions");
    let mut distinct: Vec<&str> = Vec::new();
    for solution in &solutions {
        if !distinct.contains(solution) {
            distinct.push(solution);
        }
    }
    let scripts: Vec<Script> = distinct.iter().filter_map(|text| Script::parse(text)).collect();
    let [first, _, ..] = scripts.as_slice() else {
        // One solution is its own ensemble.
        return Ok(fenced(distinct.first().copied().unwrap_or_default()));
    };
    let plan = inputs.text("plan");
    let chosen = COMBINATIONS.iter().find(|one| plan.contains(&marker(one)) && problem.can_use(one.template));
    let template = chosen.map_or("blends/mean", |one| one.template);
    let mut sections = shared(first, &["Setup", "Data", "Folds", "Metric"]);
    if !problem.classification {
        sections.push(sections::target(problem.scale)?);
    }
    let mut names = Vec::new();
    for (position, script) in scripts.iter().enumerate() {
        let (title, name) = (format!("Solution {}", position + 1), format!("solution_{}", position + 1));
        sections.push(function(problem, script, &title, &name)?);
        names.push(json!({ "title": title, "name": name }));
    }
    sections
        .push(render("ensemble_training", &json!({ "p": problem, "solutions": names })).map(Section::new)?);
    sections.push(writer::section(problem, template)?);
    sections.push(decision(problem, &scripts)?);
    sections.extend(shared(first, &["Validation", "Submission", "Other rows"]));
    if first.section("Submission").is_none() {
        sections.push(writer::section(problem, "submission")?);
        sections.extend(writer::other_rows(problem)?);
    }
    let preamble = writer::docstring(problem, &format!("Ensemble of {} solutions", scripts.len()));
    Ok(fenced(&Script { preamble, sections }.text()))
}

fn shared(script: &Script, headings: &[&str]) -> Vec<Section> {
    headings.iter().filter_map(|heading| script.section(heading).cloned()).collect()
}

/// The sections of a solution, from target to blend, as one function.
fn function(problem: &Problem, script: &Script, title: &str, name: &str) -> Result<Section, TemplateError> {
    let outer =
        ["Setup", "Data", "Folds", "Metric", "Postprocessing", "Validation", "Submission", "Other rows"];
    let own: Vec<&str> = script
        .sections
        .iter()
        .filter(|section| !outer.contains(&section.heading.as_str()))
        .map(|section| section.text.as_str())
        .collect();
    let indent = |line: &str| if line.trim().is_empty() { String::new() } else { format!("    {line}") };
    let body: Vec<String> = own.join("\n\n").lines().map(indent).collect();
    let models: Vec<String> = script.members().into_iter().map(|member| member.title).collect();
    let words = format!("Out-of-fold and test predictions of one refined solution ({}).", models.join(", "));
    let values =
        json!({ "p": problem, "title": title, "name": name, "words": words, "body": body.join("\n") });
    render("solution_function", &values).map(Section::new)
}

/// The first postprocessing that refinement changed, else the plain one.
fn decision(problem: &Problem, scripts: &[Script]) -> Result<Section, TemplateError> {
    let plain = writer::section(problem, writer::decision_rule(problem))?;
    let mut rules = scripts.iter().filter_map(|script| script.section("Postprocessing"));
    Ok(rules.find(|rule| rule.text != plain.text).cloned().unwrap_or(plain))
}
