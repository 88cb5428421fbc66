//! Errors for people, with a hint.

use std::io::{self, ErrorKind};
use std::path::Path;

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
}

impl Trouble {
    /// An error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), then_resume: false }
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
