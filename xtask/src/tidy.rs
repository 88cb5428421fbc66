//! What compilers do not check: crate boundaries, file sizes, documents that name what exists.

mod boundaries;
mod documents;
mod http;

use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a source file may have.
const LONGEST_FILE: usize = 600;

/// Everything that is not tidy, one line each.
pub fn findings(root: &Path) -> Vec<String> {
    let sources = sources(root);
    let mut findings: Vec<String> = sources.iter().filter_map(|file| too_long(root, file)).collect();
    findings.extend(boundaries::findings(root));
    findings.extend(documents::findings(root, &sources));
    findings.extend(http::findings());
    findings
}

/// Is there an example in a doc comment that the compiler could run?
pub fn has_doc_tests(root: &Path) -> bool {
    let opens_block = |line: &str| {
        let line = line.trim_start();
        line.starts_with("/// ```") || line.starts_with("//! ```")
    };
    sources(root).iter().any(|file| read(file).lines().any(opens_block))
}

fn too_long(root: &Path, file: &Path) -> Option<String> {
    let lines = read(file).lines().count();
    let shown = file.strip_prefix(root).unwrap_or(file).display();
    (lines > LONGEST_FILE).then(|| format!("{shown}: {lines} lines; split it before {LONGEST_FILE}"))
}

/// Every Rust file of the workspace.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "xtask"] {
        walk(&root.join(folder), &mut found);
    }
    found.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    found
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                walk(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("long.rs");
        let check = |lines: usize, expected: bool| {
            fs::write(&file, "x\n".repeat(lines)).unwrap();
            assert_eq!(too_long(dir.path(), &file).is_some(), expected);
        };
        check(LONGEST_FILE, false);
        check(LONGEST_FILE + 1, true);
    }
}
