//! Errors for people, with a hint.

use std::io::{self, ErrorKind};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// An error for people, with a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// One clear sentence in lower case, without a full stop.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Whether the run can be resumed after following the hint. The CLI adds the exact command.
    pub then_resume: bool,
    /// What only the user can decide, if that is why.
    pub questions: Vec<OpenQuestion>,
}

/// What only the user can decide about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The task's field.
    pub field: String,
    /// What was seen.
    pub seen: String,
    /// The option that decides.
    pub option: String,
    /// The answers.
    pub readings: Vec<Reading>,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The value of the option.
    pub value: String,
    /// What it means.
    pub means: String,
}

impl Trouble {
    /// An error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), then_resume: false, questions: Vec::new() }
    }

    /// All open questions in one sentence, with the options that decide.
    pub fn asking(questions: Vec<OpenQuestion>) -> Self {
        let seen: Vec<&str> = questions.iter().map(|question| question.seen.as_str()).collect();
        let hints: Vec<String> = questions.iter().map(OpenQuestion::hint).collect();
        let asked = Self::new(seen.join(", and "), hints.join("; "));
        Self { questions, ..asked }
    }

    /// This error, prefixed with the name of one of several runs.
    #[must_use]
    pub fn of(mut self, name: impl std::fmt::Display) -> Self {
        self.message = format!("{name}: {}", self.message);
        self
    }

    /// An error after which the run can be resumed once the hint was followed. With an empty hint it can be
    /// resumed immediately.
    pub fn resumable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { then_resume: true, ..Self::new(message, hint) }
    }

    /// An I/O error: what could not be done, to which file or folder, and why.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let hint = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free disk space",
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "make the folder writable, or choose another one with --runs-dir"
            }
            _ => "check the disk and the folder",
        };
        Self::resumable(format!("cannot {doing} {}: {error}", path.display()), hint)
    }
}
impl OpenQuestion {
    fn hint(&self) -> String {
        let option = &self.option;
        if self.readings.is_empty() {
            return format!("give it with {option}");
        }
        let reading = |Reading { value, means }: &Reading| {
            let quote = if value.contains(char::is_whitespace) { "\"" } else { "" };
            format!("{option} {quote}{value}{quote}: {means}")
        };
        let readings = self.readings.iter().map(reading);
        readings.collect::<Vec<_>>().join("; ")
    }
}
