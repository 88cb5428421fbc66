//! Explains errors that come from the isolation, for the agent that repairs the script.

use std::path::Path;

use mle_star_domain::effects::ScriptEnd;
use mle_star_process::sandbox::{Isolation, Sandbox};
use nix::libc;

const WRITE_HINT: &str = "a script may write only in its own folder (the working directory, with ./final), its HOME, its TMPDIR \
                      and /dev/shm; it may read only ./input, the Python environment and system files";
const NETWORK_HINT: &str = "scripts have no network access: use what is installed and what is in ./input";
const FILE_SIZE_HINT: &str = "the file exceeded the disk space that the script may use";
const OPEN_FILES_HINT: &str = "it had more files open at once than a script may have";
const PROCESSES_HINT: &str = "it started more processes and threads than a script may have";

/// Explains how a script ended, if the isolation caused it. Its `folder` must still exist.
pub(super) fn explanation(
    sandbox: &Sandbox,
    end: &ScriptEnd,
    traceback: Option<&str>,
    folder: &Path,
) -> Option<String> {
    match end {
        ScriptEnd::Signalled { signal } => (*signal == libc::SIGXFSZ).then(|| refused(FILE_SIZE_HINT)),
        _ => explanation_of(traceback?, sandbox.isolation(), |file| sandbox.hides(file, folder)),
    }
}

/// Explains the exception at the end of `traceback`, if the isolation caused it. `is_hidden` tells which files exist but
/// are hidden from the script.
fn explanation_of(
    traceback: &str,
    isolation: &Isolation,
    is_hidden: impl Fn(&Path) -> bool,
) -> Option<String> {
    let last = traceback.lines().last()?;
    let has = |signs: &[&str]| signs.iter().any(|sign| last.contains(sign));
    let layers = &isolation.layers;
    // Where Landlock refuses connections, `connect` fails with the error of a refused file, but without a file name.
    let is_connection = || traceback.contains("connect") && !last.contains("Permission denied: ");
    let says = if isolation.closes_only_tcp() && has(&["[Errno 13] Permission denied"]) && is_connection() {
        Some(NETWORK_HINT)
    } else if has(&["[Errno 13] Permission denied", "[Errno 30] Read-only file system"]) {
        (layers.landlock > 0 || layers.shared_memory).then_some(WRITE_HINT)
    } else if let Some((_, file)) = last.split_once("[Errno 2] No such file or directory: '") {
        (layers.shared_memory && is_hidden(Path::new(file.trim_end_matches('\'')))).then_some(WRITE_HINT)
    } else if has(&[
        "Network is unreachable",
        "Temporary failure in name resolution",
        "Name or service not known",
        "NewConnectionError",
        "NameResolutionError",
        // Connection refused.
        "Errno 111",
    ]) {
        isolation.closes_network().then_some(NETWORK_HINT)
    } else if has(&["[Errno 27] File too large"]) {
        Some(FILE_SIZE_HINT)
    } else if has(&["[Errno 24] Too many open files"]) {
        Some(OPEN_FILES_HINT)
    } else {
        // Locks and sockets that do not wait have the same error.
        let starts = ["fork", "Process", "Thread", "Popen"].iter().any(|call| traceback.contains(call));
        let is_refused = has(&["[Errno 11] Resource temporarily unavailable"]) && starts;
        (is_refused || has(&["can't start new thread"])).then_some(PROCESSES_HINT)
    };
    says.map(refused)
}

fn refused(meaning: &str) -> String {
    format!("refused by the isolation of scripts: {meaning}")
}
