//! Files of `logs/`, and the end of the program's log.

use std::fs::File;
use std::path::Path;

use mle_star_domain::layout::{LOG, LOGS, STARTED_LOG};
use mle_star_report::files;
use mle_star_report::script_output::{Output, end_of};

/// The end of the program's log, or of what the last process said that was started from the page, whichever is newer.
pub fn of_program(folder: &Path) -> Option<Output> {
    let written = |name: &str| open_named(folder, name)?.metadata().and_then(|meta| meta.modified()).ok();
    let name = [LOG, STARTED_LOG].into_iter().max_by_key(|name| written(name))?;
    end_of(name.to_owned(), open_named(folder, name)?)
}

/// Opens a file of `logs/`.
pub fn open_named(folder: &Path, name: &str) -> Option<File> {
    if name.contains('/') { None } else { files::open(folder, &format!("{LOGS}/{name}")).ok() }
}
