//! Errors of the journal, with hints.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::tables;
use crate::shell;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::trouble::Trouble;

const FULL: &str = "free disk space";
const CLOSED: &str = "make the run folder writable";
const UNCLEAR: &str = "see with `mle-star doctor` what its file system offers, and choose another folder with --runs-dir if it has no room or no locks";

/// An error of the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is no journal at this path.
    #[error("there is no journal at {0}")]
    Missing(PathBuf),
    /// The folder already has a journal.
    #[error("{0} already holds a run")]
    Exists(PathBuf),
    /// Another process works on the run.
    #[error("the run is held by another process ({holder})")]
    Held {
        /// What that process wrote into the lock file.
        holder: String,
    },
    /// A process on another machine works on the run, or did.
    #[error("the run is held by {holder}")]
    HeldElsewhere {
        /// Which process on which machine.
        holder: String,
        /// The file that says so.
        file: PathBuf,
    },
    /// The journal has another format version.
    #[error("{path} has journal format {found}; this program reads format {}", tables::FORMAT)]
    Format {
        /// The file.
        path: PathBuf,
        /// The format version of the journal.
        found: i64,
    },
    /// The file is not a journal, or is damaged.
    #[error("{path} is not a readable journal: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage and its position in the file.
        what: String,
    },
    /// The input of an effect differs from the recorded one.
    #[error("{place} was recorded with another input: {what}")]
    OtherInput {
        /// The place.
        place: Place,
        /// What differs, in a few words.
        what: String,
    },
    /// The verdict of a step differs from the recorded one.
    #[error("{step} ended differently from its record")]
    OtherVerdict {
        /// The step.
        step: Step,
    },
    /// A run cannot be forked there.
    #[error("the run has nothing at {place}")]
    NotReached {
        /// The place.
        place: Place,
    },
    /// A place or a step was used twice.
    #[error("internal error at {place}: {what}")]
    Bug {
        /// The place.
        place: Place,
        /// The violated rule.
        what: &'static str,
    },
    /// The journal cannot be written.
    #[error("the journal cannot be written: {0}")]
    Write(#[from] rusqlite::Error),
    /// The run folder cannot be used.
    #[error("the run folder cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

impl JournalError {
    /// The error for a damaged file.
    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.into(), what: what.into() }
    }

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
            Self::Held { .. } => {
                "follow it with `mle-star watch`, wait until it ends, or stop it with Ctrl-C where it was started"
            }
            Self::HeldElsewhere { file, .. } => {
                return format!(
                    "wait until it ends or stop it there with Ctrl-C; if it has ended, remove the file that it left: rm {}",
                    shell::quoted(file)
                );
            }
            Self::Format { .. } => "use the version of mle-star that wrote it",
            Self::Damaged { .. } => {
                "restore the file from a copy, or start a new run; nothing was changed in it, and `mle-star show` shows what can be read"
            }
            Self::OtherInput { .. } => {
                "a script, prompt, model or data file differs from the first time; restore it or start a new run"
            }
            Self::OtherVerdict { .. } => "use the version of mle-star that wrote the run, or start a new run",
            Self::NotReached { .. } => "`mle-star show RUN` lists its places",
            Self::Bug { .. } => "report it, with the journal of the run",
            Self::Io(error) => match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FULL,
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => CLOSED,
                _ => UNCLEAR,
            },
            Self::Write(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => FULL,
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => CLOSED,
                _ => UNCLEAR,
            },
        };
        hint.to_owned()
    }
}
