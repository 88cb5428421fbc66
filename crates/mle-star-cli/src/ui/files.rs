//! The files of a run that can be downloaded: its result and its report.

use std::fs::File as Opened;
use std::io;
use std::path::Path as FilePath;

use mle_star_domain::layout::{FINAL, LOG, LOGS, REPORT, REQUIREMENTS, RESULT, SOLUTION, SUBMISSION};
use mle_star_report::files;

/// The files that can be downloaded, relative to the run's folder.
const FILES: [(&str, &str); 6] = [
    (FINAL, SUBMISSION),
    (FINAL, SOLUTION),
    (FINAL, REQUIREMENTS),
    (".", REPORT),
    (".", RESULT),
    (LOGS, LOG),
];

/// The names of the existing files.
pub fn present(folder: &FilePath) -> Vec<&'static str> {
    FILES.into_iter().filter(|file| open(folder, *file).is_ok()).map(|(_, name)| name).collect()
}

/// Opens one of them.
pub fn open_named(run: &FilePath, named: &str) -> Option<Opened> {
    let file = FILES.into_iter().find(|(_, name)| *name == named)?;
    open(run, file).ok()
}

fn open(run: &FilePath, (folder, name): (&str, &str)) -> io::Result<Opened> {
    files::open(run, &if folder == "." { name.to_owned() } else { format!("{folder}/{name}") })
}
