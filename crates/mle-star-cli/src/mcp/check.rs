//! The tool `check`.

use std::path::PathBuf;

use mle_star_domain::trouble::Trouble;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Hub;
use super::answer::Answer;
use crate::args::CheckArgs;
use crate::check::files::{Input, inputs};
use crate::check::json::{Document, document};
use crate::check::screen::{self, Look};
use crate::check::{Checked, Counts, check_all, data};
use crate::processes::expanded;

pub const ABOUT: &str = "Find leaks of validation data in Python scripts or notebooks: scores that saw their own answers. \
Follows the data through the source and runs nothing. A score of a script with a leak does not count. Give paths or source.";

/// The most findings that are shown.
const MOST: usize = 40;
const PLAIN: Look = Look { colour: false, columns: 120 };

/// What to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckInput {
    /// Scripts, notebooks, or folders with both
    #[serde(default)]
    paths: Vec<String>,
    /// The text of one script or notebook
    source: Option<String>,
    /// Data folder or task file, to infer target, row ID and how rows must be split
    data: Option<String>,
    /// Target column
    target: Option<String>,
    /// Column that identifies rows
    id_column: Option<String>,
}

/// What was found: files with findings, and files that cannot be checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckOutput {
    /// As `mle-star check --json` prints it.
    #[serde(flatten)]
    #[schemars(with = "Document<'static>")]
    document: Value,
    /// How many files were looked at.
    files_checked: usize,
    /// How many findings are not shown.
    findings_left_out: usize,
}

/// Checks scripts.
pub fn check(_: &Hub, input: CheckInput) -> Result<Answer<CheckOutput>, Trouble> {
    let CheckInput { paths, source, data, target, id_column } = input;
    let mut given = inputs(&paths.iter().map(|text| expanded(text)).collect::<Vec<PathBuf>>());
    // Standard input carries the MCP messages.
    given.retain(|input| *input != Input::Stdin);
    given.extend(source.map(Input::Text));
    if given.is_empty() {
        return Err(Trouble::new("nothing to check", "give paths, or the text of a script as source"));
    }
    let args = CheckArgs { target, id_column, ..CheckArgs::default() };
    let known = data.map(|folder| data::known(&args, &expanded(&folder))).transpose();
    let known = known.map_err(|error| error.trouble)?;
    let mut checked = check_all(&given, &data::facts(&args, known.as_ref()));
    let counts = Counts::of(&checked);
    let left_out = shorten(&mut checked);
    let mut lines: Vec<String> = known.iter().flat_map(data::Known::lines).collect();
    for one in &checked {
        match &one.outcome {
            Ok(findings) => lines.push(screen::findings(&one.name, findings, PLAIN)),
            Err(trouble) => lines.push(format!("error: {}\nhint: {}", trouble.message, trouble.hint)),
        }
    }
    if left_out > 0 {
        lines.push(format!("{left_out} more findings are not shown; check fewer files at a time"));
    }
    lines.push(screen::last_line(counts, PLAIN).trim_end().to_owned());
    let document = serde_json::to_value(document(&checked, known.as_ref(), counts)).unwrap_or_default();
    let files_checked = counts.files + counts.unreadable;
    Ok(Answer::new(&lines, CheckOutput { document, files_checked, findings_left_out: left_out }))
}

/// Keeps the files with findings or errors, and the first [`MOST`] findings; returns how many are left out.
fn shorten(checked: &mut Vec<Checked>) -> usize {
    let mut room = MOST;
    let mut left_out = 0;
    checked.retain_mut(|one| match &mut one.outcome {
        Ok(findings) => {
            let kept = findings.found.len().min(room);
            left_out += findings.found.len() - kept;
            room -= kept;
            findings.found.truncate(kept);
            kept > 0
        }
        Err(_) => true,
    });
    left_out
}
