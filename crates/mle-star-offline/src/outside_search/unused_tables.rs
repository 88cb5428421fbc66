//! The answer of the data agent: a solution that uses auxiliary tables which it left out.

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
pub(crate) fn use_unused_tables(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
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
