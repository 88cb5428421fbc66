//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder, or the file itself, in order, without links: those with this ending, or all where it is empty.
pub fn files(path: &Path, ending: &str) -> Vec<PathBuf> {
    if path.is_file() {
        let fits = ending.is_empty() || path.extension().is_some_and(|found| found == ending);
        return if fits { vec![path.to_owned()] } else { Vec::new() };
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.retain(|entry| entry.file_name().is_none_or(|name| name != "target" && name != "__pycache__"));
    // What a link leads to is counted where it is.
    entries.retain(|entry| !entry.is_symlink());
    entries.sort();
    entries.iter().flat_map(|entry| files(entry, ending)).collect()
}
