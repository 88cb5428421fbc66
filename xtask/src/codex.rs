//! The `codex` command line that some tests drive: installed below `target/`, never part of the repository.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::claude::closed;
use crate::command::root;
use crate::packages::{npm, obtain};

/// The release that the tests are written against.
const VERSION: &str = "0.169.0";

/// The executable, installed when it is not there yet. The npm package of one platform holds it.
///
/// # Errors
/// It cannot be had; in words.
pub fn prepare() -> Result<PathBuf, String> {
    let folder = root().join("target/codex-cli");
    let (processor, triple) = match ARCH {
        "aarch64" => ("arm64", "aarch64-unknown-linux-musl"),
        _ => ("x64", "x86_64-unknown-linux-musl"),
    };
    // Its name is an alias: all platforms are versions of one package.
    let package = format!("@openai/codex-linux-{processor}");
    let version = format!("npm:@openai/codex@{VERSION}-linux-{processor}");
    let way = npm(&folder, &package, &version, &format!("vendor/{triple}/bin/codex"));
    obtain(&format!("codex {VERSION}"), &folder, [way], is_right)
}

fn is_right(executable: &Path) -> bool {
    // A download that broke off leaves a file that does not run. No test lets it near a network, nor does this.
    let mut command = closed();
    command.arg(executable).arg("--version").env("HOME", root().join("target/codex-cli/home"));
    let output = command.stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.ends_with(format!("{VERSION}\n").as_bytes()))
}
