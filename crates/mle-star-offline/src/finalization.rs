//! The steps around the search: unused data, subsampling, the submission script and contamination.

use std::collections::HashSet;

use serde_json::json;

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::joins::Join;
use crate::portfolio::Model;
use crate::problem::Problem;
use crate::sections::Script;
use crate::templates::TemplateError;
use crate::writer;

/// The solution with the auxiliary tables joined that it does not use yet, or the statement that it uses all.
///
/// # Errors
/// A template is broken.
pub(crate) fn data(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    const USED: &str = "All the provided information is used.";
    let code = inputs.text("initial_solution");
    let offered = problem.tables.clone();
    let used: Vec<Join> = offered.iter().filter(|join| code.contains(&join.file)).cloned().collect();
    let Some(mut script) = Script::parse(code).filter(|_| used.len() < offered.len()) else {
        return Ok(USED.to_owned());
    };
    let problem = problem.seen_by(code);
    let (problem, joined) = (&problem.with_joins(used), problem.with_joins(offered));
    let mut fresh = vec![writer::section(problem, "data")?];
    let mut wanted = vec![writer::section(&joined, "data")?];
    for member in script.members() {
        let Some(model) = Model::by_slug(&member.slug) else { continue };
        fresh.extend(writer::member_sections(problem, model, &member)?);
        wanted.extend(writer::member_sections(&joined, model, &member)?);
    }
    // A section that was changed is kept. If the data section is one, no table is joined.
    if !fresh.first().is_some_and(|data| script.sections.contains(data)) {
        return Ok(USED.to_owned());
    }
    if script.section("Other rows").is_some() {
        script.remove("Other rows");
        script.sections.extend(writer::other_rows(&joined)?);
    }
    for (old, new) in fresh.into_iter().zip(wanted) {
        if script.sections.contains(&old) {
            script.replace(&old.heading, new.text);
        }
    }
    Ok(fenced(&script.text()))
}

/// The script that writes the submission: the final solution if it does so, else one with a submission section.
///
/// # Errors
/// A template is broken.
pub(crate) fn test(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
    let code = inputs.text("final_solution");
    if code.contains("submission.csv") {
        return Ok(fenced(code));
    }
    let mut script = match Script::parse(code) {
        Some(script) => script,
        // The predictions of a script of another form are out of reach, so a plain model is used.
        None => writer::solution(problem, Model::of(Family::LightGbm))?,
    };
    script.remove("Submission");
    script.remove("Other rows");
    script.sections.push(writer::section(problem, "submission")?);
    script.sections.extend(writer::other_rows(problem)?);
    Ok(fenced(&script.text()))
}

/// The block that subsamples rows, or the statement that there is none.
pub(crate) fn subsampling_extract(inputs: Inputs<'_>) -> String {
    let code = inputs.text("final_solution");
    subsampling_block(code)
        .map_or_else(|| "There is no subsampling in this script.".to_owned(), |block| fenced(&block))
}

fn subsampling_block(code: &str) -> Option<String> {
    let lines: Vec<&str> = code.lines().collect();
    let draws = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with('#') && (line.contains(".sample(n=") || line.contains(".sample(frac="))
    };
    let at = lines.iter().position(draws)?;
    let is_guard = |line: &str| line.trim_start().starts_with("if len(") && line.trim_end().ends_with(':');
    let start = if at > 0 && is_guard(lines[at - 1]) { at - 1 } else { at };
    // Below a condition, the rest of its block uses the sample.
    let indent = |line: &str| line.len() - line.trim_start().len();
    let guarded = |line: &&&str| start < at && indent(line) > indent(lines[start]);
    let end = at + lines[at + 1..].iter().take_while(guarded).count();
    let block = lines[start..=end].join("\n");
    (code.matches(&block).count() == 1).then_some(block)
}

/// The replacement of a block that subsamples rows: none, or a sample of as many rows as fit into the time.
pub(crate) fn subsampling_remove(problem: &Problem, inputs: Inputs<'_>) -> String {
    let block = inputs.text("code_block_with_subsampling");
    if !block.contains(".sample(") {
        return fenced(block);
    }
    match sample_that_fits(problem, inputs) {
        // Nothing else in the block has these digits.
        Some((before, rows)) => fenced(&block.replace(&before.to_string(), &rows.to_string())),
        None => {
            let indent: String = block.chars().take_while(|letter| *letter == ' ').collect();
            fenced(&format!("{indent}# Every training row is used."))
        }
    }
}

/// The rows of the search's sample and of the largest one that fits into the time; `None` if all rows fit. All time counts
/// as if it grew with the rows. Part of it does not, such as that of imports, so a larger sample may fit, too.
fn sample_that_fits(problem: &Problem, inputs: Inputs<'_>) -> Option<(usize, usize)> {
    let before = problem.subsample? as usize;
    let (seconds, allowed) = (inputs.number("seconds")?, inputs.number("allowed_seconds")?);
    let rows = (before as f64 * allowed / seconds.max(0.1)).floor() as usize;
    (rows < problem.rows).then_some((before, rows.max(before)))
}

/// Whether the solution is copied from a reference, judged by shared runs of words.
pub(crate) fn contamination(inputs: Inputs<'_>) -> String {
    let reference = shingles(inputs.text("reference_discussion"));
    let solution = shingles(inputs.text("final_solution"));
    let shared = reference.intersection(&solution).count();
    let smaller = reference.len().min(solution.len());
    // Both have at least 20 runs of words, and more than half of the shorter one's are shared.
    let same = smaller >= 20 && shared * 2 > smaller;
    json!({ "verdict": if same { "Same" } else { "Novel" } }).to_string()
}

/// Runs of six words without punctuation.
fn shingles(text: &str) -> HashSet<String> {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(6).map(|run| run.join(" ")).collect()
}
