//! Notebooks: the code cells of an `.ipynb` file as one source.

use std::fmt::Write as _;

use serde_json::Value;

use crate::unreadable::Unreadable;

/// The code of a notebook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notebook {
    /// All code cells, one after the other. Magic commands are comments.
    pub source: String,
    /// For each line of the source, its cell and its line in the cell.
    lines: Vec<Position>,
}

/// A line of a notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The cell, from 1; cells of text count.
    pub cell: u32,
    /// The line in the cell, from 1.
    pub line: u32,
}

impl Notebook {
    /// Where a line of the source (from 1) is in the notebook.
    #[must_use]
    pub fn position(&self, line: u32) -> Option<Position> {
        self.lines.get(usize::try_from(line).ok()?.checked_sub(1)?).copied()
    }
}

/// Reads an `.ipynb` file.
///
/// # Errors
///
/// Fails if the text is no notebook.
pub fn read(json: &str) -> Result<Notebook, Unreadable> {
    let document: Value =
        serde_json::from_str(json).map_err(|error| Unreadable::Notebook { message: error.to_string() })?;
    let cells = document.get("cells").and_then(Value::as_array).or_else(|| first_worksheet(&document));
    let Some(cells) = cells else {
        return Err(Unreadable::Notebook { message: "no list of cells".to_owned() });
    };
    let mut notebook = Notebook::default();
    for (cell, number) in cells.iter().zip(1..) {
        if cell.get("cell_type").and_then(Value::as_str) == Some("code") {
            add_cell(&mut notebook, &text(cell), number);
        }
    }
    Ok(notebook)
}

/// The cells of notebooks of format 3.
fn first_worksheet(document: &Value) -> Option<&Vec<Value>> {
    document.get("worksheets")?.get(0)?.get("cells")?.as_array()
}

fn text(cell: &Value) -> String {
    match cell.get("source").or_else(|| cell.get("input")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn add_cell(notebook: &mut Notebook, text: &str, cell: u32) {
    let other_language = text.lines().find(|line| !line.trim().is_empty()).is_some_and(foreign);
    // A magic command in brackets would be a remainder: only statements begin with one.
    let mut continued = false;
    for (line, number) in text.lines().zip(1..) {
        let magic = other_language || continued || is_magic(line);
        continued = magic && line.trim_end().ends_with('\\');
        // Writing to a string does not fail.
        let _ = if magic {
            writeln!(notebook.source, "{}", silenced(line))
        } else {
            writeln!(notebook.source, "{line}")
        };
        notebook.lines.push(Position { cell, line: number });
    }
}

/// Whether the first line of a cell says that it is not Python.
fn foreign(line: &str) -> bool {
    let Some(magic) = line.trim_start().strip_prefix("%%") else { return false };
    let name = magic.split_whitespace().next().unwrap_or_default();
    !matches!(name, "time" | "timeit" | "capture" | "prun")
}

fn is_magic(line: &str) -> bool {
    let code = line.trim();
    let shell_value = code.split_once('=').is_some_and(|(name, value)| {
        let value = value.trim_start();
        name.trim().chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            && (value.starts_with('!') || value.starts_with('%'))
    });
    code.starts_with(['%', '!', '?']) || (code.ends_with('?') && !code.starts_with('#')) || shell_value
}

/// A line that does nothing, with the same indentation.
fn silenced(line: &str) -> String {
    let code = line.trim_start();
    let indent = &line[..line.len() - code.len()];
    format!("{indent}pass  # {code}")
}
