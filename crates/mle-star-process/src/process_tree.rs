//! A running child with everything it starts.

use std::io::{self, PipeReader, PipeWriter, Write};
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

use crate::proc;
use crate::spawn::{Confinement, REPORT, TERMINATE, arrange};

/// How long a drop waits for the tree's end, in milliseconds. Usually it takes a few.
const LAST_WAIT_MS: u16 = 10_000;

/// How long a supervisor may take from the order to kill to its report. It kills for 20 seconds at most.
const REPORT_TIMEOUT: Duration = Duration::from_secs(25);
/// How long to wait for the end of a supervisor that was killed.
const DEATH_TIMEOUT: Duration = Duration::from_secs(5);

/// This variable identifies the processes of a tree whose supervisor was killed.
const MARK: &str = "MLE_STAR_CHILD";
/// How many trees this process has started.
static TREES: AtomicU64 = AtomicU64::new(0);

/// A child, its supervisor and all descendants. Dropping it ends them all before the drop returns.
#[derive(Debug)]
pub struct ProcessTree {
    supervisor: Supervisor,
    /// The supervisor next to the child: with namespaces, the child of the process outside.
    root: Option<u32>,
    /// The supervisor ends everything when this is closed.
    control: Option<PipeWriter>,
    report: Receiver,
    /// The part of the report that was read.
    reported: Vec<u8>,
    /// The value of [`MARK`] that every process of the tree inherits.
    mark: String,
}

/// What ends the processes that a child started.
#[derive(Debug)]
enum Supervisor {
    /// A process for this child alone.
    Own(Child),
    /// A process that a worker forked; `None` once the worker was taken back.
    OfWorker(Option<Box<ProcessTree>>),
}

/// What a worker needs to fork a child: the child's streams, and the supervisor's ends of the pipes.
pub(crate) struct Pipes {
    pub(crate) stdout: PipeWriter,
    pub(crate) stderr: PipeWriter,
    pub(crate) control: PipeReader,
    pub(crate) report: PipeWriter,
}

/// The program's ends of a child's standard streams.
#[derive(Debug)]
pub struct Streams {
    /// `None` if the child has no piped standard input.
    pub stdin: Option<ChildStdin>,
    /// Standard output.
    pub stdout: ChildStdout,
    /// Standard error.
    pub stderr: ChildStderr,
}

/// How a tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How the child itself ended; `None` if the supervisor was killed before it could report.
    pub status: Option<ExitStatus>,
    /// How many processes the child left running, which were killed.
    pub left_behind: u32,
}

