//! A case of the corpus: the files of a data folder, the options, and what is right.
//!
//! A file `NAME.input` begins with a sentence. Sections follow, each below a line that begins with `--- `:
//!
//! - `FILE ROWS WORDS`: a file of the folder `data`. With rows such as `0..60`, the first line is the header, and the other
//!   lines are written in turn, one for each row. In `{n*7%13+5}` and `{n:4}`, `n` is the number of the row; operators count
//!   from left to right, and the last number is that of digits. Further words say how the file is written, see [`super::files`].
//! - `like NAME`: the files of another case that this one does not have. Below it, `write FILE NAME WORDS` gives one of them
//!   another name or form, `in FILE` has lines `OLD => NEW` with what is replaced in it (`\0` is the character NUL), and `FILE none` leaves it out.
//! - `options`: what stands behind `run` and `init`; otherwise the folder alone.
//! - `right`: a line for each fact, see [`super::fact`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A file of the data folder.
#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    /// The text, for a table with a header and rows.
    pub text: String,
    /// How it is written.
    pub words: Vec<String>,
}

/// An input and what is right for it.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub files: Vec<File>,
    pub options: String,
    /// Kind and text of each fact.
    pub right: Vec<(String, String)>,
}

/// All cases by name.
pub fn all() -> BTreeMap<String, Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let texts: BTreeMap<String, String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect();
    texts.keys().map(|name| (name.clone(), case(name, &texts))).collect()
}

fn case(name: &str, texts: &BTreeMap<String, String>) -> Case {
    let mut case =
        Case { name: name.to_owned(), files: Vec::new(), options: "data".to_owned(), right: Vec::new() };
    for section in texts[name].split("\n--- ").skip(1) {
        let (head, body) = section.split_once('\n').unwrap_or((section, ""));
        let body =
            if body.is_empty() || body.ends_with('\n') { body.to_owned() } else { format!("{body}\n") };
        let words: Vec<&str> = head.split_whitespace().collect();
        match words[..] {
            ["like", other] => case.files = self::case(other, texts).files,
            ["write", old, new, ..] => {
                let file = case.files.iter_mut().find(|file| file.name == old).unwrap();
                (file.name, file.words) = (new.to_owned(), owned(&words[3..]));
            }
            ["in", changed] => {
                let file = case.files.iter_mut().find(|file| file.name == changed).unwrap();
                for line in body.lines() {
                    let (old, new) = line.split_once(" => ").unwrap();
                    assert!(file.text.contains(old), "{name}: nothing is {old}");
                    file.text = file.text.replace(old, &new.replace("\\0", "\0"));
                }
            }
            ["options"] => case.options = body.trim().to_owned(),
            ["right"] => case.right = body.lines().map(|line| fact(name, line)).collect(),
            [file, ..] => {
                case.files.retain(|other| other.name != file);
                case.files.extend(self::file(name, &words, &body));
            }
            [] => panic!("{name}: a section without a name"),
        }
    }
    assert!(!case.right.is_empty(), "{name}: nothing is right");
    case
}

/// The file of a section, unless there is to be none.
fn file(case: &str, words: &[&str], body: &str) -> Option<File> {
    let new =
        |text: String, words: &[&str]| File { name: words[0].to_owned(), text, words: owned(&words[1..]) };
    match words[1..] {
        ["none"] => None,
        [rows, ..] if rows.contains("..") => {
            let file = new(table(body, rows, case), words);
            Some(File { words: file.words[1..].to_vec(), ..file })
        }
        _ => Some(new(body.to_owned(), words)),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn fact(name: &str, line: &str) -> (String, String) {
    let (kind, text) = line.split_once(": ").unwrap_or_else(|| panic!("{name}: no fact: {line}"));
    (kind.to_owned(), text.to_owned())
}

/// A header, and a line for each of the rows.
fn table(body: &str, rows: &str, name: &str) -> String {
    let (from, to) = rows.split_once("..").unwrap();
    let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
    let lines: Vec<&str> = body.lines().collect();
    let [header, patterns @ ..] = lines.as_slice() else { panic!("{name}: a table without a header") };
    let row = |row: usize| format!("{}\n", filled(patterns[row % patterns.len()], row));
    std::iter::once(format!("{header}\n")).chain((from..to).map(row)).collect()
}

/// A line in which terms in braces are computed.
fn filled(pattern: &str, row: usize) -> String {
    let mut parts = pattern.split("{n");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (term, rest) = part.split_once('}').unwrap();
        text.push_str(&computed(term, row));
        text.push_str(rest);
    }
    text
}

fn computed(term: &str, row: usize) -> String {
    let (mut term, digits) = term.split_once(':').unwrap_or((term, "0"));
    let mut value = row;
    while let Some(operator) = term.chars().next() {
        let end = term[1..].find(|letter: char| !letter.is_ascii_digit()).map_or(term.len(), |at| at + 1);
        let number: usize = term[1..end].parse().unwrap();
        value = match operator {
            '+' => value + number,
            '-' => value - number,
            '*' => value * number,
            '/' => value / number,
            _ => value % number,
        };
        term = &term[end..];
    }
    format!("{value:0width$}", width = digits.parse::<usize>().unwrap())
}
