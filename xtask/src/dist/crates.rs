//! The crates, as they would be published: each compiles from its package alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::version;
use crate::command::{cargo, root, succeeds};
use crate::packages::succeeds as tools_succeed;

/// Packages all crates, and checks that they compile from their packages alone.
///
/// # Errors
/// A crate lacks a file, a version or a dependency; the reason was printed.
pub fn package() -> Result<Vec<PathBuf>, String> {
    // Uncommitted changes are what is being checked; `release` refuses them. cargo would verify each crate with a build
    // of its dependencies, so all of them are checked at once, below.
    let line = "package --workspace --exclude xtask --exclude mle-star-lab --exclude mle-star-needs --locked --allow-dirty --quiet --no-verify";
    let folder = root().join("target/package");
    // Packages of crates that are gone would be counted.
    files(&folder, ".crate")
        .unwrap_or_default()
        .iter()
        .try_for_each(fs::remove_file)
        .map_err(|error| error.to_string())?;
    if !succeeds(cargo(line)) {
        return Err("the crates cannot be packaged".to_owned());
    }
    let end = format!("-{}.crate", version::of_workspace());
    let packages = files(&folder, &end)?;
    let expected = fs::read_dir(root().join("crates")).map_err(|error| format!("crates: {error}"))?.count();
    if packages.len() != expected {
        return Err(format!("{} of {expected} crates were packaged", packages.len()));
    }
    let workspace = unpacked(&packages)?;
    let mut check = cargo("check --workspace --quiet --offline --manifest-path");
    check.arg(workspace.join("Cargo.toml")).env("CARGO_TARGET_DIR", root().join("target"));
    if succeeds(check) {
        Ok(packages)
    } else {
        Err("the crates do not compile from their packages".to_owned())
    }
}

/// A workspace with what is in the packages. Its crates find each other there instead of in the registry.
fn unpacked(packages: &[PathBuf]) -> Result<PathBuf, String> {
    let folder = root().join("target/package/unpacked");
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(failed)?;
    let (mut members, mut patches) = (Vec::new(), String::new());
    for package in packages {
        // Files of packages have all the same old time. With that of now, cargo sees which have changed.
        tools_succeed(Command::new("tar").arg("-xmzf").arg(package).arg("-C").arg(&folder))?;
        let member = package.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = member.trim_end_matches(&format!("-{}", version::of_workspace()));
        let _ = writeln!(patches, "{name} = {{ path = {member:?} }}");
        members.push(member);
    }
    let ours = fs::read_to_string(root().join("Cargo.toml")).map_err(failed)?;
    // With the same profiles, what clippy has compiled of the dependencies is used again.
    let profiles = ours.find("[profile.").map_or("", |at| &ours[at..]);
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}\n{profiles}"
    );
    fs::write(folder.join("Cargo.toml"), manifest).map_err(failed)?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(failed)?;
    Ok(folder)
}

/// The files of a folder whose names end so, sorted.
pub fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    found.sort();
    Ok(found)
}
