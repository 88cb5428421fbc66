//! The submission script, which predicts the rows of the test table.

use crate::families::Family;
use crate::inputs::{Inputs, fenced};
use crate::portfolio::Model;
use crate::problem::Problem;
use crate::sections::Script;
use crate::templates::TemplateError;
use crate::writer;

/// The script that writes the submission: the final solution if it does so, else one with a submission section.
///
/// # Errors
/// A template is broken.
pub(crate) fn submission_script(problem: &Problem, inputs: Inputs<'_>) -> Result<String, TemplateError> {
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
