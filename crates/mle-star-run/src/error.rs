//! Errors: the kind, cause and hint of what ends a run without a result.

use mle_star::journal::JournalError;
use mle_star_domain::trouble::Trouble;

/// Why there is no result: the kind for programs, cause and hint for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{trouble}")]
pub struct RunError {
    /// The kind.
    pub kind: ErrorKind,
    /// The cause, and a hint that says what to do.
    pub trouble: Trouble,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A mistake in settings, task or data.
    Input,
    /// The run failed, through something outside it or a bug.
    Failed,
    /// A limit of time or money was reached before there was a solution.
    LimitReached,
    /// The caller cancelled the run.
    Interrupted,
}

impl RunError {
    /// A failure that the input did not cause.
    pub fn failed(trouble: Trouble) -> Self {
        Self { kind: ErrorKind::Failed, trouble }
    }

    /// A journal that cannot be used.
    pub fn journal(error: &JournalError) -> Self {
        Self::failed(error.trouble())
    }
}

/// By default an error is a mistake in the input.
impl From<Trouble> for RunError {
    fn from(trouble: Trouble) -> Self {
        Self { kind: ErrorKind::Input, trouble }
    }
}
