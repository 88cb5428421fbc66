//! Other systems than Linux: their file systems have locks.

use std::io;
use std::path::{Path, PathBuf};

/// Never made.
#[derive(Debug)]
pub(super) enum OwnerFile {}

/// Where Linux names the owner of a lock. Here, there is no such file.
pub(super) fn file_of(lock: &Path) -> PathBuf {
    lock.with_added_extension("held")
}

/// Not supported.
pub(super) fn take(_lock: &Path) -> io::Result<Option<OwnerFile>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a lock has an owner that may be alive.
pub(super) fn is_held(_lock: &Path) -> bool {
    false
}

/// The owner of a lock in words, if nobody can tell here whether it is alive.
pub(super) fn uncheckable(_lock: &Path) -> Option<String> {
    None
}
