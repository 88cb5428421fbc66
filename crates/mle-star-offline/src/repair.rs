//! Repairs by rules: of a missing library, text among numbers, missing values, a missing column, a time or memory
//! limit, and a call that ends the process. Other scripts are returned unchanged.

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::portfolio::Model;
use crate::problem::Problem;
use crate::sections::{Script, Section};
use crate::templates::TemplateError;
use crate::writer;

/// The repaired script.
///
/// # Errors
/// A template is broken.
pub(crate) fn debugger(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    let (code, bug) = (inputs.text("code"), inputs.text("bug"));
    let problem = &*problem.seen_by(code);
    let repaired = match Script::parse(code) {
        Some(script) => repaired_script(problem, script, bug)?,
        None => None,
    };
    let repaired = repaired.or_else(|| without_exit(code, bug)).or_else(|| without_column(code, bug));
    Ok(fenced(repaired.as_deref().unwrap_or(code)))
}

fn repaired_script(problem: &Problem, script: Script, bug: &str) -> Result<Option<String>, TemplateError> {
    if let Some(module) = missing_module(bug) {
        return without_library(problem, script, module);
    }
    let mentions = |words: &[&str]| words.iter().any(|word| bug.to_lowercase().contains(word));
    if mentions(&["timed out", "time limit", "timeout", "memoryerror", "out of memory", "memory limit"]) {
        return Ok(with_half_the_trees(&script));
    }
    if mentions(&[
        "could not convert string",
        "contains nan",
        "contains infinity",
        "unknown categor",
        "invalid literal",
    ]) {
        return Ok(with_coerced_features(&script));
    }
    if !script.sections.iter().any(|section| section.heading == "Submission") && mentions(&["submission"]) {
        let mut script = script;
        script.sections.push(writer::section(problem, "submission")?);
        return Ok(Some(script.text()));
    }
    Ok(None)
}

fn missing_module(bug: &str) -> Option<&str> {
    bug.split_once("No module named '")?.1.split(['\'', '.']).next()
}

/// Replaces models of a library that is not installed by scikit-learn's gradient boosting.
fn without_library(
    problem: &Problem,
    mut script: Script,
    module: &str,
) -> Result<Option<String>, TemplateError> {
    let mut changed = false;
    for member in script.members() {
        let uses = |section: &Section| section.text.contains(&format!("from {module}"));
        if !script.sections_of(&member).any(uses) || module == "sklearn" {
            continue;
        }
        let model = Model::of(Family::HistGradientBoosting);
        // With the old slug, other sections can still call the functions.
        let named = member.clone();
        for section in writer::member_sections(problem, model, &named)? {
            if !["Features", "History"].contains(&section.kind()) {
                script.replace(&section.heading, section.text);
            }
        }
        changed = true;
    }
    Ok(changed.then(|| script.text()))
}

/// Halves the number of trees.
fn with_half_the_trees(script: &Script) -> Option<String> {
    let text = script.text();
    let mut lighter = String::new();
    for line in text.lines() {
        lighter.push_str(&halved(line).unwrap_or_else(|| line.to_owned()));
        lighter.push('\n');
    }
    (lighter != text).then_some(lighter)
}

fn halved(line: &str) -> Option<String> {
    ["\"n_estimators\": ", "\"iterations\": ", "\"max_iter\": "].into_iter().find_map(|name| {
        let at = line.find(name)? + name.len();
        let count: u32 = line[at..].strip_suffix(',')?.parse().ok()?;
        (count >= 20).then(|| format!("{}{},", &line[..at], count / 2))
    })
}

/// Converts features to numbers and fills missing values.
fn with_coerced_features(script: &Script) -> Option<String> {
    let text = script.text();
    let coerced = text.replace(
        "    x = frame[NUMERIC].astype(float)\n",
        "    x = frame[NUMERIC].apply(pd.to_numeric, errors=\"coerce\").astype(float)\n    x = x.where(x.abs() < 1e19)\n",
    );
    let filled = coerced.replace(
        "    return np.hstack(known), lambda rows: np.hstack([maker(rows) for maker in makers])",
        "    whole = lambda parts: np.nan_to_num(np.hstack(parts), nan=-999.0, posinf=1e9, neginf=-1e9)\n    return whole(known), lambda rows: whole([maker(rows) for maker in makers])",
    );
    (filled != text).then_some(filled)
}

/// Replaces the statements that end the process.
fn without_exit(code: &str, bug: &str) -> Option<String> {
    if !(bug.contains("exit") || bug.contains("quit")) {
        return None;
    }
    let ends = |line: &str| {
        let line = line.trim();
        ["exit(", "quit(", "sys.exit(", "os._exit("].iter().any(|call| line.starts_with(call))
            && line.ends_with(')')
    };
    let indent = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    let kept: Vec<String> = code
        .lines()
        .map(|line| if ends(line) { format!("{}pass", indent(line)) } else { line.to_owned() })
        .collect();
    let text = kept.join("\n");
    (text != code.trim_end_matches('\n')).then_some(text)
}

/// Removes a missing column from the lists that name it.
fn without_column(code: &str, bug: &str) -> Option<String> {
    let last = bug.lines().rev().find(|line| line.contains("KeyError"))?;
    let mut quoted = last.split(['\'', '"']);
    let name = quoted.find(|part| !part.is_empty() && !part.contains(['[', ']', ':', '(']))?;
    let literal = serde_json::to_string(name).ok()?;
    let lists = |line: &str| line.contains(" = [") || line.starts_with("    \"");
    let kept: Vec<String> = code
        .lines()
        .map(|line| {
            if !lists(line) {
                return line.to_owned();
            }
            line.replace(&format!("{literal}, "), "")
                .replace(&format!(", {literal}]"), "]")
                .replace(&format!("{literal},"), "")
        })
        .collect();
    let text = kept.join("\n");
    (text != code.trim_end_matches('\n')).then_some(text)
}
