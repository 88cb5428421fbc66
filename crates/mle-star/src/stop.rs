//! What ends a run early.
//!
//! Outcomes (a script failed, a reply had no code, a limit refused an effect) are data and are recorded.
//! A [`Stop`] is everything else; it travels by `?` and leaves the journal ready for a resume.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::effects::Usage;
use crate::place::Place;

/// Why the run cannot go on now.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user or the system asked for it.
    #[error("interrupted")]
    Interrupted,
    /// The journal and the program disagree, or the journal cannot be written.
    #[error(transparent)]
    Journal(#[from] crate::journal::JournalError),
    /// Something outside is broken in a way that does not pass: a missing interpreter, a full disk.
    #[error(transparent)]
    Outside(#[from] Trouble),
    /// No agent can be asked any more, for a reason that does not pass: a refused login, an account without credit.
    #[error("{trouble}")]
    Agents {
        /// Why.
        trouble: Trouble,
        /// What the call used that met with it.
        usage: Usage,
    },
    /// The algorithm could not make a solution.
    #[error("{0}")]
    NoSolution(String),
    /// A limit ended the run before it had a solution.
    #[error("the {} ended the run before it had a solution", .0.name())]
    Limit(crate::effects::Limit),
    /// A path or a phase failed in an earlier process; what it had left to do is not done.
    #[error("{0}")]
    Fenced(String),
    /// A defect of this program.
    #[error("internal error at {place}: {what}")]
    Bug {
        /// Where.
        place: Place,
        /// What was violated.
        what: String,
    },
}

/// An error for people: what is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// One clear sentence, a lowercase fragment without full stop.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Can the run be resumed once the hint was followed? The command line adds the exact command.
    pub then_resume: bool,
}

impl Trouble {
    /// An error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), then_resume: false }
    }

    /// The same, said of one among several.
    #[must_use]
    pub fn of(mut self, name: impl std::fmt::Display) -> Self {
        self.message = format!("{name}: {}", self.message);
        self
    }

    /// An error after which the run can be resumed, once the hint was followed; an empty hint: at once.
    pub fn resumable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { then_resume: true, ..Self::new(message, hint) }
    }

    /// An input or output error: what could not be done, to which file or folder, and why.
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
