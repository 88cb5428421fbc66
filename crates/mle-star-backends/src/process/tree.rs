//! A running child with everything it starts, as one thing that can be watched and ended.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::confine::Confinement;
use super::guard::{self, REPORT, TERMINATE};

/// How long a dropped tree is waited for, in milliseconds; it takes a few as a rule.
const LAST_WAIT_MS: u16 = 10_000;

/// How long a guard may take from the order to kill to its report: it kills for 20 seconds at most.
const REPORTING: Duration = Duration::from_secs(25);
/// How long the end of a guard is waited for that was killed.
const DYING: Duration = Duration::from_secs(5);

/// By this variable processes are found again whose guard was killed.
const MARK: &str = "MLE_STAR_CHILD";
/// How many trees this process has started.
static TREES: AtomicU64 = AtomicU64::new(0);

/// A child, its guard and all descendants. Dropping it ends them all before the drop returns.
#[derive(Debug)]
pub struct Tree {
    guard: Guard,
    /// The guard that is next to the script: the child of the one outside where there are namespaces.
    root: Option<u32>,
    /// The guard ends everything when this is closed.
    control: Option<PipeWriter>,
    report: Receiver,
    /// As much of the report as has come.
    heard: Vec<u8>,
    /// The value of [`MARK`] that every process of the tree inherits.
    mark: String,
}

/// Who ends what a child started.
#[derive(Debug)]
enum Guard {
    /// A process of its own, for this child alone.
    Own(Child),
    /// One that a worker forked; `None` once the worker was taken back.
    OfWorker(Option<Box<Tree>>),
}

/// What a worker needs of a child that it is to fork: the child's streams, and the guard's ends of the pipes.
pub(crate) struct Ends {
    pub(crate) stdout: PipeWriter,
    pub(crate) stderr: PipeWriter,
    pub(crate) control: PipeReader,
    pub(crate) report: PipeWriter,
}

/// The program's ends of a child's standard streams.
pub struct Streams {
    /// `None` for a child without standard input.
    pub stdin: Option<ChildStdin>,
    /// What it prints.
    pub stdout: ChildStdout,
    /// Its diagnostics.
    pub stderr: ChildStderr,
}

/// How a tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The child's own end; `None` when the guard was killed before it could tell.
    pub status: Option<ExitStatus>,
    /// Processes that the child left behind and that were killed.
    pub left_behind: u32,
}

impl Tree {
    /// Starts `command` under a guard; returns its streams too.
    ///
    /// # Errors
    /// What the system says when it cannot be started.
    pub fn spawn(command: Command, stdin: Stdio) -> io::Result<(Self, Streams)> {
        Self::spawn_confined(command, stdin, Confinement::default())
    }

    /// The same, bound by `confinement`.
    ///
    /// # Errors
    /// What the system says when it cannot be started or bound.
    pub(crate) fn spawn_confined(
        command: Command,
        stdin: Stdio,
        confinement: Confinement,
    ) -> io::Result<(Self, Streams)> {
        Self::spawn_under(guard::arrange, command, stdin, confinement)
    }

    /// The same under the guard that `arrange` arranges.
    pub(crate) fn spawn_under(
        arrange: impl FnOnce(&mut std::process::Command, OwnedFd, OwnedFd, Confinement),
        mut command: Command,
        stdin: Stdio,
        confinement: Confinement,
    ) -> io::Result<(Self, Streams)> {
        let (orders, control) = io::pipe()?;
        let (report, status) = io::pipe()?;
        let in_namespaces = confinement.namespaces.is_some();
        arrange(command.as_std_mut(), orders.into(), status.into(), confinement);
        let mark = format!("{}.{}", std::process::id(), TREES.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &mark);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = command.spawn()?;
        let root = if in_namespaces { guard.id().and_then(only_child) } else { guard.id() };
        let (stdin, output) = (guard.stdin.take(), guard.stdout.take().zip(guard.stderr.take()));
        let report = Receiver::from_owned_fd(report.into())?;
        let guard = Guard::Own(guard);
        let tree = Self { mark, guard, root, control: Some(control), report, heard: Vec::new() };
        let (stdout, stderr) = output.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((tree, Streams { stdin, stdout, stderr }))
    }

    /// The tree of a child that a guard forks, process `root`, which `worker` forked, once it is sent the ends.
    ///
    /// # Errors
    /// What the system says when there are too many open files.
    pub(crate) fn forked(worker: Self, root: u32) -> io::Result<(Self, Streams, Ends)> {
        let (orders, control) = io::pipe()?;
        let (report, status) = io::pipe()?;
        let ((out, stdout), (err, stderr)) = (io::pipe()?, io::pipe()?);
        let ends = Ends { stdout, stderr, control: orders, report: status };
        let stdout = ChildStdout::from_std(OwnedFd::from(out).into())?;
        let stderr = ChildStderr::from_std(OwnedFd::from(err).into())?;
        let (mark, guard) = (worker.mark.clone(), Guard::OfWorker(Some(Box::new(worker))));
        let (report, control) = (Receiver::from_owned_fd(report.into())?, Some(control));
        let tree = Self { guard, root: Some(root), control, report, heard: Vec::new(), mark };
        Ok((tree, Streams { stdin: None, stdout, stderr }, ends))
    }

