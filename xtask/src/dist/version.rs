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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_workspace() {
        let manifest =
            "[profile.dev]\nversion = \"9\"\n[workspace.package]\nedition = \"2024\"\nversion = \"1.2.3\"\n";
        assert_eq!(version_in(manifest), Some("1.2.3"));
        assert_eq!(version_in("version = \"1\""), None);
        assert!(!of_workspace().is_empty());
        assert_eq!(crates_agree(&of_workspace()), Ok(()));
        assert!(crates_agree("9.9.9").is_err());
    }

    #[test]
    fn a_changelog_begins_with_the_version() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = changes_in(text, "1.2.0");
            match expected {
                Ok(expected) => assert_eq!(found.as_deref(), Ok(expected), "{text:?}"),
                Err(part) => {
                    assert!(found.as_ref().is_err_and(|why| why.contains(part)), "{text:?}: {found:?}");
                }
            }
        };
        check("# Changelog\n\n## 1.2.0 · 2026-11-23\n\n- New.\n\n## 1.1.0\n\n- Old.\n", Ok("- New."));
        check("# Changelog\n\n## 1.1.0\n\n- Old.\n", Err("begins with \"1.1.0\""));
        check("# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n- Old.\n", Err("says nothing"));
        check("# Changelog\n", Err("no section"));
    }
}
