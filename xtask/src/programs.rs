//! The test programs of the workspace, built once for all steps that start them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{cargo, root, say};
use crate::files;

/// The tests, without examples: clippy checks those, and linking them takes time.
pub const TESTS: &str = "--workspace --lib --bins --tests";

/// A test program and the folder of its sources.
struct Program {
    sources: PathBuf,
    file: PathBuf,
}

/// Every test program.
pub struct Programs(Vec<Program>);

impl Programs {
    /// Builds them.
    ///
    /// # Errors
    /// A build fails.
    pub fn build() -> Result<Self, String> {
        let line = format!("test {TESTS} --no-run --message-format json-render-diagnostics");
        say(&format!("--- cargo {line}"));
        let mut command = cargo(&line);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
        if !output.status.success() {
            return Err("the tests cannot be built".to_owned());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        Ok(Self(messages.filter_map(|message| program(&message)).collect()))
    }

    /// The program that has a test function of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn with_test(&self, function: &str) -> Result<&Path, String> {
        let head = format!("fn {function}(");
        let has_it = |program: &&Program| {
            let mut files = files::files(&program.sources, "rs").into_iter();
            files.any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(&head)))
        };
        let found = self.0.iter().find(has_it).map(|program| program.file.as_path());
        found.ok_or_else(|| format!("no test is called {function}"))
    }
}

/// A command that runs one ignored test and shows what it prints.
pub fn ignored_test(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--ignored", "--nocapture", name]).current_dir(root());
    command
}

fn program(message: &Value) -> Option<Program> {
    let is_test = message["profile"]["test"].as_bool()?;
    let file = message["executable"].as_str().filter(|_| is_test)?;
    let main = Path::new(message["target"]["src_path"].as_str()?);
    Some(Program { sources: main.parent()?.to_owned(), file: file.into() })
}
