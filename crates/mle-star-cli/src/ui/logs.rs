//! Files of `logs/`, and the end of the program's log.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use mle_star_domain::layout::{LOG, LOGS, STARTED_LOG};
use mle_star_report::files;
use mle_star_report::script_output::{Output, end_of};

/// The end of the program's log, or what the last process said that was started since it was written.
pub fn of_program(folder: &Path) -> Option<Output> {
    let time = |name: &str, of: fn(&Metadata) -> io::Result<SystemTime>| {
        open_named(folder, name)?.metadata().and_then(|meta| of(&meta)).ok()
    };
    let (written, began) = (time(LOG, Metadata::modified), time(STARTED_LOG, Metadata::created));
    let is_newer = written.zip(began).is_some_and(|(written, began)| written < began);
    let names = if is_newer { [STARTED_LOG, LOG] } else { [LOG, STARTED_LOG] };
    names.into_iter().find_map(|name| end_of(name.to_owned(), open_named(folder, name)?))
}

/// Opens a file of `logs/`.
pub fn open_named(folder: &Path, name: &str) -> Option<File> {
    if name.contains('/') { None } else { files::open(folder, &format!("{LOGS}/{name}")).ok() }
}
