//! Notebooks: the code cells of an `.ipynb` file as one source.

use serde_json::Value;

use crate::source;
use crate::unreadable::Unreadable;

/// Magics that say that a cell is in another language, or is written to a file.
const FOREIGN: &str = "! ai bash bigquery cmd configure cpp cu cython file fortran fs html javascript js julia kql latex \
    local markdown md mermaid octave perl powershell pwsh python2 r ruby rust scala script sh shell spark sparksql sql \
    stata svg sx system typescript writefile";
/// Commands that IPython runs without a sign, if the line is not Python.
const AUTOMAGIC: &str = "alias autoreload bookmark cat cd clear colors conda config cp debug dirs echo edit env history \
    ldir lf lk ll load load_ext ls lsmagic lx mamba man matplotlib micromamba mkdir more mv notebook page pip popd precision \
    prun pushd pwd pycat pylab reload_ext rep reset rm rmdir run save set_env store sx system time timeit unalias \
    unload_ext uv who who_ls whos xdel xmode";

/// What doctest writes before the lines of an example.
const PROMPTS: [&str; 4] = [">>> ", "... ", ">>>", "..."];

/// The code of a notebook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notebook {
    /// All cells of Python, one after the other.
    pub source: String,
    /// The cells that cannot be parsed, and why.
    pub left_out: Vec<(u32, Unreadable)>,
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
/// Fails if the text is no notebook, or if no cell of its code can be read.
pub fn read(json: &str) -> Result<Notebook, Unreadable> {
    let wrong = |message: String| Unreadable::Notebook { message };
    let document: Value = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    // In format 3, cells are on worksheets.
    let cells = document.get("cells").or_else(|| document.pointer("/worksheets/0/cells"));
    let cells = cells.and_then(Value::as_array).ok_or_else(|| wrong("it has no list of cells".to_owned()))?;
    let language = ["/metadata/language_info/name", "/metadata/kernelspec/language"];
    let language = language.iter().find_map(|path| document.pointer(path)?.as_str());
    if let Some(other) = language.filter(|name| !name.is_empty() && !name.to_lowercase().contains("py")) {
        return Err(wrong(format!("its language is {other}")));
    }
    let mut notebook = Notebook::default();
    let mut others = 0;
    for (cell, number) in cells.iter().zip(1..) {
        match python(cell) {
            Ok(code) => {
                for (line, number_in_cell) in code.lines().zip(1..) {
                    notebook.source.extend([line, "\n"]);
                    notebook.lines.push(Position { cell: number, line: number_in_cell });
                }
            }
            Err(Some(why)) => notebook.left_out.push((number, why)),
            Err(None) => others += 1,
        }
    }
    match notebook.left_out.first() {
        _ if !notebook.lines.is_empty() => Ok(notebook),
        Some((cell, why)) => Err(wrong(format!("in cell {cell}, {why}"))),
        None if others > 0 => Err(wrong("no cell is in Python".to_owned())),
        None => Ok(notebook),
    }
}

/// The Python of a cell, which a cell of text has none of. Fails without a reason for other languages.
fn python(cell: &Value) -> Result<String, Option<Unreadable>> {
    if cell.get("cell_type").and_then(Value::as_str) != Some("code") {
        return Ok(String::new());
    }
    let text = text(cell);
    let magics = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let magics = magics.take_while(|line| line.starts_with('%'));
    let is_foreign = |sign: &str| magics.clone().any(|line| line.starts_with(sign) && begins(line, FOREIGN));
    let language = cell.pointer("/metadata/vscode/languageId");
    if language.is_some_and(|language| language != "python") || is_foreign("%%") {
        return Err(None);
    }
    let parsed = source::parse(&text);
    let Err(why) = parsed else { return Ok(text) };
    let mended = mended(&text);
    match source::parse(&mended) {
        Ok(_) => Ok(mended),
        // Databricks has magics of cells with one sign.
        Err(_) => Err(Some(why).filter(|_| !is_foreign("%"))),
    }
}

fn text(cell: &Value) -> String {
    let text: String = match cell.get("source").or_else(|| cell.get("input")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    };
    let text = text.replace('\u{feff}', "").replace("\r\n", "\n").replace('\r', "\n");
    // A last line that goes on would take in the next cell.
    text.trim_end().trim_end_matches('\\').to_owned()
}

/// The text as IPython mends it: without prompts and the indentation of the first line, and with the signs of commands and
/// questions where a line is not Python without them.
fn mended(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let indent = &first[..first.len() - first.trim_start().len()];
    let mended = |line: &str| {
        let line = line.strip_prefix(indent).unwrap_or(line);
        let line = PROMPTS.iter().find_map(|prompt| line.strip_prefix(prompt)).unwrap_or(line);
        let code = line.trim();
        let is_assigned = code.split_whitespace().nth(1).is_some_and(|sign| sign.ends_with('='));
        let sign = match code {
            _ if begins(code, AUTOMAGIC) && !is_assigned => "%",
            _ if code.ends_with('?') && !code.contains(['"', '\'']) => "?",
            _ => "",
        };
        let is_python = sign.is_empty() || source::parse(code).is_ok();
        if is_python { format!("{line}\n") } else { line.replacen(code, &format!("{sign}{code}\n"), 1) }
    };
    text.lines().map(mended).collect()
}

/// Whether the first word of a line, after its signs, is one of these.
fn begins(line: &str, words: &str) -> bool {
    let name = line.trim_start_matches('%').split_whitespace().next();
    name.is_some_and(|name| words.split_whitespace().any(|word| word.eq_ignore_ascii_case(name)))
}
