//! Running cargo and other programs from the workspace's root.
#![expect(clippy::print_stdout, reason = "a gate reports what it does")]

use std::env;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The folder of builds.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

/// Prints a line.
pub fn say(line: &str) {
    println!("{line}");
}

/// A cargo command, its arguments split at blanks.
pub fn cargo(line: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(line.split_whitespace()).current_dir(root());
    // Cargo describes the package that it runs, xtask, in these; build scripts and tests would take it for themselves.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR") {
            command.env_remove(name);
        }
    }
    command
}

/// A script of the repository.
pub fn script(path: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg(path).current_dir(root());
    command
}

/// Prints a command and runs it; `true` when it succeeded.
pub fn succeeds(mut command: Command) -> bool {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().display();
    say(&format!("--- {program} {}", words.join(" ")));
    command.status().is_ok_and(|status| status.success())
}

/// Runs a command, prints its output, and returns it; `true` when the command succeeded.
///
/// # Errors
/// The command cannot be started.
pub fn watched(mut command: Command) -> io::Result<(bool, String)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || err.map(|stream| shown(BufReader::new(stream))).unwrap_or_default());
    let mut text = out.map(|stream| shown(BufReader::new(stream))).unwrap_or_default();
    text.push_str(&errors.join().unwrap_or_default());
    Ok((child.wait()?.success(), text))
}

fn shown(stream: impl BufRead) -> String {
    let mut text = String::new();
    for line in stream.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        say(&line);
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The first program on the path that has one of these names.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut files = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.find(|file| file.is_file())
}
