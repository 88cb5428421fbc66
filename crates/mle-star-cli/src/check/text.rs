//! The text of scripts and notebooks.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use encoding_rs::{Encoding, UTF_8};
use mle_star_domain::trouble::Trouble;
use mle_star_leakage::notebook::{self, Notebook, Position};
use mle_star_leakage::{Finding, Unreadable};

use super::files::{Input, is_notebook};

/// The largest file that is read, in bytes. Notebooks hold pictures.
const LARGEST: u64 = 256 << 20;

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
/// It does not exist, cannot be read, or is no text.
pub fn read(input: &Input) -> Result<Code, Trouble> {
    let bytes = match input {
        Input::Nothing(_, trouble) => return Err(trouble.clone()),
        Input::Stdin => all_of(io::stdin().lock(), input),
        Input::File(path) => all_of(open(path)?, input),
    }?;
    let in_notebook = match input {
        Input::File(path) => is_notebook(path),
        // A script rarely begins with a brace, a notebook always.
        _ => bytes.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Object>(&bytes).is_ok(),
    };
    if in_notebook { of_notebook(&bytes, input) } else { of_script(&bytes, input) }
}

/// What to do about a source that cannot be checked.
pub fn hint(error: &Unreadable) -> &'static str {
    match error {
        Unreadable::Syntax { .. } => "correct the syntax; only Python 3 can be checked",
        Unreadable::Python2 { .. } => "convert the script to Python 3",
        Unreadable::TooDeep { .. } => "split the statement",
        Unreadable::TooLarge { .. } => "split the script, or keep data in files",
        Unreadable::Defect => "this is a bug in mle-star; please report it with the file",
        Unreadable::Notebook { .. } => "save it again with Jupyter",
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

    /// A text about lines of the source, with the notebook's cells and lines instead if it is one.
    pub fn in_cells(&self, text: &str) -> String {
        let in_cell = |line: u32| {
            let Position { cell, line } = self.position(line)?;
            Some(format!("line {line} of cell {cell}"))
        };
        let mut words = String::new();
        for part in parts(text) {
            match part {
                Part::Words(part) => words.push_str(part),
                Part::Line(line) => {
                    words.push_str(&in_cell(line).unwrap_or_else(|| format!("line {line}")));
                }
            }
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

fn all_of(source: impl Read, input: &Input) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(input, &error))?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("{input} is larger than {} MiB", LARGEST >> 20);
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

fn of_notebook(bytes: &[u8], input: &Input) -> Result<Code, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let json = std::str::from_utf8(bytes).map_err(|_| {
        Trouble::new(format!("cannot check {input}: it is not UTF-8"), "save it again with Jupyter")
    })?;
    let notebook = notebook::read(json)
        .map_err(|error| Trouble::new(format!("cannot check {input}: {error}"), hint(&error)))?;
    Ok(Code { source: notebook.source.clone(), notebook: Some(notebook) })
}

fn of_script(bytes: &[u8], input: &Input) -> Result<Code, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match named_encoding(bytes) {
        Some(name) => decoded(bytes, &name, input)?,
        None => Cow::Borrowed(utf8(bytes, input)?),
    };
    let source =
        if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.into_owned() };
    Ok(Code { source, notebook: None })
}

fn utf8<'a>(bytes: &'a [u8], input: &Input) -> Result<&'a str, Trouble> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Trouble::new(
            format!("cannot check {input}: line {line} is not UTF-8"),
            "save it as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-",
        )
    })
}

fn decoded<'a>(bytes: &'a [u8], name: &str, input: &Input) -> Result<Cow<'a, str>, Trouble> {
    let Some(encoding) = encoding(name) else {
        let message = format!("cannot check {input}: the encoding {name} is not known");
        return Err(Trouble::new(message, "save it as UTF-8"));
    };
    if encoding == UTF_8 {
        return utf8(bytes, input).map(Cow::Borrowed);
    }
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    text.ok_or_else(|| {
        let message = format!("cannot check {input}: it is not in {name}, which its first lines name");
        Trouble::new(message, "correct the name, or save it as UTF-8")
    })
}

/// The encoding with this name in Python, which allows more spellings than the web.
fn encoding(name: &str) -> Option<&'static Encoding> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let spelled = match name.trim_end_matches("-unix").trim_end_matches("-dos") {
        "utf8" | "utf-8-sig" => "utf-8",
        "latin-1" | "iso-latin-1" | "l1" => "latin1",
        "cp932" | "ms932" => "shift_jis",
        "euc-jp" | "eucjp" => "euc-jp",
        "cp949" => "euc-kr",
        "cp936" => "gbk",
        "cp950" => "big5",
        other => other,
    };
    Encoding::for_label(spelled.as_bytes())
}

/// The encoding that a comment in the first two lines names (PEP 263).
fn named_encoding(bytes: &[u8]) -> Option<String> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut lines = lines.flat_map(|line| line.split(|byte| *byte == b'\r'));
    let first = lines.next()?;
    let is_comment = |line: &[u8]| {
        let code = line.trim_ascii_start();
        code.is_empty() || code.starts_with(b"#")
    };
    of_comment(first).or_else(|| lines.next().filter(|_| is_comment(first)).and_then(of_comment))
}

fn of_comment(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii_start();
    let text = String::from_utf8_lossy(line.strip_prefix(b"#")?).into_owned();
    text.match_indices("coding").find_map(|(at, word)| {
        let value = text[at + word.len()..].strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let end = value.find(|c: char| !is_of_name(c)).unwrap_or(value.len());
        (end > 0).then(|| value[..end].to_owned())
    })
}
