//! The budget of each crate and package, `xtask/budget.toml`: production lines, which may fall and not rise.
//!
//! A line counts if it is neither blank nor a comment. Tests are counted apart: whatever lies below `tests`, `examples`,
//! `benches` or `testing`, files called `tests.rs`, and items under `#[cfg(test)]`. A corpus is data and does not count.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::command::{root, say};
use crate::files::files;

const FILE: &str = "xtask/budget.toml";

/// A row: what is allowed, and where the design wants to be.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Row {
    lines: usize,
    goal: usize,
}

/// Lines of production code and of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    production: usize,
    tests: usize,
}

/// Prints the table; `true` if nothing is above its row, and every crate has one.
pub fn is_kept() -> bool {
    say("--- budget");
    match rows(&root()) {
        Ok(rows) => {
            let counted = counted(&root());
            table(&rows, &counted);
            let findings = findings(&rows, &counted);
            findings.iter().for_each(|finding| say(finding));
            findings.is_empty()
        }
        Err(why) => {
            say(&why);
            false
        }
    }
}

fn rows(root: &Path) -> Result<BTreeMap<String, Row>, String> {
    let text = fs::read_to_string(root.join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    toml::from_str(&text).map_err(|error| format!("{FILE}: {error}"))
}

fn table(rows: &BTreeMap<String, Row>, counted: &BTreeMap<String, usize>) {
    say(&format!("{:<24} {:>8} {:>8} {:>8}", "", "today", "allowed", "goal"));
    let mut sums = [0; 3];
    for (name, row) in rows {
        let today = counted.get(name).copied().unwrap_or(0);
        say(&format!("{name:<24} {today:>8} {:>8} {:>8}", row.lines, row.goal));
        if name != TESTS {
            sums = [sums[0] + today, sums[1] + row.lines, sums[2] + row.goal];
        }
    }
    say(&format!("{:<24} {:>8} {:>8} {:>8}", "production", sums[0], sums[1], sums[2]));
}

fn findings(rows: &BTreeMap<String, Row>, counted: &BTreeMap<String, usize>) -> Vec<String> {
    let finding = |(name, today): (&String, &usize)| match rows.get(name) {
        Some(row) if *today > row.lines => Some(format!(
            "{name}: {today} lines, {} are allowed; cut, or raise its row in {FILE} and say why there",
            row.lines
        )),
        None if *today > 0 => Some(format!("{name} has {today} lines and no row in {FILE}")),
        _ => None,
    };
    counted.iter().filter_map(finding).collect()
}

const TESTS: &str = "tests";

/// The lines of each row.
fn counted(root: &Path) -> BTreeMap<String, usize> {
    let (mut counted, tests) = (BTreeMap::new(), test_modules(root));
    for top in ["crates", "lab", "python", "xtask", "integrations"] {
        for ending in ["rs", "py"] {
            for file in files(&root.join(top), ending) {
                let Ok(path) = file.strip_prefix(root) else { continue };
                if path.iter().any(|name| name == "corpus") {
                    continue;
                }
                let text = fs::read_to_string(&file).unwrap_or_default();
                let is_test = is_test(path) || tests.iter().any(|module| path.starts_with(module));
                let lines = if ending == "rs" { of_rust(is_test, &text) } else { of_python(is_test, &text) };
                *counted.entry(row_of(path)).or_default() += lines.production;
                *counted.entry(TESTS.to_owned()).or_default() += lines.tests;
            }
        }
    }
    counted
}

/// A crate's own name; its Python and that outside of crates have rows of their own.
fn row_of(path: &Path) -> String {
    let mut names = path.iter().map(|name| name.to_string_lossy());
    let is_python = path.extension().is_some_and(|ending| ending == "py");
    match (names.next().as_deref(), is_python, names.next()) {
        (Some("crates"), true, _) => "python in crates".to_owned(),
        (Some("crates" | "python"), _, Some(name)) => name.into_owned(),
        (top, ..) => top.unwrap_or_default().to_owned(),
    }
}

/// The files and folders of modules that are declared under `#[cfg(test)]`.
fn test_modules(root: &Path) -> Vec<PathBuf> {
    let mut modules = Vec::new();
    for file in files(&root.join("crates"), "rs") {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let path = file.strip_prefix(root).unwrap_or(&file);
        let is_root = file.file_name().is_some_and(|name| name == "lib.rs" || name == "main.rs");
        let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
        for declared in text.split("#[cfg(test)]\nmod ").skip(1) {
            if let Some((name, _)) = declared.split_once(';').filter(|(name, _)| !name.contains(' ')) {
                modules.extend([folder.join(name), folder.join(name).with_extension("rs")]);
            }
        }
    }
    modules
}

fn is_test(path: &Path) -> bool {
    let folders = ["tests", "examples", "benches", "testing"];
    let is_named = |name: &str| folders.contains(&name) || ["tests.rs", "testing.rs"].contains(&name);
    path.iter().any(|name| name.to_str().is_some_and(is_named))
}

fn of_python(is_test: bool, text: &str) -> Lines {
    let mut in_text = false;
    let counts = |line: &&str| {
        let line = line.trim();
        let marks = line.matches("\"\"\"").count();
        let was_in_text = in_text;
        in_text ^= marks == 1;
        // A docstring is a comment. One inside an expression is rare and lost.
        !line.is_empty() && !line.starts_with('#') && !was_in_text && !line.starts_with("\"\"\"")
    };
    let lines = text.lines().filter(counts).count();
    if is_test { Lines { production: 0, tests: lines } } else { Lines { production: lines, tests: 0 } }
}

fn of_rust(is_test: bool, text: &str) -> Lines {
    let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    if is_test {
        return Lines { production: 0, tests: text.lines().filter(counts).count() };
    }
    let mut lines = Lines::default();
    let mut rest = text.lines().peekable();
    while let Some(line) = rest.next() {
        if line.trim() != "#[cfg(test)]" {
            lines.production += usize::from(counts(&line));
            continue;
        }
        // rustfmt closes an item at the indentation at which it began.
        let indent = line.len() - line.trim_start().len();
        let ends = |line: &str| {
            let closes = line.trim_start().starts_with('}') || line.ends_with(';') || line.ends_with("{}");
            line.len() - line.trim_start().len() == indent && closes
        };
        lines.tests += 1;
        for line in rest.by_ref() {
            lines.tests += usize::from(counts(&line));
            if ends(line) {
                break;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_above_a_row_and_crates_without_one_are_found() {
        let text = "//! What.\n\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        let lines = of_rust(is_test(Path::new("crates/x/src/lib.rs")), text);
        assert_eq!(lines, Lines { production: 2, tests: 5 });
        assert_eq!(
            of_rust(is_test(Path::new("crates/x/tests/it.rs")), text),
            Lines { production: 0, tests: 7 }
        );
        let python = "\"\"\"What.\n\nMore.\n\"\"\"\n# why\nx = 1\n";
        assert_eq!(of_python(false, python), Lines { production: 1, tests: 0 });
        let rows = BTreeMap::from([("x".to_owned(), Row { lines: 2, goal: 1 })]);
        let check = |name: &str, today: usize, found: usize| {
            assert_eq!(
                findings(&rows, &BTreeMap::from([(name.to_owned(), today)])).len(),
                found,
                "{name} {today}"
            );
        };
        check("x", 2, 0);
        check("x", 3, 1);
        check("y", 1, 1);
    }
}
