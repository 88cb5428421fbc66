//! The official Python client of the Model Context Protocol, with which a test drives `mle-star mcp`: installed below
//! `target/`, never part of the repository.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{root, say};
use crate::packages::succeeds;

/// The release that the test is written against.
const PACKAGE: &str = "mcp==2.3.0";

/// An interpreter that has it, installed when it is not there yet.
///
/// # Errors
/// It cannot be had; in words.
pub fn prepare() -> Result<PathBuf, String> {
    let folder = root().join("target/mcp-client");
    let python = folder.join("bin/python");
    if is_right(&python) {
        return Ok(python);
    }
    say(&format!("installing {PACKAGE} with pip"));
    succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let quietly = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
    succeeds(Command::new(&python).args(quietly))?;
    if is_right(&python) { Ok(python) } else { Err(format!("{PACKAGE} was installed and is not there")) }
}

fn is_right(python: &Path) -> bool {
    let version = "import importlib.metadata as m; import mcp; print('mcp==' + m.version('mcp'))";
    let output = Command::new(python).args(["-c", version]).stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == PACKAGE.as_bytes())
}
