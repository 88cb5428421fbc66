//! Runs in processes of their own. This process opens a run, which finds every mistake in it; another one drives it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use mle_star::result::FinalResult;
use mle_star_domain::layout::{LOGS, STARTED_LOG};
use mle_star_domain::trouble::Trouble;
use mle_star_process::in_own_session;
use mle_star_report::files;
use mle_star_report::run_view::{self, State};
use mle_star_run::fork;
use mle_star_run::prepare::{prepare, task_source};
use mle_star_run::resume::{ReopenedRun, reopen};
use mle_star_run::{OpenRun, runs};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;

use super::DELETED;
use crate::args::{ForkArgs, ResumeArgs, RunArgs};
use crate::commands::resume::already_finished;
use crate::commands::run::forget_if_unusable;
use crate::exit::{Exit, Failure};

/// A process that ends this soon after it locked its run has failed.
const START_TIMEOUT: Duration = Duration::from_millis(700);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of the end of its output that are read for its error.
const MAX_LOG_TAIL_BYTES: u64 = 8 * 1024;
/// A run that goes on in a process of its own.
#[derive(Debug, Serialize)]
pub struct Detached {
    /// The run ID.
    pub run_id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// `running`, `finished` if there is nothing left to do, or `unfinished` if it was stopped at once.
    pub state: State,
    /// Where its inputs come from and how it evaluates, or why there is nothing to do.
    pub notes: Vec<String>,
}

/// Starts a run.
///
/// # Errors
/// The task or an option is wrong, or its process ended at once.
pub fn start(args: &RunArgs) -> Result<Detached, Failure> {
    let run = prepare(&args.options()?, &task_source::find_one(&args.path)?)?.freeze(&|_| ())?;
    let folder = run.folder.clone();
    let started = detached(run, &|| None);
    forget_if_unusable(&folder, &started);
    started
}

/// Resumes a run.
///
/// # Errors
/// It cannot be resumed, or its process ended at once.
pub fn resume(folder: &Path, args: &ResumeArgs) -> Result<Detached, Failure> {
    match reopen(folder, &args.options())? {
        ReopenedRun::Unfinished(run) => detached(*run, &|| None),
        ReopenedRun::Finished(result) => Ok(finished(folder, &result)),
    }
}

/// Makes a new run from a place of the one in `parent`.
///
/// # Errors
/// It cannot be made, or its process ended at once.
pub fn fork(parent: &Path, args: &ForkArgs) -> Result<Detached, Failure> {
    resume(&fork::fork(parent, &args.options()?)?, &ResumeArgs::default())
}

/// A run that has nothing left to do.
pub fn finished(folder: &Path, result: &FinalResult) -> Detached {
    let run_id = runs::name(folder).unwrap_or_default();
    Detached { run_id, folder: absolute(folder), state: State::Finished, notes: already_finished(result) }
}

/// Goes on with a run. `stopped` says whether the user wants to stop while its process starts.
///
/// # Errors
/// Its process ended at once.
pub fn detached(run: OpenRun, stopped: &dyn Fn() -> Option<Exit>) -> Result<Detached, Failure> {
    let cannot = |error: io::Error| {
        let message = format!("cannot start mle-star: {error}");
        let hint = "check the run folder and that the system allows more processes";
        Failure::failed(Trouble::resumable(message, hint))
    };
    let folder = absolute(&run.folder);
    let notes = run.frozen.opening.said.clone();
    // Unlocks it for the other process.
    drop(run);
    let output = output(&folder).map_err(cannot)?;
    let said = output.try_clone().map_err(cannot)?;
    let mut command = Command::new(program().map_err(cannot)?);
    command.args(["resume", "--quiet", "--"]).arg(&folder);
    command.stdin(Stdio::null()).stdout(output).stderr(said);
    let mut child = in_own_session(&mut command).spawn().map_err(cannot)?;
    let ended = early_end(&mut child, &folder, stopped).map_err(cannot)?;
    let exit =
        ended.and_then(|end| end.code()).map(|code| u8::try_from(code).map_or(Exit::Failed, Exit::of_code));
    let state = match exit {
        None | Some(Exit::Done) => State::Running,
        Some(Exit::Interrupted | Exit::Terminated) => State::Unfinished,
        Some(exit) => return Err(Failure { exit, trouble: last_words(&folder) }),
    };
    // It is waited for as long as this process lives.
    std::thread::spawn(move || child.wait());
    let run_id = runs::name(&folder).unwrap_or_default();
    Ok(Detached { run_id, folder, state, notes })
}

/// Waits for a process to lock its run, and a moment longer; returns its status if it ends meanwhile.
fn early_end(
    child: &mut Child,
    folder: &Path,
    stopped: &dyn Fn() -> Option<Exit>,
) -> io::Result<Option<ExitStatus>> {
    let mut locked: Option<Instant> = None;
    let mut is_asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if !is_asked && stopped().is_some() {
            is_asked = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).is_ok();
        }
        if locked.is_none() && run_view::is_running(folder) {
            locked = Some(Instant::now());
        }
        if !is_asked && locked.is_some_and(|since| since.elapsed() >= START_TIMEOUT) {
            return Ok(None);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A new file for what the process prints.
fn output(folder: &Path) -> io::Result<File> {
    let logs = folder.join(LOGS);
    fs::create_dir_all(&logs)?;
    let log = logs.join(STARTED_LOG);
    match fs::remove_file(&log) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(log)
}

/// The error and hint at the end of what the process printed, or all of it.
fn last_words(folder: &Path) -> Trouble {
    let text = files::open(folder, &format!("{LOGS}/{STARTED_LOG}"))
        .and_then(|file| files::tail(file, MAX_LOG_TAIL_BYTES))
        .map(|(text, _)| text)
        .unwrap_or_default();
    error_in(&text).unwrap_or_else(|| Trouble::new(format!("mle-star ended at once: {}", text.trim()), ""))
}

/// The last error in what the program printed, with its hint.
pub fn error_in(text: &str) -> Option<Trouble> {
    let last = |prefix: &str| text.lines().rev().find_map(|line| line.strip_prefix(prefix));
    Some(Trouble::new(last("error: ")?, last("hint: ").unwrap_or_default()))
}

fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// This program, or the one that replaced it meanwhile.
pub fn program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let bytes = path.as_os_str().as_bytes();
    Ok(OsStr::from_bytes(bytes.strip_suffix(DELETED.as_bytes()).unwrap_or(bytes)).into())
}
