//! What is wrong with a journal, and what to do about it.

use std::path::PathBuf;

use super::store;
use crate::place::{Place, Step};
use crate::stop::Trouble;

/// What is wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is none at this path.
    #[error("there is no journal at {0}")]
    Missing(PathBuf),
    /// There is one already.
    #[error("{0} already holds a run")]
    Exists(PathBuf),
    /// Another process writes it.
    #[error("the run is held by another process ({holder})")]
    Held {
        /// What that process wrote about itself.
        holder: String,
    },
    /// It was written by another version of the format.
    #[error("{path} has journal format {found}; this program reads format {}", store::FORMAT)]
    Format {
        /// The file.
        path: PathBuf,
        /// The format it names.
        found: i64,
    },
    /// The file is not a journal, or is damaged.
    #[error("{path} is not a readable journal: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found, and where in the file.
        what: String,
    },
    /// The log of what was written last is damaged.
    #[error(
        "{path} is damaged in frame {frame} (from byte {offset}); what was recorded there and later cannot be read"
    )]
    LogDamaged {
        /// The file.
        path: PathBuf,
        /// The frame, counted from 1; 0 is the header.
        frame: usize,
        /// Where it begins, in bytes.
        offset: usize,
        /// Bytes up to the end of the last transaction before it.
        good: usize,
    },
    /// A step came back with another input than the one recorded.
    #[error("{place} was recorded with another input")]
    OtherInput {
        /// The place.
        place: Place,
    },
    /// A step came to another verdict than the recorded one.
    #[error("{step} ended differently from its record")]
    OtherVerdict {
        /// The step.
        step: Step,
    },
    /// It cannot be written.
    #[error("the journal cannot be written: {0}")]
    Write(#[from] rusqlite::Error),
    /// Its folder cannot be used.
    #[error("the run folder cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

impl JournalError {
    /// The error for people. A journal that could not be written can be resumed.
    pub fn trouble(&self) -> Trouble {
        let then_resume = matches!(self, Self::Write(_) | Self::Io(_));
        Trouble { then_resume, ..Trouble::new(self.to_string(), self.hint()) }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Missing(_) => "name a run with `mle-star list`",
            Self::Exists(_) => "choose another --run-id, or continue it with `mle-star resume`",
            Self::Held { .. } => "wait until it ends, or stop that process first",
            Self::Format { .. } => "use the version of mle-star that wrote it",
            Self::Damaged { .. } => {
                "restore the file from a copy, or start a new run; nothing was changed in it, and `mle-star show` shows what can be read"
            }
            Self::LogDamaged { path, good, .. } => {
                return format!(
                    "restore the file from a copy, or cut off what cannot be read and have it done again: truncate -s {good} {}; nothing was changed in it",
                    path.display()
                );
            }
            Self::OtherInput { .. } => {
                "a script, prompt, model or data file differs from the first time; restore it or start a new run"
            }
            Self::OtherVerdict { .. } => "use the version of mle-star that wrote the run, or start a new run",
            Self::Write(_) | Self::Io(_) => "free disk space or make the run folder writable",
        };
        hint.to_owned()
    }
}
