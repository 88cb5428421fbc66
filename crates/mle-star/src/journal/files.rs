//! The files of a journal: their names, and how they are opened.

#![expect(clippy::disallowed_types, reason = "the journal is a file")]

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The file name of a journal's log.
pub(super) fn log_of(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

/// The file name of a journal's rollback journal.
pub(super) fn rollback_of(path: &Path) -> PathBuf {
    path.with_extension("db-journal")
}

/// Opens a regular file. Does not follow a link and does not block on a pipe.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}