    /// The worker whose guard forked the child, for the next one. What is left of this tree ends with it.
    pub(crate) fn into_worker(mut self) -> Option<Self> {
        match &mut self.guard {
            Guard::Own(_) => None,
            Guard::OfWorker(worker) => worker.take().map(|worker| *worker),
        }
    }

    /// The variable, with its value, that every process of the tree carries.
    pub(crate) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// The process id of the guard that has the script and everything it started below it. `None` when it ended at
    /// once.
    pub(crate) fn root(&self) -> Option<u32> {
        self.root
    }

    /// Asks the child's process group to end.
    pub fn terminate(&mut self) {
        if let Some(control) = &mut self.control {
            // An error means that the guard is gone, and with it the child.
            let _ = control.write_all(&[TERMINATE]);
        }
    }

    /// Ends everything at once.
    pub fn kill(&mut self) {
        self.control = None;
    }

    /// Waits until nothing of the tree is left. After [`kill`](Self::kill) not for ever: a guard that does not obey, since
    /// it was stopped or hangs in the kernel, is killed itself.
    ///
    /// # Errors
    /// What the system says when the guard cannot be waited for.
    pub async fn ended(&mut self) -> io::Result<Ending> {
        let is_killed = self.control.is_none();
        let reporting = async {
            if let Guard::Own(guard) = &mut self.guard {
                guard.wait().await?;
            }
            // Only the guard holds the other end, and it closes it when nothing of the child is left.
            hear_report(&self.report, &mut self.heard).await
        };
        if is_killed {
            // What was heard until then counts.
            timeout(REPORTING, reporting).await.unwrap_or(Ok(()))?;
        } else {
            reporting.await?;
        }
        let Ok([a, b, c, d, e, f, g, h]) = <[u8; REPORT]>::try_from(self.heard.as_slice()) else {
            self.end_without_guard().await?;
            return Ok(Ending { status: None, left_behind: 0 });
        };
        let status = Some(ExitStatus::from_raw(i32::from_ne_bytes([a, b, c, d])));
        Ok(Ending { status, left_behind: u32::from_ne_bytes([e, f, g, h]) })
    }

    /// Ends what is left when the guard has not reported.
    async fn end_without_guard(&mut self) -> io::Result<()> {
        match &mut self.guard {
            Guard::Own(guard) => {
                // With the guard the script dies, unless it is itself what hangs.
                let _ = guard.start_kill();
                timeout(DYING, guard.wait()).await.unwrap_or(Ok(ExitStatus::default()))?;
            }
            Guard::OfWorker(Some(worker)) => {
                worker.kill();
                Box::pin(worker.ended()).await?;
            }
            Guard::OfWorker(None) => {}
        }
        end_strays(&self.mark);
        Ok(())
    }
}

/// Reads the report to its end; what was read stays when this is dropped half way.
async fn hear_report(report: &Receiver, heard: &mut Vec<u8>) -> io::Result<()> {
    loop {
        report.readable().await?;
        match report.try_read_buf(heard) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
}

impl Drop for Tree {
    /// Waits for the end, because whoever dropped the tree is promised that nothing of it runs any more.
    fn drop(&mut self) {
        self.kill();
        let mut hung_up = [PollFd::new(self.report.as_fd(), PollFlags::POLLIN)];
        let heard = loop {
            match poll(&mut hung_up, LAST_WAIT_MS) {
                Err(Errno::EINTR) => {}
                heard => break heard,
            }
        };
        // A worker is dropped next, and its guard ends what it forked.
        if let (Ok(0), Guard::Own(guard)) = (heard, &mut self.guard) {
            let _ = guard.start_kill();
            end_strays(&self.mark);
        }
    }
}

/// The process that `process` has started, and waits for.
pub(crate) fn only_child(process: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// Runs a program that does nothing under `confinement`, to see whether that is possible.
///
/// # Errors
/// What the system refuses.
pub(crate) fn trial(confinement: Confinement) -> io::Result<()> {
    let (orders, control) = io::pipe()?;
    let (mut report, status) = io::pipe()?;
    let mut command = std::process::Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    guard::arrange(&mut command, orders.into(), status.into(), confinement);
    let mut guard = command.spawn()?;
    drop(command);
    guard.wait()?;
    drop(control);
    let mut answer = [0; REPORT];
    report.read_exact(&mut answer)?;
    if answer == [0; REPORT] { Ok(()) } else { Err(io::Error::other("a program in there does not run")) }
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
