//! The processes behind runs, for the web page and for tools of other agents: finding, stopping and starting them.

mod launch;
mod output;

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mle_star_domain::layout::{EVENTS, LOCK, LOGS};
use mle_star_domain::trouble::Trouble;
use mle_star_process::in_own_session;
use mle_star_report::files;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::NamedTempFile;

use mle_star_report::run_view;
use mle_star_run::runs;

pub use launch::{Launched, fork, launch, prepared, resumable, resume};

/// Bytes of a lock file that are read.
const LONGEST_NOTE: u64 = 100;
/// How long to wait for a process to lock its run, after it has read the data.
const PATIENCE: Duration = Duration::from_secs(60);
/// A process that ends this soon after it locked its run has failed.
const FIRST_STEPS: Duration = Duration::from_millis(700);
const LOOK: Duration = Duration::from_millis(50);
/// What `/proc` appends to the path of a program whose file was removed.
const GONE: &str = " (deleted)";

/// An `mle-star` process of this user that works on runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Worker {
    id: Pid,
    /// The folders of its runs.
    runs: Vec<PathBuf>,
}

/// The process that works on the run in this folder, if any.
///
/// # Errors
/// There is one, but it is not known to be an `mle-star` process of this user.
pub fn worker(folder: &Path) -> Result<Option<Worker>, Trouble> {
    if !run_view::is_held(folder) {
        return Ok(None);
    }
    let holder = files::read(folder, LOCK, LONGEST_NOTE).unwrap_or_default();
    let id = holder.strip_prefix("process ").and_then(|id| id.trim().parse().ok()).map(Pid::from_raw);
    let found = id.filter(|id| is_ours(*id)).map(|id| Worker { id, runs: runs_of(id) });
    let locked = inode(&folder.join(LOCK));
    let holds = |worker: &Worker| worker.runs.iter().any(|run| inode(&run.join(LOCK)) == locked);
    match found.filter(holds) {
        Some(worker) => Ok(Some(worker)),
        None => {
            let message = format!(
                "the run is held by {holder}, which is not an mle-star process of yours on this machine"
            );
            Err(Trouble::new(message, "stop it where it was started, with Ctrl-C"))
        }
    }
}

/// The process that works on the run in this folder.
///
/// # Errors
/// There is none, or it is not known to be an `mle-star` process of this user.
pub fn working(folder: &Path) -> Result<Worker, Trouble> {
    worker(folder)?.ok_or_else(|| {
        Trouble::new("no process works on this run", "it has ended or was already stopped; look at the run")
    })
}

/// The processes that were asked to stop, with their start times, since process IDs are reused.
#[derive(Debug, Default)]
pub struct Interrupted(Mutex<HashSet<(Pid, String)>>);

/// How a process is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// After it has recorded its state. Asking again changes nothing.
    InOrder,
    /// At once, if it was asked before.
    AtOnce,
}

impl Interrupted {
    /// Whether this process was asked to stop.
    pub fn holds(&self, worker: &Worker) -> bool {
        self.known().contains(&worker.key())
    }

