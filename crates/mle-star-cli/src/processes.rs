//! The processes behind runs: finding, stopping and starting them.

pub mod detached;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mle_star_domain::layout::LOCK;
use mle_star_domain::trouble::Trouble;
use mle_star_report::files;
use mle_star_report::run_view;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

/// Bytes of a lock file that are read.
const MAX_NOTE_BYTES: u64 = 100;
/// What `/proc` appends to the path of a program whose file was removed.
const DELETED: &str = " (deleted)";

/// An `mle-star` process of this user that works on runs.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    id: Pid,
    /// Its start time, since process IDs are reused.
    started: String,
}

/// The process that works on the run in this folder.
///
/// # Errors
/// There is none, or it is not known to be an `mle-star` process of this user.
pub fn working(folder: &Path) -> Result<Worker, Trouble> {
    if !run_view::is_running(folder) {
        let hint = "it has ended or was already stopped; look at the run";
        return Err(Trouble::new("no process works on this run", hint));
    }
    let holder = files::read(folder, LOCK, MAX_NOTE_BYTES).unwrap_or_default();
    let id = holder.strip_prefix("process ").and_then(|id| id.trim().parse().ok()).map(Pid::from_raw);
    let ours = id.filter(|id| is_ours(*id) && holds(*id, folder));
    ours.map(|id| Worker { id, started: start_time(id) }).ok_or_else(|| {
        let message =
            format!("the run is held by {holder}, which is not an mle-star process of yours on this machine");
        Trouble::new(message, "stop it where it was started, with Ctrl-C")
    })
}

impl Worker {
    /// Does what Ctrl-C does: the first time asks the process to stop, the second time ends it at once.
    ///
    /// # Errors
    /// It has ended, or cannot be signalled.
    pub fn interrupt(&self) -> Result<(), Trouble> {
        kill(self.id, Signal::SIGINT).map_err(|error| {
            let message = format!("process {} cannot be asked to stop: {error}", self.id);
            Trouble::new(message, "look at the run again: it may have ended by itself")
        })
    }
}

/// The start time of a process, as `/proc` has it; empty if it has ended.
fn start_time(id: Pid) -> String {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The second column is a name in brackets with any characters, so columns are counted from its end; this is
    // the twenty-second.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().nth(19).unwrap_or_default().to_owned()
}

/// A path as a user may write it: `~` is the home folder.
pub fn expanded(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(below), Some(home)) => PathBuf::from(home).join(below),
        _ => PathBuf::from(text),
    }
}

/// Whether it is this program, run by this user.
fn is_ours(id: Pid) -> bool {
    let of = PathBuf::from(format!("/proc/{id}"));
    let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().trim_end_matches(DELETED).to_owned());
    let runs = fs::read_link(of.join("exe")).ok().and_then(name);
    let is_own = fs::metadata(&of).is_ok_and(|meta| meta.uid() == geteuid().as_raw());
    is_own && runs.is_some() && runs == std::env::current_exe().ok().and_then(name)
}

/// Whether the process has the lock of the run in this folder open.
fn holds(id: Pid, folder: &Path) -> bool {
    let inode = |path: &Path| fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let lock = inode(&folder.join(LOCK));
    let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let mut files = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    lock.is_some() && files.any(|file| file.ends_with(LOCK) && inode(&file) == lock)
}