impl ProcessTree {
    /// Starts `command` under a supervisor.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn spawn(command: Command, stdin: Stdio) -> io::Result<(Self, Streams)> {
        Self::spawn_confined(command, stdin, Confinement::default())
    }

    /// Starts `command` under a supervisor, confined by `confinement`.
    ///
    /// # Errors
    /// The command cannot be started or confined.
    pub fn spawn_confined(
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
        let mut outer = command.spawn()?;
        let root = if in_namespaces { outer.id().and_then(proc::only_child) } else { outer.id() };
        let (stdin, output) = (outer.stdin.take(), outer.stdout.take().zip(outer.stderr.take()));
        let report = Receiver::from_owned_fd(report.into())?;
        let supervisor = Supervisor::Own(outer);
        let tree = Self { mark, supervisor, root, control: Some(control), report, reported: Vec::new() };
        let (stdout, stderr) = output.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((tree, Streams { stdin, stdout, stderr }))
    }

    /// The tree of a child that `worker` will run once it receives the ends. Process `root` is its supervisor, which the
    /// worker has already forked.
    ///
    /// # Errors
    /// There are too many open files.
    pub(crate) fn forked(worker: Self, root: u32) -> io::Result<(Self, Streams, Pipes)> {
        let (orders, control) = io::pipe()?;
        let (report, status) = io::pipe()?;
        let ((out, stdout), (err, stderr)) = (io::pipe()?, io::pipe()?);
        let ends = Pipes { stdout, stderr, control: orders, report: status };
        let stdout = ChildStdout::from_std(OwnedFd::from(out).into())?;
        let stderr = ChildStderr::from_std(OwnedFd::from(err).into())?;
        let (mark, supervisor) = (worker.mark.clone(), Supervisor::OfWorker(Some(Box::new(worker))));
        let (report, control) = (Receiver::from_owned_fd(report.into())?, Some(control));
        let tree = Self { supervisor, root: Some(root), control, report, reported: Vec::new(), mark };
        Ok((tree, Streams { stdin: None, stdout, stderr }, ends))
    }

    /// The worker that ran the child, for the next one. The rest of this tree ends.
    pub(crate) fn into_worker(mut self) -> Option<Self> {
        match &mut self.supervisor {
            Supervisor::Own(_) => None,
            Supervisor::OfWorker(worker) => worker.take().map(|worker| *worker),
        }
    }

    /// Name and value of the variable that every process of the tree inherits.
    pub(crate) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// The process ID of the supervisor that is the parent of the child; `None` if it ended at once.
    pub(crate) fn root(&self) -> Option<u32> {
        self.root
    }

    /// Sends `SIGTERM` to the child's process group.
    pub fn terminate(&mut self) {
        if let Some(control) = &mut self.control {
            // An error means that the supervisor is gone, and the child with it.
            let _ = control.write_all(&[TERMINATE]);
        }
    }

    /// Kills everything at once.
    pub fn kill(&mut self) {
        self.control = None;
    }

    /// Waits until no process of the tree is left. After [`kill`](Self::kill) the wait is limited: a supervisor that
    /// was stopped or hangs in the kernel is killed itself.
    ///
    /// # Errors
    /// The supervisor cannot be waited for.
    pub async fn ended(&mut self) -> io::Result<Ending> {
        let is_killed = self.control.is_none();
        let reporting = async {
            if let Supervisor::Own(supervisor) = &mut self.supervisor {
                supervisor.wait().await?;
            }
            // Only the supervisor holds the other end, and it closes it when no process of the child is left.
            read_report(&self.report, &mut self.reported).await
        };
        if is_killed {
            // A report that was read before the time is up counts.
            timeout(REPORT_TIMEOUT, reporting).await.unwrap_or(Ok(()))?;
        } else {
            reporting.await?;
        }
        let Ok([a, b, c, d, e, f, g, h]) = <[u8; REPORT]>::try_from(self.reported.as_slice()) else {
            self.end_without_supervisor().await?;
            return Ok(Ending { status: None, left_behind: 0 });
        };
        let status = Some(ExitStatus::from_raw(i32::from_ne_bytes([a, b, c, d])));
        Ok(Ending { status, left_behind: u32::from_ne_bytes([e, f, g, h]) })
    }

    /// Ends what is left if the supervisor has not reported.
    async fn end_without_supervisor(&mut self) -> io::Result<()> {
        match &mut self.supervisor {
            Supervisor::Own(supervisor) => {
                // The child dies with the supervisor, unless it hangs in the kernel.
                let _ = supervisor.start_kill();
                timeout(DEATH_TIMEOUT, supervisor.wait()).await.unwrap_or(Ok(ExitStatus::default()))?;
            }
            Supervisor::OfWorker(Some(worker)) => {
                worker.kill();
                Box::pin(worker.ended()).await?;
            }
            Supervisor::OfWorker(None) => {}
        }
        end_strays(&self.mark);
        Ok(())
    }
}

/// Reads the report to its end. If the future is dropped, the part that was read stays in `reported`.
async fn read_report(report: &Receiver, reported: &mut Vec<u8>) -> io::Result<()> {
    loop {
        report.readable().await?;
        match report.try_read_buf(reported) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
}

impl Drop for ProcessTree {
    /// Waits for the end, because the caller relies on it that no process of the tree runs any more.
    fn drop(&mut self) {
        self.kill();
        let mut closed = [PollFd::new(self.report.as_fd(), PollFlags::POLLIN)];
        let ended = loop {
            match poll(&mut closed, LAST_WAIT_MS) {
                Err(Errno::EINTR) => {}
                ended => break ended,
            }
        };
        // A worker is dropped next, and its supervisor ends what it forked.
        if let (Ok(0), Supervisor::Own(supervisor)) = (ended, &mut self.supervisor) {
            let _ = supervisor.start_kill();
            end_strays(&self.mark);
        }
    }
}

/// Kills every process that has `mark` in its environment, and repeats until a search finds none: they may start
/// others meanwhile.
fn end_strays(mark: &str) {
    for _ in 0..100 {
        let strays = proc::with_variable(MARK, mark);
        if strays.is_empty() {
            return;
        }
        for stray in strays {
            let _ = kill(Pid::from_raw(stray), Signal::SIGKILL);
        }
    }
}