    /// Does what Ctrl-C does: the first time asks the process to stop, the second time ends it at once.
    ///
    /// # Errors
    /// It has ended, or cannot be signalled.
    pub fn interrupt(&self, worker: &Worker, stopping: Stopping) -> Result<(), Trouble> {
        let mut known = self.known();
        if stopping == Stopping::InOrder && known.contains(&worker.key()) {
            return Ok(());
        }
        kill(worker.id, Signal::SIGINT).map_err(|error| {
            let message = format!("process {} cannot be asked to stop: {error}", worker.id);
            Trouble::new(message, "look at the run again: it may have ended by itself")
        })?;
        known.insert(worker.key());
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, HashSet<(Pid, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    fn key(&self) -> (Pid, String) {
        (self.id, started(self.id))
    }
}

/// The start time of a process, as `/proc` has it; empty if it has ended.
fn started(id: Pid) -> String {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The second column is a name in brackets with any characters, so columns are counted from its end; this is
    // the twenty-second.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().nth(19).unwrap_or_default().to_owned()
}

/// The stage of a process that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It has locked its run, or ended with exit code 0. It may still refuse to go on.
    Going,
    /// It has no run yet.
    Preparing,
}

/// Starts `mle-star` with these arguments in a separate session and waits until it has locked the run in `folder`. Its
/// output goes to a file beside the runs, and to `logs/` of the run once that exists.
///
/// # Errors
/// It cannot be started, or it ended early; then with its error.
fn begin(runs_dir: &Path, folder: &Path, arguments: &[OsString], late: &Late) -> Result<Begun, Trouble> {
    let cannot = |error: io::Error| {
        let message = format!("cannot start mle-star: {error}");
        Trouble::new(message, "check the runs directory and that the system allows more processes")
    };
    fs::create_dir_all(runs_dir).map_err(cannot)?;
    output::remove_abandoned(runs_dir);
    let output = output::create(runs_dir).map_err(cannot)?;
    let streams = || output.as_file().try_clone();
    let (out, err) = (streams().map_err(cannot)?, streams().map_err(cannot)?);
    let said = output.reopen().map_err(cannot)?;
    late.forget(folder);
    let recorded = recorded(folder);
    let mut command = Command::new(program().map_err(cannot)?);
    command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(err);
    let mut child = in_own_session(&mut command).spawn().map_err(cannot)?;
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
    // A folder that is only locked yet is no run for others.
    let holds = || {
        runs::is_run(folder)
            && worker(folder).is_ok_and(|worker| worker.is_some_and(|worker| worker.id == id))
    };
    let far = came_far(&mut child, holds).map_err(cannot)?;
    let Some(begun) = far else { return Err(output::last_words(said)) };
    let (output, kept) = match begun {
        Begun::Going => (None, output::keep(output, folder)),
        Begun::Preparing => (Some(output), Ok(())),
    };
    late.follow(Started { child, said, output, recorded }, folder);
    kept.map_err(cannot)?;
    Ok(begun)
}

/// This program, or the one that replaced it meanwhile.
fn program() -> io::Result<PathBuf> {
    std::env::current_exe().map(|path| replaced(&path))
}

/// `/proc` appends a word to the path of a file that was removed.
fn replaced(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    OsStr::from_bytes(bytes.strip_suffix(GONE.as_bytes()).unwrap_or(bytes)).into()
}

/// A path as a user may write it: `~` is the home folder.
pub fn expanded(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(below), Some(home)) => PathBuf::from(home).join(below),
        _ => PathBuf::from(text),
    }
}

/// Bytes of the events that a run has recorded.
fn recorded(folder: &Path) -> u64 {
    fs::metadata(folder.join(LOGS).join(EVENTS)).map_or(0, |meta| meta.len())
}

/// A process that was started, and what its end is told from.
struct Started {
    child: Child,
    /// Its output, to read.
    said: File,
    /// The same, unless its run has it already.
    output: Option<NamedTempFile>,
    /// What [`recorded`] was before the start.
    recorded: u64,
}

/// The last starts of runs, by their folders: those in progress, and those that ended before the run went on.
#[derive(Clone, Debug, Default)]
pub struct Late(Arc<Mutex<BTreeMap<PathBuf, LateStart>>>);

#[derive(Debug)]
enum LateStart {
    /// Nobody waits for it any longer, and it has maybe no run yet.
    Preparing,
    /// It has locked its run.
    Going,
    /// It ended with this error. What [`recorded`] was then: the error is of the past once its run has recorded more.
    Failed(Trouble, u64),
}

impl LateStart {
    fn trouble(&self, folder: &Path) -> Option<Trouble> {
        match self {
            Self::Failed(trouble, then) if recorded(folder) == *then => Some(trouble.clone()),
            _ => None,
        }
    }
}

impl Late {
    /// Every start that nobody waits for or that has failed, by run ID, with the error.
    pub fn all(&self) -> BTreeMap<String, Option<Trouble>> {
        let known = self.known();
        let seen = known.iter().map(|(folder, start)| (folder, start, start.trouble(folder)));
        let shown = seen
            .filter(|(_, start, trouble)| trouble.is_some() || matches!(start, LateStart::Preparing))
            .map(|(folder, _, trouble)| (id_of(folder), trouble));
        shown.collect()
    }

    /// Whether the process of the run in this folder may still be reading the data.
    pub fn is_preparing(&self, folder: &Path) -> bool {
        matches!(self.known().get(folder), Some(LateStart::Preparing))
    }

    /// Whether a process that was started for the run in this folder has not ended.
    pub fn is_in_progress(&self, folder: &Path) -> bool {
        matches!(self.known().get(folder), Some(LateStart::Preparing | LateStart::Going))
    }

    /// The error of a start of the run in this folder that ended before the run went on.
    pub fn failed(&self, folder: &Path) -> Option<Trouble> {
        self.known().get(folder)?.trouble(folder)
    }

    fn follow(&self, started: Started, folder: &Path) {
        let start = if started.output.is_some() { LateStart::Preparing } else { LateStart::Going };
        self.known().insert(folder.to_owned(), start);
        let (late, folder) = (self.clone(), folder.to_owned());
        std::thread::spawn(move || {
            let trouble = late_end(started, &folder);
            let then = recorded(&folder);
            let mut known = late.known();
            match trouble {
                Some(trouble) => known.insert(folder, LateStart::Failed(trouble, then)),
                None => known.remove(&folder),
            }
        });
    }

