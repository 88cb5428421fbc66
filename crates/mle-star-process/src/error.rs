//! What can go wrong around a child that is not the child's doing.

use std::io;
use std::path::PathBuf;

/// Why a child could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be started or waited for.
    #[error("{0}")]
    Process(#[source] io::Error),
    /// What it wrote could not be read, on the way to this file.
    #[error("cannot read the output on its way to {}: {error}", file.display())]
    Output {
        /// The file that keeps the output.
        file: PathBuf,
        /// The cause.
        #[source]
        error: io::Error,
    },
    /// Another process lowered this program's limit on open files, hard limit included.
    #[error("the open-file limit was lowered and cannot be raised again: {0}")]
    OpenFileLimit(#[source] io::Error),
}
