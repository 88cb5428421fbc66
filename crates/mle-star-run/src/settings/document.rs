//! Reads YAML files, JSON among them, and TOML files, with line and column of each key.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use serde_json::{Map, Value};

/// A file of settings.
#[derive(Clone, Debug)]
pub struct Document {
    /// The path of the file.
    pub path: PathBuf,
    /// The values of the top-level keys.
    pub values: Map<String, Value>,
    text: String,
}

impl Document {
    /// Reads a `.toml` file as TOML and any other as YAML.
    ///
    /// # Errors
    /// The file cannot be read or parsed; the message has file, line and column.
    pub fn read(path: &Path) -> Result<Self, Trouble> {
        let text = read_text(path)?;
        let values =
            if has_ending(path, "toml") { parse_toml(path, &text)? } else { parse_yaml(path, &text)? };
        Ok(Self { path: path.to_owned(), values, text })
    }

    /// File, line and column of a key, given as a path of keys: `config.yaml:3:1`.
    pub fn position(&self, keys: &[&str]) -> String {
        let (line, column) = position(&self.text, keys);
        at(&self.path, line, column)
    }

    /// The folder that relative paths in this file start from.
    pub fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
    }
}

/// A position in a file, counted from 1.
fn at(file: &Path, line: impl fmt::Display, column: impl fmt::Display) -> String {
    format!("{}:{line}:{column}", file.display())
}

/// Reads any value, also a list: `.toml` as TOML, `.json` as JSON, any other as YAML.
///
/// # Errors
/// The file cannot be read or parsed.
pub fn read_value(path: &Path) -> Result<Value, Trouble> {
    let text = read_text(path)?;
    match path {
        path if has_ending(path, "toml") => parse_toml(path, &text).map(Value::Object),
        path if has_ending(path, "json") => parse_json(path, &text),
        path => parse_yaml_value(path, &text),
    }
}

/// Parses a value as in a YAML file: `3`, `true`, `[a, b]`, else a text.
pub fn parse_value(text: &str) -> Value {
    yaml(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn yaml(text: &str) -> Result<Value, serde_saphyr::Error> {
    // Only `true` and `false` are booleans: `network: off` is a text.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options)
}

fn read_text(path: &Path) -> Result<String, Trouble> {
    fs::read_to_string(path).map_err(|error| {
        let message = format!("cannot read {}: {error}", path.display());
        Trouble::new(message, "check the path and its permissions")
    })
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn parse_yaml(path: &Path, text: &str) -> Result<Map<String, Value>, Trouble> {
    match parse_yaml_value(path, text)? {
        Value::Object(values) => Ok(values),
        Value::Null => Ok(Map::new()),
        _ => {
            let message = format!("{}:1:1: expected `key: value` lines", path.display());
            Err(Trouble::new(message, "write one `key: value` per line"))
        }
    }
}

fn parse_yaml_value(path: &Path, text: &str) -> Result<Value, Trouble> {
    // The parser takes tabs for spaces. JSON may have them.
    let tab = text.lines().position(|line| line.starts_with('\t'));
    if let Some(line) = tab.filter(|_| !has_ending(path, "json")) {
        let at = at(path, line + 1, 1);
        return Err(Trouble::new(
            format!("{at}: a tab in the indentation"),
            "YAML requires spaces for indentation; replace the tab",
        ));
    }
    yaml(text).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
        let at = at(path, line, column);
        let message = error.without_snippet().to_string();
        let first = message.lines().next().unwrap_or("not YAML").to_owned();
        Trouble::new(format!("{at}: {first}"), "fix the file; it must be YAML with one `key: value` per line")
    })
}

fn parse_json(path: &Path, text: &str) -> Result<Value, Trouble> {
    serde_json::from_str(text).map_err(|error| {
        let at = at(path, error.line(), error.column());
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        Trouble::new(format!("{at}: {what}"), "fix the file; it must be JSON")
    })
}

fn parse_toml(path: &Path, text: &str) -> Result<Map<String, Value>, Trouble> {
    toml::from_str::<Map<String, Value>>(text).map_err(|error| {
        let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let at = at(path, line, column);
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        Trouble::new(
            format!("{at}: {message}"),
            "fix the file; it must be TOML with one `key = value` per line",
        )
    })
}

/// Line and column of the last of `keys`, searched for after those before it; 1, 1 if it is not found.
fn position(text: &str, keys: &[&str]) -> (usize, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = (0, 0);
    for key in keys {
        let below = lines.iter().enumerate().skip(found.0);
        let hits: Vec<(usize, usize)> =
            below.filter_map(|(number, line)| Some((number, key_column(line, key)?))).collect();
        // The leftmost match is the key; others may be words inside a text.
        found = hits.into_iter().min_by_key(|(number, column)| (*column, *number)).unwrap_or(found);
    }
    (found.0 + 1, found.1 + 1)
}

fn key_column(line: &str, key: &str) -> Option<usize> {
    let is_end = |rest: &str| rest.trim_start_matches(['"', '\'']).trim_start().starts_with([':', '=', ']']);
    let starts = |before: &str| before.chars().next_back().is_none_or(|c| " \t\"'[{,.".contains(c));
    let mut hits = line.match_indices(key);
    let at = hits.find(|(at, _)| starts(&line[..*at]) && is_end(&line[at + key.len()..]))?.0;
    Some(line[..at].chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Document, Trouble> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        Document::read(&path)
    }

    #[test]
    fn yaml_and_toml_are_equivalent() {
        let check = |name: &str, text: &str| {
            let document = read(name, text).unwrap();
            let expected = serde_json::json!({"a": 1, "network": "off", "b": {"c": "x"}});
            assert_eq!(Value::Object(document.values), expected, "{name}");
        };
        check("c.yaml", "a: 1\nnetwork: off\nb:\n  c: x\n");
        check("c.toml", "a = 1\nnetwork = \"off\"\n[b]\nc = \"x\"\n");
        check("c.json", "{\n\t\"a\": 1,\n\t\"network\": \"off\",\n\t\"b\": {\n\t\t\"c\": \"x\"\n\t}\n}\n");
        assert_eq!(read("c.yaml", "# nothing\n").unwrap().values.len(), 0);
    }

    #[test]
    fn mistakes_have_file_line_and_column() {
        let check = |name: &str, text: &str, place: &str| {
            let trouble = read(name, text).unwrap_err();
            assert!(trouble.message.contains(&format!("{name}:{place}")), "{trouble}");
        };
        check("c.yaml", "a: 1\n\tb: 2\n", "2:1");
        check("c.yaml", "a:\n  x: 1\n  \ty: 2\n", "2:6");
        check("c.yaml", "a: [1\nb: 2\n", "");
        check("c.yaml", "- a\n", "1:1");
        check("c.yaml", "a: 1\na: 2\n", "2:");
        check("c.toml", "a = 1\nb = \n", "2:");
        read("c.yaml", "text: |\n  code\n  \tindented by a tab\nb: 1\n").unwrap();
        read("c.yaml", "texts:\n  - |\n    def f():\n    \treturn 1\n").unwrap();
        read("c.yaml", "text: >-  # a note\n  one\n  \ttwo\n").unwrap();
    }
}