    /// A new start of a run counts instead of an earlier one.
    fn forget(&self, folder: &Path) {
        self.known().remove(folder);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, LateStart>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ID of the run in this folder, which may not exist yet.
fn id_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Waits for a process and returns its error if it failed before its run recorded anything. Its output is kept with the
/// run, or removed.
fn late_end(started: Started, folder: &Path) -> Option<Trouble> {
    let Started { mut child, said, output, recorded: before } = started;
    // A process that was stopped did not fail.
    let is_over = |status: ExitStatus| {
        status.success() || status.signal().is_some() || matches!(status.code(), Some(130 | 143))
    };
    let is_well = child.wait().is_ok_and(is_over) || recorded(folder) != before;
    if let Some(output) = output.filter(|_| is_well || runs::is_run(folder)) {
        // If it cannot be kept, the run still has its own log.
        drop(output::keep(output, folder));
    }
    (!is_well).then(|| output::last_words(said))
}

/// Waits for a process to lock its run, and a moment longer; `None` if it ends without success meanwhile.
fn came_far(child: &mut Child, holds: impl Fn() -> bool) -> io::Result<Option<Begun>> {
    let mut until = Instant::now() + PATIENCE;
    let mut begun = Begun::Preparing;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success().then_some(Begun::Going));
        }
        if begun == Begun::Preparing && holds() {
            (begun, until) = (Begun::Going, Instant::now() + FIRST_STEPS);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Some(begun))
}

/// Whether it is this program, run by this user.
fn is_ours(id: Pid) -> bool {
    let of = PathBuf::from(format!("/proc/{id}"));
    let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().trim_end_matches(GONE).to_owned());
    let runs = fs::read_link(of.join("exe")).ok().and_then(name);
    let is_own = fs::metadata(&of).is_ok_and(|meta| meta.uid() == geteuid().as_raw());
    is_own && runs.is_some() && runs == std::env::current_exe().ok().and_then(name)
}

/// The folders of the runs that a process has locked.
fn runs_of(id: Pid) -> Vec<PathBuf> {
    let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let files = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let mut runs: Vec<PathBuf> = files
        .filter(|file| file.ends_with(LOCK))
        .filter_map(|file| Some(file.parent()?.to_owned()))
        .collect();
    runs.sort();
    runs.dedup();
    runs
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn asking_twice_asks_once_and_at_once_is_another_wish() {
        let script = "trap 'echo asked' INT; trap 'echo heard' TERM; echo ready; while :; do sleep .1; done";
        let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let worker = Worker { id: Pid::from_raw(child.id().try_into().unwrap()), runs: Vec::new() };
        assert_eq!(lines.next().as_deref(), Some("ready"));
        let interrupted = Interrupted::default();
        for (stopping, asked) in [(Stopping::InOrder, 1), (Stopping::InOrder, 0), (Stopping::AtOnce, 1)] {
            interrupted.interrupt(&worker, stopping).unwrap();
            kill(worker.id, Signal::SIGTERM).unwrap();
            // The interrupt is delivered before later signals.
            assert_eq!(lines.by_ref().take_while(|line| line != "heard").count(), asked, "{stopping:?}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn an_error_of_a_late_start_counts_until_the_next_start() {
        let runs_dir = tempfile::tempdir().unwrap();
        let folder = runs_dir.path().join("r");
        let output = output::create(runs_dir.path()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "read -r _; echo 'error: no column'; exit 2"]).stdin(Stdio::piped());
        let mut child = command.stdout(output.as_file().try_clone().unwrap()).spawn().unwrap();
        let stdin = child.stdin.take();
        let late = Late::default();
        let said = output.reopen().unwrap();
        late.follow(Started { child, said, output: Some(output), recorded: 0 }, &folder);
        assert!(late.is_preparing(&folder) && late.is_in_progress(&folder) && late.failed(&folder).is_none());
        drop(stdin);
        let deadline = Instant::now() + Duration::from_secs(20);
        while late.is_preparing(&folder) {
            assert!(Instant::now() < deadline, "the end is not noticed");
            std::thread::sleep(LOOK);
        }
        assert_eq!(late.failed(&folder).unwrap().message, "no column");
        assert_eq!(late.all()["r"].as_ref().unwrap().message, "no column");
        // Another process went on.
        fs::create_dir_all(folder.join(LOGS)).unwrap();
        fs::write(folder.join(LOGS).join(EVENTS), "{}\n").unwrap();
        assert!(late.failed(&folder).is_none() && late.all().is_empty());
        late.forget(&folder);
        assert!(!late.is_in_progress(&folder));
    }
}
