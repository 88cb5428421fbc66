//! Reads scripts and notebooks to check, and maps source lines to notebook cells.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use mle_star_domain::trouble::Trouble;
use mle_star_leakage::notebook::{self, Notebook, Position};
use mle_star_leakage::{Finding, Unreadable};

use super::files::{Input, is_notebook};

/// The largest file that is read, in bytes. Notebooks hold pictures.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Python code, ready to be checked.
#[derive(Debug, Default)]
pub struct Code {
    /// The source. Its lines end with line feeds.
    pub source: String,
    /// Where its lines are in the notebook, if it is one.
    notebook: Option<Notebook>,
}

/// Where a finding is, as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The cell of a notebook, from 1.
    pub cell: Option<u32>,
    /// The first line, from 1; in its cell, if there is one.
    pub line: u32,
    /// The last line in the same cell.
    pub end_line: u32,
}

/// Reads an input.
///
/// # Errors
/// It does not exist, cannot be read, or is no notebook although it is called one.
pub fn read(input: &Input) -> Result<Code, Trouble> {
    let bytes = match input {
        Input::Nothing(_, trouble) => return Err(trouble.clone()),
        Input::Stdin => read_limited(io::stdin().lock(), input),
        Input::File(path) => read_limited(open(path)?, input),
    }?;
    let in_notebook = match input {
        Input::File(path) => is_notebook(path),
        // A script rarely begins with a brace, a notebook always.
        _ => bytes.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Object>(&bytes).is_ok(),
    };
    if in_notebook { read_notebook(&bytes, input) } else { Ok(read_script(&bytes)) }
}

/// What to do about a source that cannot be checked.
pub fn hint(error: &Unreadable) -> &'static str {
    match error {
        Unreadable::Syntax { .. } => "correct the syntax; only Python 3 can be checked",
        Unreadable::Python2 { .. } => "convert the script to Python 3",
        Unreadable::TooDeep => "split the statement",
        Unreadable::TooLarge { .. } => "split the script, or keep data in files",
        Unreadable::Defect => "this is a bug in mle-star; please report it with the file",
        Unreadable::Notebook { .. } => "only notebooks of Jupyter with Python 3 can be checked",
    }
}

impl Code {
    /// Where a finding is.
    pub fn span(&self, finding: &Finding) -> Span {
        let whole = Span { cell: None, line: finding.line, end_line: finding.end_line.max(finding.line) };
        let Some(Position { cell, line }) = self.position(finding.line) else { return whole };
        let is_inside = |at: &u32| self.position(*at).is_some_and(|position| position.cell == cell);
        let end = (finding.line..=whole.end_line).take_while(is_inside).last().unwrap_or(finding.line);
        Span { cell: Some(cell), line, end_line: line + (end - finding.line) }
    }

    /// Where a line of the source is in the notebook; `None` for a script.
    pub fn position(&self, line: u32) -> Option<Position> {
        self.notebook.as_ref()?.position(line)
    }

    /// The cells of a notebook that cannot be parsed, and why.
    pub fn unparsable_cells(&self) -> &[(u32, Unreadable)] {
        self.notebook.as_ref().map_or(&[], |notebook| &notebook.left_out)
    }

    /// A text about lines of the source, with the notebook's cells and lines instead if it is one.
    pub fn in_cells(&self, text: &str) -> String {
        let mut words = String::new();
        for part in parts(text) {
            words += &match part {
                Part::Words(part) => part.to_owned(),
                Part::Line(line) => match self.position(line) {
                    Some(Position { cell, line }) => format!("line {line} of cell {cell}"),
                    None => format!("line {line}"),
                },
            };
        }
        words
    }
}

/// The lines of the source that a text names.
pub fn lines_named(text: &str) -> impl Iterator<Item = u32> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Line(line) => Some(line),
        Part::Words(_) => None,
    })
}

/// A part of a text.
enum Part<'a> {
    Words(&'a str),
    /// `line 7`
    Line(u32),
}

/// Divides a text where it names a line. What is in backticks was quoted and names none.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for (index, piece) in text.split_inclusive('`').enumerate() {
        let mut rest = piece;
        while let Some((before, line, after)) = next_line(rest).filter(|_| index % 2 == 0) {
            parts.extend([Part::Words(before), Part::Line(line)]);
            rest = after;
        }
        parts.push(Part::Words(rest));
    }
    parts
}

/// The text before the first `line 7`, the line, and the text after it.
fn next_line(text: &str) -> Option<(&str, u32, &str)> {
    const WORD: &str = "line ";
    text.match_indices(WORD).find_map(|(at, _)| {
        let (before, number) = (&text[..at], &text[at + WORD.len()..]);
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let is_word = !before.ends_with(char::is_alphanumeric);
        let line = number[..end].parse().ok().filter(|_| is_word)?;
        Some((before, line, &number[end..]))
    })
}

/// A JSON object of any content.
#[derive(serde::Deserialize)]
struct Object {}

fn open(path: &Path) -> Result<File, Trouble> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Trouble::new(
            format!("no such file or folder: {}", path.display()),
            "name scripts, notebooks or folders with them",
        ),
        _ => unreadable(&path.display(), &error),
    })
}

fn read_limited(source: impl Read, input: &Input) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    source.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(input, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!("{input} is larger than {} MiB", MAX_FILE_BYTES >> 20);
        return Err(Trouble::new(
            message,
            "name scripts and notebooks only, or clear the notebook's outputs",
        ));
    }
    Ok(bytes)
}

fn unreadable(name: &dyn std::fmt::Display, error: &io::Error) -> Trouble {
    Trouble::new(format!("cannot read {name}: {error}"), "check its permissions")
}

fn read_notebook(bytes: &[u8], input: &Input) -> Result<Code, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let json = std::str::from_utf8(bytes).map_err(|_| {
        Trouble::new(format!("cannot check {input}: it is not UTF-8"), "save it again with Jupyter")
    })?;
    let notebook = notebook::read(json)
        .map_err(|error| Trouble::new(format!("cannot check {input}: {error}"), hint(&error)))?;
    Ok(Code { source: notebook.source.clone(), notebook: Some(notebook) })
}

/// What is not UTF-8 is read as Latin-1: findings are about code, and other letters stand in texts and comments.
fn read_script(bytes: &[u8]) -> Code {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let latin_1 = || bytes.iter().map(|byte| char::from(*byte)).collect();
    let text = std::str::from_utf8(bytes).map_or_else(|_| latin_1(), str::to_owned);
    Code { source: text.replace("\r\n", "\n").replace('\r', "\n"), notebook: None }
}
