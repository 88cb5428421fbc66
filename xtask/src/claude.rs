//! The `claude` command line that some tests drive: installed below `target/`, never part of the repository.
//!
//! It is proprietary and 360 MB large, so it comes from its publisher's own packages. The npm package of one
//! platform is the executable and nothing else; where npm is missing, the Python package of the same release
//! carries the same file.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::root;
use crate::packages::{npm, obtain, pip, succeeds};

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
    let processor = if ARCH == "aarch64" { "arm64" } else { "x64" };
    let package = format!("@anthropic-ai/claude-code-linux-{processor}");
    let ways = [
        npm(&folder, &package, VERSION, "claude"),
        pip(&folder, PYTHON_PACKAGE, "claude_agent_sdk/_bundled/claude"),
    ];
    obtain(&format!("claude {VERSION}"), &folder, ways, is_right)
}

/// Can a process here be cut off from every network but its own loopback?
pub fn networks_can_be_closed() -> bool {
    succeeds(closed().arg("true").stderr(Stdio::null())).is_ok()
}

/// Runs the following command without a network.
pub fn closed() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net"]);
    command
}

fn is_right(executable: &Path) -> bool {
    // A download that broke off leaves a file that does not run. No test lets it near a network, nor does this.
    let mut command = closed();
    command.arg(executable).arg("--version").env("HOME", root().join("target/claude-cli/home"));
    let output = command.stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.starts_with(VERSION.as_bytes()))
}
