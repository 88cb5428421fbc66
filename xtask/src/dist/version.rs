//! One version for everything: the workspace's. The changelog begins with it.

use std::fs;

use crate::command::root;

/// The version in the workspace's manifest; empty if it cannot be read.
pub fn of_workspace() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
    version_in(&manifest).unwrap_or_default().to_owned()
}

/// What the changelog says about the version that it begins with.
///
/// # Errors
/// It begins with another version, or says nothing about it; in words.
pub fn changes(version: &str) -> Result<String, String> {
    let text =
        fs::read_to_string(root().join("CHANGELOG.md")).map_err(|error| format!("CHANGELOG.md: {error}"))?;
    changes_in(&text, version)
}

/// Crates of the workspace that are demanded in another version.
///
/// # Errors
/// There are any; in words.
pub fn crates_agree(version: &str) -> Result<(), String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
    let demanded = format!("version = \"{version}\"");
    let of_workspace = manifest.lines().filter(|line| line.contains("path = \"crates/"));
    match of_workspace.clone().find(|line| !line.contains(&demanded)) {
        Some(line) => Err(format!("Cargo.toml: `{line}` demands another version than {version}")),
        None => Ok(()),
    }
}

fn version_in(manifest: &str) -> Option<&str> {
    let package = manifest.split_once("[workspace.package]")?.1;
    let line = package.lines().find_map(|line| line.strip_prefix("version = \""))?;
    line.strip_suffix('"')
}

fn changes_in(text: &str, version: &str) -> Result<String, String> {
    let (_, rest) = text.split_once("\n## ").ok_or("CHANGELOG.md has no section")?;
    let (title, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    if title.split_whitespace().next() != Some(version) {
        return Err(format!("CHANGELOG.md begins with {title:?}, not with version {version}"));
    }
    let changes = rest.split("\n## ").next().unwrap_or_default().trim();
    if changes.is_empty() {
        Err(format!("CHANGELOG.md says nothing about {version}"))
    } else {
        Ok(changes.to_owned())
    }
}
