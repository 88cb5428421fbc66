//! Why no rows can be held out.

use std::io;

use crate::table;

/// The reason why no rows can be held out, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Off(pub String);

/// The reason as [`Off`].
pub(super) fn off<T>(why: impl Into<String>) -> Result<T, Off> {
    Err(Off(why.into()))
}

/// Names a table that cannot be read.
pub(super) fn unreadable(table: &table::Table, error: &io::Error) -> Off {
    Off(format!("{} cannot be read: {error}", table.source().file.display()))
}
