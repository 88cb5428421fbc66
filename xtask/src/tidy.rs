//! Rules that no compiler checks: file sizes, and documents that name only what exists.

mod book;
mod documents;

use std::fs;
use std::path::{Path, PathBuf};

use crate::campaigns;
use crate::files::files;

/// Lines that a source file may have.
const LONGEST_FILE: usize = 600;
/// The only exception: the worker must be a single file, because scripts would see whatever else it imports.
const LONGER_FILE: (&str, usize) = ("python/worker.py", 800);

/// All violations, one line each.
pub fn findings(root: &Path) -> Vec<String> {
    let sources = sources(root);
    let mut findings = long_files(root);
    findings.extend(documents::findings(root, &sources));
    findings.extend(book::findings(root, &sources));
    findings.extend(campaigns::findings(root));
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
    let written = [sources(root), code(root, "py")].concat();
    written.iter().filter_map(|file| too_long(root, file)).collect()
}

fn too_long(root: &Path, file: &Path) -> Option<String> {
    let lines = read(file).lines().count();
    let shown = file.strip_prefix(root).unwrap_or(file);
    let (longer, its_limit) = LONGER_FILE;
    let limit = if shown.ends_with(longer) { its_limit } else { LONGEST_FILE };
    (lines > limit).then(|| format!("{}: {lines} lines; split it before {limit}", shown.display()))
}

/// Every Rust file of the workspace.
fn sources(root: &Path) -> Vec<PathBuf> {
    code(root, "rs")
}

fn code(root: &Path, ending: &str) -> Vec<PathBuf> {
    ["crates", "lab", "python", "xtask"].iter().flat_map(|folder| files(&root.join(folder), ending)).collect()
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
        let name = format!("crates/x/{name}");
        check(&name, limit, false);
        check(&name, limit + 1, true);
    }
}
