//! An executable in an environment of its own, and the processes that it leaves.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A command that runs an executable with the given variables and none of this process's, except those that the
/// client sets. Its home is `home` in the folder.
pub fn command(folder: &Path, variables: &[(&str, &str)], executable: &Path) -> String {
    let home = folder.join("home").display().to_string();
    let path = env::var("PATH").unwrap();
    let base = [("PATH", path.as_str()), ("HOME", &home)];
    let with = base.iter().chain(variables).map(|(name, value)| format!("'{name}={value}' "));
    let with: String = with.chain([format!("'{}' ", mark(folder))]).collect();
    let without: String = env::vars().map(|(name, _)| format!("-u '{name}' ")).collect();
    format!("env {without}{with}'{}' \"$@\"", executable.display())
}

/// Writes a shell script.
pub fn script(path: &Path, text: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

/// Command lines of the running processes that commands of this folder started.
pub fn alive(folder: &Path) -> Vec<String> {
    let mark = mark(folder);
    let of_folder = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let command_line = |process: PathBuf| {
        let words = fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).replace('\0', " ")
    };
    processes().filter(of_folder).map(command_line).collect()
}

/// The folders of all processes in `/proc`.
pub fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path())
}

/// A variable in the environment of everything that the commands of a folder start.
fn mark(folder: &Path) -> String {
    format!("MLE_STAR_TEST_WORLD={}", folder.display())
}
