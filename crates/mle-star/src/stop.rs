//! Why a run ends early: an interrupt, a broken journal, or something outside that is broken for good.
//!
//! Outcomes such as a failed script, a reply without code or a refused effect are data and are recorded. A
//! [`Stop`] is everything else. It propagates with `?` and leaves the journal ready for a resume.

use std::any::Any;

use crate::journal::JournalError;
use mle_star_domain::effects::Usage;
use mle_star_domain::place::Place;
use mle_star_domain::trouble::Trouble;

/// Why the run cannot go on now.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user or the system interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The journal and the program disagree, or the journal cannot be written.
    #[error(transparent)]
    Journal(JournalError),
    /// Something outside is broken permanently, such as a missing interpreter or a full disk.
    #[error(transparent)]
    Outside(#[from] Trouble),
    /// No agent can be asked any more for a permanent reason, such as a refused login or an account without
    /// credit.
    #[error("{trouble}")]
    Agents {
        /// The reason.
        trouble: Box<Trouble>,
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
        /// The step of the algorithms.
        place: Place,
        /// The violated rule.
        what: String,
    },
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Bug { place, what } => Self::Bug { place, what: what.to_owned() },
            error => Self::Journal(error),
        }
    }
}

/// The message of a panic.
pub(crate) fn words_of_panic(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}
