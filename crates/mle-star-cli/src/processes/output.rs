//! The output of a process that was started: a file beside the runs until its run has a folder.
//!
//! The file is locked as long as a process has it open, so one that is left behind can be told from one in use.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use mle_star_domain::layout::{LOGS, STARTED_LOG};
use mle_star_domain::trouble::Trouble;
use tempfile::NamedTempFile;

use mle_star_report::files;

/// The name of the file, around random characters.
const PREFIX: &str = ".started-";
const SUFFIX: &str = ".log";
/// Bytes of its end that are shown.
const LAST_WORDS: u64 = 8 * 1024;

/// Creates the file. Its lock is shared with every clone of it, in whatever process.
///
/// # Errors
/// The folder cannot be written.
pub fn create(runs_dir: &Path) -> io::Result<NamedTempFile> {
    loop {
        let output = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(runs_dir)?;
        // Without locks in this file system, nothing is ever removed.
        let _ = output.as_file().lock();
        // Another process may have removed it before it was locked.
        if output.path().exists() {
            return Ok(output);
        }
    }
}

/// Removes the files that no process has open: the one that would have removed them was killed.
pub fn remove_abandoned(runs_dir: &Path) {
    for entry in fs::read_dir(runs_dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_output = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if !is_output || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::options().write(true).open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            // One that stays does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Moves the output of a process into its run's folder. The process keeps writing to the same file.
///
/// # Errors
/// It cannot be moved.
pub fn keep(output: NamedTempFile, folder: &Path) -> io::Result<()> {
    let logs = folder.join(LOGS);
    if fs::create_dir_all(&logs).is_ok() {
        output.persist(logs.join(STARTED_LOG)).map(drop).map_err(|e| e.error)
    } else {
        output.keep().map(drop).map_err(|e| e.error)
    }
}

/// The error and hint in a process's output, or all of the output.
pub fn last_words(file: File) -> Trouble {
    let text = files::tail(file, LAST_WORDS).map(|(text, _)| text).unwrap_or_default();
    let last =
        |prefix: &str| text.lines().rev().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned);
    let message = last("error: ").unwrap_or_else(|| format!("mle-star ended at once: {}", text.trim()));
    Trouble::new(message, last("hint: ").unwrap_or_default())
}
