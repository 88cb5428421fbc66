//! The `claude` command line that some tests drive: installed below `target/`, never part of the repository.
//!
//! It is proprietary and 360 MB large, so it comes from its publisher's own packages. The npm package of one
//! platform is the executable and nothing else; where npm is missing, the Python package of the same release
//! carries the same file.

use std::env::consts::ARCH;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{root, say};

/// The release that the tests are written against.
const VERSION: &str = "2.1.329";
/// The release of the Python package that carries it.
const PYTHON_PACKAGE: &str = "claude-agent-sdk==0.2.186";

/// The executable, installed when it is not there yet.
///
/// # Errors
/// It cannot be had; in words.
pub fn prepare() -> Result<PathBuf, String> {
    let folder = root().join("target/claude-cli");
    let ways: [(PathBuf, Command); 2] = [npm(&folder), pip(&folder)];
    if let Some((executable, _)) = ways.iter().find(|(executable, _)| is_right(executable)) {
        return Ok(executable.clone());
    }
    let mut failures = Vec::new();
    for (executable, mut install) in ways {
        say(&format!("installing claude {VERSION} with {}", install.get_program().display()));
        match succeeds(&mut install) {
            Ok(()) if is_right(&executable) => return Ok(executable),
            Ok(()) => failures.push(format!("{} is not claude {VERSION}", executable.display())),
            Err(why) => failures.push(why),
        }
    }
    Err(format!("claude {VERSION} cannot be installed: {}", failures.join("; ")))
}

/// Can a process here be cut off from every network but its own loopback?
pub fn networks_can_be_closed() -> bool {
    succeeds(closed().arg("true").stderr(Stdio::null())).is_ok()
}

/// Runs what follows without any network.
fn closed() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net"]);
    command
}

fn npm(folder: &Path) -> (PathBuf, Command) {
    let processor = if ARCH == "aarch64" { "arm64" } else { "x64" };
    let package = format!("@anthropic-ai/claude-code-linux-{processor}");
    let mut command = Command::new("npm");
    command.arg("install").arg("--prefix").arg(folder);
    command.args(["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"]);
    command.arg(format!("{package}@{VERSION}"));
    (folder.join("node_modules").join(package).join("claude"), command)
}

fn pip(folder: &Path) -> (PathBuf, Command) {
    let target = folder.join("python");
    let mut command = Command::new("python3");
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-compile",
    ]);
    command.args(["--upgrade", "--target"]).arg(&target).arg(PYTHON_PACKAGE);
    (target.join("claude_agent_sdk/_bundled/claude"), command)
}

fn is_right(executable: &Path) -> bool {
    // A download that broke off leaves a file that does not run. No test lets it near a network, nor does this.
    let mut command = closed();
    command.arg(executable).arg("--version").env("HOME", root().join("target/claude-cli/home"));
    let output = command.stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.starts_with(VERSION.as_bytes()))
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    let why = |error: io::Error| format!("{program}: {error}");
    fs::create_dir_all(root().join("target/claude-cli")).map_err(why)?;
    let status = command.stdout(Stdio::null()).status().map_err(why)?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed ({status})")) }
}
