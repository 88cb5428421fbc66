//! Scores by the data plane, without a sandbox.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A process of `python/mle_star_data`.
#[derive(Debug)]
pub struct Plane {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Plane {
    /// Starts it with this interpreter.
    ///
    /// # Errors
    /// The interpreter does not start.
    pub fn start(python: impl AsRef<OsStr>) -> io::Result<Self> {
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("python"));
        let package = folders.into_iter().find(|folder| folder.join("mle_star_data").is_dir());
        let package = package.ok_or(io::ErrorKind::NotFound)?;
        let mut command = Command::new(python);
        command.args(["-m", "mle_star_data"]).env("PYTHONPATH", package);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let questions = child.stdin.take().ok_or_else(missing)?;
        let answers = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        Ok(Self { child, questions, answers })
    }

    /// The answer to a question.
    ///
    /// # Errors
    /// There is none.
    pub fn ask(&mut self, mut question: Value) -> io::Result<Value> {
        question["number"] = 0.into();
        writeln!(self.questions, "{question}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let mut reply: Value = serde_json::from_str(&line)?;
        match reply["answer"].take() {
            Value::Null => Err(io::Error::other(format!("no answer: {line}"))),
            answer => Ok(answer),
        }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
