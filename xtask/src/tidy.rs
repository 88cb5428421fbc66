//! Rules that no compiler checks: documents name only what exists.

mod book;
mod documents;

use std::path::{Path, PathBuf};

use crate::files::files;

/// All violations, one line each.
pub fn findings(root: &Path) -> Vec<String> {
    let folders = ["crates", "lab", "python", "xtask"].map(|folder| root.join(folder));
    let sources: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder, "rs")).collect();
    [documents::findings(root, &sources), book::findings(root, &sources)].concat()
}
