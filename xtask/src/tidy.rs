//! What compilers do not check: crate boundaries, file sizes, documents that name what exists.

mod boundaries;
mod documents;
mod http;

use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a source file may have.
const LONGEST_FILE: usize = 600;
/// The one file with a limit of its own: Python imports it under a name that must be one file, before any other can be
/// imported without scripts seeing it.
const LONGER_FILE: (&str, usize) = ("crates/mle-star-process/python/worker.py", 800);

/// Everything that is not tidy, one line each.
pub fn findings(root: &Path) -> Vec<String> {
    let sources = sources(root);
    let mut findings = long_files(root);
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

fn long_files(root: &Path) -> Vec<String> {
    let written = [sources(root), files(root, "py")].concat();
    written.iter().filter_map(|file| too_long(root, file)).collect()
}

fn too_long(root: &Path, file: &Path) -> Option<String> {
    let lines = read(file).lines().count();
    let shown = file.strip_prefix(root).unwrap_or(file);
    let (longer, its_limit) = LONGER_FILE;
    let limit = if shown == Path::new(longer) { its_limit } else { LONGEST_FILE };
    (lines > limit).then(|| format!("{}: {lines} lines; split it before {limit}", shown.display()))
}

/// Every Rust file of the workspace.
fn sources(root: &Path) -> Vec<PathBuf> {
    files(root, "rs")
}

/// Every file of the workspace's code with this ending.
fn files(root: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "xtask"] {
        walk(&root.join(folder), &mut found);
    }
    found.retain(|file| file.extension().is_some_and(|found| found == ending));
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
        let check = |name: &str, lines: usize, expected: bool| {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "x\n".repeat(lines)).unwrap();
            let found = long_files(dir.path()).iter().any(|finding| finding.contains(name));
            assert_eq!(found, expected, "{name} {lines}");
            fs::remove_file(file).unwrap();
        };
        for name in ["crates/x/long.rs", "crates/x/long.py", "xtask/long.rs"] {
            check(name, LONGEST_FILE, false);
            check(name, LONGEST_FILE + 1, true);
        }
        check("crates/x/long.txt", LONGEST_FILE + 1, false);
        let (name, limit) = LONGER_FILE;
        check(name, limit, false);
        check(name, limit + 1, true);
    }
}
