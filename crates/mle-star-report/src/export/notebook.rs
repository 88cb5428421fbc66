//! The final solution as a Jupyter notebook (format 4.5) that runs from top to bottom.

use std::path::Path;

use mle_star::python::open_lines;
use serde_json::{Value, json};

use crate::run_report::RunReport;

/// A cell with this many lines or more ends at the next blank line.
const LONG: usize = 15;

/// The notebook of a run: what it is, a cell that finds the data in the run's folder, and the `solution` in cells, without
/// outputs.
pub fn notebook(report: &RunReport, task: &str, solution: &str) -> Value {
    let title = format!("# {task}\n\n{}", introduction(report));
    let mut cells = vec![cell("markdown", 0, &title), cell("code", 1, &setup(&report.folder))];
    for part in parts(solution) {
        if let Some(heading) = part.heading {
            cells.push(cell("markdown", cells.len(), &format!("## {heading}")));
        }
        if !part.code.is_empty() {
            cells.push(cell("code", cells.len(), &part.code));
        }
    }
    json!({
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    })
}

/// What the notebook shows, with the scores as the run tells them.
fn introduction(report: &RunReport) -> String {
    let scores: String = report.score_lines().iter().map(|line| format!("- {line}\n")).collect();
    let notes: String = report.notes().iter().map(|note| format!("- {note}\n")).collect();
    let run = &report.summary.run.run_id;
    format!(
        "The final solution of the run `{run}` of mle-star. It reads the tables in `input` and writes its predictions to \
         `final/submission.csv`. The libraries are those of `final/requirements.txt` in the folder of the run.\n\n{scores}{notes}"
    )
}

/// Without a folder `input`, the data of the run is used, and the files of the run stay as they are.
fn setup(folder: &Path) -> String {
    let input = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).join("input");
    let input = serde_json::to_string(&input.display().to_string()).unwrap_or_default();
    format!(
        "import os\nimport tempfile\n\nif not os.path.isdir(\"input\"):\n    folder = tempfile.mkdtemp()\n    os.symlink({input}, os.path.join(folder, \"input\"))\n    os.chdir(folder)\nos.makedirs(\"final\", exist_ok=True)\nprint(\"Predictions are written to\", os.path.abspath(\"final/submission.csv\"))"
    )
}

fn cell(kind: &str, number: usize, text: &str) -> Value {
    let lines: Vec<&str> = text.trim_end().split_inclusive('\n').collect();
    let mut cell =
        json!({"cell_type": kind, "id": format!("cell-{number}"), "metadata": {}, "source": lines});
    if let (true, Some(fields)) = (kind == "code", cell.as_object_mut()) {
        fields.insert("execution_count".to_owned(), Value::Null);
        fields.insert("outputs".to_owned(), json!([]));
    }
    cell
}

/// Statements of a script that stand together.
#[derive(Debug, Default, PartialEq)]
struct Part {
    heading: Option<String>,
    code: String,
}

/// The parts of a script. One begins at each line `# === Heading ===`, and after a blank line where [`begins`] says.
fn parts(script: &str) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    let (mut blank, mut length) = (true, 0);
    for (line, is_open) in script.lines().zip(open_lines(script)) {
        let heading = line.strip_prefix("# === ").and_then(|rest| rest.strip_suffix(" ==="));
        let heading = heading.filter(|_| is_open).map(str::to_owned);
        if heading.is_some() || is_open && blank && begins(line, length) {
            parts.push(Part { heading: heading.clone(), code: String::new() });
            length = 0;
        }
        blank = line.trim().is_empty();
        if let (Some(part), None) = (parts.last_mut(), heading) {
            part.code.push_str(line);
            part.code.push('\n');
            length += 1;
        }
    }
    parts.iter_mut().for_each(|part| part.code = part.code.trim_matches('\n').to_owned());
    parts.retain(|part| *part != Part::default());
    parts
}

/// Whether a line after a blank one begins a part; `length` is the number of lines of the part so far.
fn begins(line: &str, length: usize) -> bool {
    let is_definition = ["#", "@", "def ", "class "].iter().any(|word| line.starts_with(word));
    is_definition || length >= LONG && !line.trim().is_empty()
}
