//! A running script with everything it starts, as one thing that can be watched and ended.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::guard::{self, REPORT, TERMINATE};

/// How long a dropped tree is waited for, in milliseconds; it takes a few as a rule.
const LAST_WAIT_MS: u16 = 10_000;

/// By this variable processes are found again whose guard was killed.
const MARK: &str = "MLE_STAR_SCRIPT";
/// How many trees this process has started.
static TREES: AtomicU64 = AtomicU64::new(0);

/// A script, its guard and all descendants. Dropping it ends them all before the drop returns.
pub(super) struct Tree {
    guard: Child,
    /// The guard ends everything when this is closed.
    control: Option<PipeWriter>,
    report: PipeReader,
    /// The value of [`MARK`] that every process of the tree inherits.
    mark: String,
}

/// How a tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// The script's own end; `None` when the guard was killed before it could tell.
    pub(super) status: Option<ExitStatus>,
    /// Processes that the script left behind and that were killed.
    pub(super) left_behind: u32,
}

impl Tree {
    /// Starts `command` under a guard, without standard input; returns its output streams too.
    ///
    /// # Errors
    /// What the system says when it cannot be started.
    pub(super) fn spawn(mut command: Command) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let (orders, control) = io::pipe()?;
        let (report, status) = io::pipe()?;
        guard::arrange(&mut command, orders.into(), status.into());
        let mark = format!("{}.{}", std::process::id(), TREES.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &mark);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = command.spawn()?;
        let streams = guard.stdout.take().zip(guard.stderr.take());
        let tree = Self { mark, guard, control: Some(control), report };
        let (stdout, stderr) = streams.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((tree, stdout, stderr))
    }

    /// The guard's process id: the root of the tree. `None` once it has ended.
    pub(super) fn root(&self) -> Option<u32> {
        self.guard.id()
    }

    /// Asks the script's process group to end.
    pub(super) fn terminate(&mut self) {
        if let Some(control) = &mut self.control {
            // An error means that the guard is gone, and with it the script.
            let _ = control.write_all(&[TERMINATE]);
        }
    }

    /// Ends everything at once.
    pub(super) fn kill(&mut self) {
        self.control = None;
    }

    /// Waits until nothing of the tree is left.
    ///
    /// # Errors
    /// What the system says when the guard cannot be waited for.
    pub(super) async fn ended(&mut self) -> io::Result<Ending> {
        self.guard.wait().await?;
        let mut report = Vec::with_capacity(REPORT);
        self.report.read_to_end(&mut report)?;
        let Ok([a, b, c, d, e, f, g, h]) = <[u8; REPORT]>::try_from(report) else {
            end_strays(&self.mark);
            return Ok(Ending { status: None, left_behind: 0 });
        };
        let status = Some(ExitStatus::from_raw(i32::from_ne_bytes([a, b, c, d])));
        Ok(Ending { status, left_behind: u32::from_ne_bytes([e, f, g, h]) })
    }
}

impl Drop for Tree {
    /// Waits for the end, because whoever dropped the tree is promised that nothing of it runs any more.
    fn drop(&mut self) {
        self.kill();
        let mut hung_up = [PollFd::new(self.report.as_fd(), PollFlags::POLLIN)];
        while poll(&mut hung_up, LAST_WAIT_MS) == Err(Errno::EINTR) {}
    }
}

/// Kills every process that carries `mark` in its environment. What they start meanwhile is found by looking
/// again, until there is none.
fn end_strays(mark: &str) {
    let carried = format!("{MARK}={mark}");
    let carries = |process: &i32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == carried.as_bytes())
    };
    for _ in 0..100 {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let strays: Vec<i32> = processes.filter(carries).collect();
        if strays.is_empty() {
            return;
        }
        for stray in strays {
            let _ = kill(Pid::from_raw(stray), Signal::SIGKILL);
        }
    }
}
