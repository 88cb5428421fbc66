//! The processes behind runs, for the web page and for tools of other agents: finding, stopping and starting them.

mod launch;
mod output;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mle_star_domain::layout::LOCK;
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

/// An `mle-star` process of this user that works on runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Worker {
    id: Pid,
    /// The folders of its runs.
    pub runs: Vec<PathBuf>,
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
    /// It works on its run, or has ended successfully.
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
    let cannot = |error: std::io::Error| {
        let message = format!("cannot start mle-star: {error}");
        Trouble::new(message, "check the runs directory and that the system allows more processes")
    };
    fs::create_dir_all(runs_dir).map_err(cannot)?;
    output::remove_abandoned(runs_dir);
    let output = output::create(runs_dir).map_err(cannot)?;
    let streams = || output.as_file().try_clone();
    let (out, err) = (streams().map_err(cannot)?, streams().map_err(cannot)?);
    late.forget(folder);
    let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
    command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(err);
    let mut child = in_own_session(&mut command).spawn().map_err(cannot)?;
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
    let holds = || worker(folder).is_ok_and(|worker| worker.is_some_and(|worker| worker.id == id));
    let far = came_far(&mut child, holds).map_err(cannot)?;
    let Some(begun) = far else { return Err(output::last_words(output.path())) };
    if begun == Begun::Going {
        // Otherwise it stays a zombie.
        std::thread::spawn(move || child.wait());
        output::keep(output, folder).map_err(cannot)?;
    } else {
        late.follow(child, output, folder);
    }
    Ok(begun)
}

/// Starts that were still reading the data when nobody waited for them any longer, by run ID, with the error of those that ended
/// without a run.
#[derive(Clone, Debug, Default)]
pub struct Late(Arc<Mutex<BTreeMap<String, Option<Trouble>>>>);

impl Late {
    /// Every start that is in progress or ended without a run.
    pub fn all(&self) -> BTreeMap<String, Option<Trouble>> {
        self.known().clone()
    }

    /// Whether the process of this run is still reading the data.
    pub fn is_preparing(&self, run: &str) -> bool {
        matches!(self.known().get(run), Some(None))
    }

    /// The error of a start that ended without a run.
    pub fn failed(&self, run: &str) -> Option<Trouble> {
        self.known().get(run)?.clone()
    }

    fn follow(&self, child: Child, output: NamedTempFile, folder: &Path) {
        let name = id_of(folder);
        self.known().insert(name.clone(), None);
        let (late, folder) = (self.clone(), folder.to_owned());
        std::thread::spawn(move || {
            let trouble = late_end(child, output, &folder);
            let mut known = late.known();
            match trouble {
                Some(trouble) => known.insert(name, Some(trouble)),
                None => known.remove(&name),
            }
        });
    }

    /// A new start with the same run ID counts instead of an earlier one.
    fn forget(&self, folder: &Path) {
        self.known().remove(&id_of(folder));
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Option<Trouble>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ID of the run in this folder, which may not exist yet.
fn id_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Waits for a process and returns its error if it ended without a run. Its output is kept with the run, or removed.
fn late_end(mut child: Child, output: NamedTempFile, folder: &Path) -> Option<Trouble> {
    let is_well = child.wait().is_ok_and(|status| status.success());
    if is_well || runs::is_run(folder) {
        // If it cannot be kept, the run still has its own log.
        drop(output::keep(output, folder));
        return None;
    }
    Some(output::last_words(output.path()))
}

/// Waits for a process to lock its run; `None` if it ends before.
fn came_far(child: &mut Child, holds: impl Fn() -> bool) -> std::io::Result<Option<Begun>> {
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
    let name =
        |path: PathBuf| Some(path.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned());
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

    /// A shell script that prints the signals it receives.
    const LISTENER: &str =
        "trap 'echo asked' INT; trap 'echo heard' TERM; echo ready; while :; do sleep 0.01; done";

    #[test]
    fn asking_twice_asks_once_and_at_once_is_another_wish() {
        let mut child = Command::new("sh").args(["-c", LISTENER]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let worker = Worker { id: Pid::from_raw(child.id().try_into().unwrap()), runs: Vec::new() };
        assert_eq!(lines.next().as_deref(), Some("ready"));
        let interrupted = Interrupted::default();
        let mut check = |stopping: Stopping, expected: &[&str]| {
            interrupted.interrupt(&worker, stopping).unwrap();
            kill(worker.id, Signal::SIGTERM).unwrap();
            // The interrupt is delivered before later signals.
            let heard: Vec<String> = lines.by_ref().take_while(|line| line != "heard").collect();
            assert_eq!(heard, expected, "{stopping:?}");
        };
        assert!(!interrupted.holds(&worker));
        check(Stopping::InOrder, &["asked"]);
        check(Stopping::InOrder, &[]);
        check(Stopping::AtOnce, &["asked"]);
        assert!(interrupted.holds(&worker));
        assert_ne!(started(worker.id), "");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(started(worker.id), "", "another process with its number is another process");
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
        late.follow(child, output, &folder);
        assert!(late.is_preparing("r") && late.failed("r").is_none());
        drop(stdin);
        let deadline = Instant::now() + Duration::from_secs(20);
        while late.is_preparing("r") {
            assert!(Instant::now() < deadline, "the end is not noticed");
            std::thread::sleep(LOOK);
        }
        assert_eq!(late.failed("r").unwrap().message, "no column");
        late.forget(&folder);
        assert!(late.failed("r").is_none() && !late.is_preparing("r"));
    }

    #[test]
    fn a_late_end_without_a_run_is_an_error() {
        let check = |folder: &str, script: &str, expected: Option<&str>| {
            let runs_dir = tempfile::tempdir().unwrap();
            fs::create_dir(runs_dir.path().join("run")).unwrap();
            fs::write(runs_dir.path().join("run/task.json"), "{}").unwrap();
            let output = NamedTempFile::new_in(runs_dir.path()).unwrap();
            let (out, path) = (output.reopen().unwrap(), output.path().to_owned());
            let child = Command::new("sh").args(["-c", script]).stdout(out).spawn().unwrap();
            let folder = runs_dir.path().join(folder);
            let trouble = late_end(child, output, &folder);
            assert_eq!(trouble.map(|trouble| trouble.message).as_deref(), expected, "{script}");
            assert!(!path.exists(), "{script}");
            assert_eq!(folder.join("logs/started.log").exists(), expected.is_none(), "{script}");
        };
        check("none", "echo 'error: no column'; echo 'hint: none'; exit 2", Some("no column"));
        check("run", "echo 'error: broken'; exit 1", None);
        check("run", "echo well", None);
    }
}
