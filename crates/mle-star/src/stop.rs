//! Stops: what ends a run early.
//!
//! Outcomes such as a failed script, a reply without code or a refused effect are data and are recorded. A
//! [`Stop`] is everything else. It propagates with `?` and leaves the journal ready for a resume.

use std::io::{self, ErrorKind};
use std::path::Path;

use mle_star_domain::effects::Usage;
use mle_star_domain::place::Place;

/// Why the run cannot go on now.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user or the system interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The journal and the program disagree, or the journal cannot be written.
    #[error(transparent)]
    Journal(#[from] crate::journal::JournalError),
    /// Something outside is broken permanently, such as a missing interpreter or a full disk.
    #[error(transparent)]
    Outside(#[from] Trouble),
    /// No agent can be asked any more for a permanent reason, such as a refused login or an account without
    /// credit.
    #[error("{trouble}")]
    Agents {
        /// The reason.
        trouble: Trouble,
        /// The usage of the call that failed.
        usage: Usage,
    },
    /// The algorithm could not create a solution.
    #[error("{0}")]
    NoSolution(String),
    /// A limit ended the run before it had a solution.
    #[error("the {} ended the run before it had a solution", .0.name())]
    Limit(mle_star_domain::effects::Limit),
    /// A path or a phase failed in an earlier process. Its remaining work is not done.
    #[error("{0}")]
    Fenced(String),
    /// An internal error.
    #[error("internal error at {place}: {what}")]
    Bug {
        /// The place.
        place: Place,
        /// The violated rule.
        what: String,
    },
}

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

    /// The same error, prefixed with the name of one of several runs.
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
