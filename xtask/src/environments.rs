//! Python environments with packages from PyPI, for tests: below `target/`, never part of the repository.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::{say, target};
use crate::packages::succeeds;

/// The interpreter of an environment that has these packages, made when it is not there yet.
///
/// # Errors
/// It cannot be made; in words.
pub fn with(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = target().join(name);
    let python = folder.join("bin/python");
    // Written when everything is installed.
    let (stamp, wanted) = (folder.join("installed.txt"), packages.join("\n"));
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    say(&format!("installing {} with pip", packages.join(", ")));
    succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let quietly = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    succeeds(Command::new(&python).args(quietly).args(packages))?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}
