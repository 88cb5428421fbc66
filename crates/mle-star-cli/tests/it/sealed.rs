//! A temporary folder in which the binary runs with a clean environment except for PATH.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small regression task.
pub const TASK: &[(&str, &str)] = &[
    ("data/train.csv", "id,size,town,price\n1,10,a,1.5\n2,20,b,2.5\n3,30,a,3.5\n4,40,b,4.5\n"),
    ("data/test.csv", "id,size,town\n5,15,a\n6,25,b\n"),
    ("data/sample_submission.csv", "id,price\n5,0\n6,0\n"),
    ("data/description.md", "Predict the price.\n\n# Evaluation\n\nRoot mean squared error.\n"),
];

/// A working directory that is removed when the test ends.
pub struct Sealed {
    dir: tempfile::TempDir,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Sealed {
    /// A folder with [`TASK`] in `data/`, with `files` added or replaced.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let sealed = Self { dir: tempfile::tempdir().unwrap() };
        for (name, text) in TASK.iter().chain(files) {
            sealed.write(name, text.as_bytes());
        }
        sealed
    }

    /// An empty folder.
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes the files of [`TASK`] into this folder.
    pub fn write_task(&self, folder: &str) {
        for (name, text) in TASK {
            let file = Path::new(name).file_name().unwrap();
            self.write(&format!("{folder}/{}", file.display()), text.as_bytes());
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the binary; the command line is split at blanks.
    pub fn run(&self, line: &str) -> Said {
        self.run_with(line, &[])
    }

    pub fn run_with(&self, line: &str, environment: &[(&str, &str)]) -> Said {
        Said::of(self.command(line).envs(environment.iter().copied()))
    }

    /// Runs the binary; parts of the command line in double quotes stay together.
    pub fn say(&self, line: &str) -> Said {
        let mut command = self.command("");
        for (at, part) in line.split('"').enumerate() {
            match at % 2 {
                0 => command.args(part.split_whitespace()),
                _ => command.arg(part),
            };
        }
        Said::of(&mut command)
    }

    /// The binary, or the program that `MLE_STAR_TEST_PROGRAM` names, with a command line, not started yet.
    pub fn command(&self, line: &str) -> Command {
        let other = std::env::var_os("MLE_STAR_TEST_PROGRAM");
        let mut command = Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_mle-star").into()));
        command
            .args(line.split_whitespace())
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .env("MLE_STAR_DATA_PYTHON", mle_star_needs::python_with_libraries());
        command
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Sorted names in a folder; empty if it does not exist.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path().join(folder)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
