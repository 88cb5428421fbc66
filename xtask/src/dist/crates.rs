//! The crates, as they would be published: each is built from its package alone.

use std::fs;
use std::path::{Path, PathBuf};

use super::version;
use crate::command::{cargo, root, succeeds};

/// Packages all crates and builds each of them from its package and those of the others.
///
/// # Errors
/// A crate lacks a file, a version or a dependency; the reason was printed.
pub fn package() -> Result<Vec<PathBuf>, String> {
    // Uncommitted changes are what is being checked; `release` refuses them.
    if !succeeds(cargo("package --workspace --exclude xtask --locked --allow-dirty --quiet")) {
        return Err("the crates cannot be built from their packages".to_owned());
    }
    let end = format!("-{}.crate", version::of_workspace());
    let packages = files(&root().join("target/package"), &end)?;
    let expected = fs::read_dir(root().join("crates")).map_err(|error| format!("crates: {error}"))?.count();
    if packages.len() == expected {
        Ok(packages)
    } else {
        Err(format!("{} of {expected} crates were packaged", packages.len()))
    }
}

/// The files of a folder whose names end so, sorted.
pub fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    found.sort();
    Ok(found)
}
