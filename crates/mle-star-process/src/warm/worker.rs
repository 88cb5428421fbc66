//! One worker: a Python process that runs `python/worker.py`, and the channel to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, Command};
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::confinement_fields::{self, field};
use super::failure::Failure;
use crate::proc::only_child;
use crate::process_tree::{Pipes, ProcessTree, Streams};
use crate::remove::remove_tree;
use crate::spawn::{Confinement, Namespaces};

/// How long an interpreter may take to introduce itself as a worker. No script waits for it.
const INTRODUCTION: Duration = Duration::from_secs(15);
/// How long the imports may take. No script waits for them.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a worker may take to read a message.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the error output of a worker that has ended.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// How many bytes of a worker's error output are kept.
const KEPT: usize = 2048;
/// Python imports a file with this name when it starts.
const HOOK: &str = "sitecustomize.py";
/// Prefix of the names of workers' folders.
const FOLDER: &str = "worker-";
const WORKER: &str = include_str!("../../python/worker.py");

/// How a worker is started.
#[derive(Debug)]
pub struct WorkerSetup {
    /// Starts the interpreter as for a script of the slot.
    pub command: Command,
    /// The worker's own folder is created in here.
    pub folder: PathBuf,
    /// The scripts' PYTHONPATH.
    pub python_path: Option<OsString>,
    /// The namespaces of each script.
    pub namespaces: Option<Namespaces>,
}

/// A process that has imported libraries and has forked a process that waits for a script.
#[derive(Debug)]
pub struct Worker {
    tree: ProcessTree,
    rest: BusyWorker,
    /// The supervisor of the next script.
    supervisor: u32,
}

/// The channel of a worker that runs a script.
#[derive(Debug)]
pub struct BusyWorker {
    channel: UnixStream,
    /// The namespaces of its scripts, as flags of `clone`.
    flags: Option<i32>,
    /// Counts it among the workers of this process.
    _permit: SemaphorePermit<'static>,
}

impl Worker {
    /// Starts a worker that imports `modules`. It is ready when this returns.
    ///
    /// # Errors
    /// The worker cannot be started or fails.
    pub(super) async fn start(
        setup: WorkerSetup,
        modules: BTreeSet<String>,
        permit: SemaphorePermit<'static>,
    ) -> Result<Self, Failure> {
        let hook = hook(&setup.folder)?;
        let mut first = confinement_fields::namespace_fields(setup.namespaces.as_ref());
        first.extend(modules.iter().map(|name| field("import", name)));
        let flags = setup.namespaces.as_ref().map(Namespaces::flags);
        let (tree, mut channel, stderr) = spawn(setup, hook.path())?;
        let stderr = tokio::spawn(drain(stderr));
        let ready = async {
            let introduction = timeout(INTRODUCTION, line(&mut channel)).await;
            match introduction.map_err(|_| Failure::NoIntroduction)?? {
                word if word == "worker" => {}
                other => return Err(Failure::Reported(other)),
            }
            send(&mut channel, &first, &[]).await?;
            let ready = timeout(IMPORT_TIMEOUT, supervisor_of(&mut channel, flags)).await;
            ready.map_err(|_| Failure::SlowImports(IMPORT_TIMEOUT.as_secs()))?
        };
        match ready.await {
            Ok(supervisor) => {
                Ok(Self { tree, rest: BusyWorker { channel, flags, _permit: permit }, supervisor })
            }
            Err(Failure::Ended) => {
                drop(tree);
                let printed =
                    timeout(LAST_OUTPUT, stderr).await.ok().and_then(Result::ok).unwrap_or_default();
                let printed = String::from_utf8_lossy(&printed).lines().last().map(str::to_owned);
                Err(printed.map_or(Failure::Ended, Failure::Reported))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Runs the script in `folder` with exactly these variables, confined like one that starts cold.
    ///
    /// # Errors
    /// The worker has ended or cannot confine the script like that. It cannot be used again.
    pub async fn run(
        self,
        folder: &Path,
        variables: &[(OsString, OsString)],
        confinement: &Confinement,
    ) -> io::Result<(ProcessTree, Streams, BusyWorker)> {
        let Self { tree, mut rest, supervisor } = self;
        if rest.flags != confinement.namespaces.as_ref().map(Namespaces::flags) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (tree, streams, ends) = ProcessTree::forked(tree, supervisor)?;
        let (mark, value) = tree.mark();
        // In the same order as for a script that starts cold.
        let mut all: BTreeMap<_, _> = variables.iter().cloned().collect();
        all.insert(mark.into(), value.into());
        let mut fields = confinement_fields::script_fields(confinement);
        fields.push(field("folder", folder.as_os_str().as_bytes()));
        fields.extend(all.into_iter().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            field("set", name.as_bytes())
        }));
        let Pipes { stdout, stderr, control, report } = &ends;
        let mut descriptors =
            vec![stdout.as_raw_fd(), stderr.as_raw_fd(), control.as_raw_fd(), report.as_raw_fd()];
        descriptors.extend(confinement_fields::descriptors(confinement).map(|(_, descriptor)| descriptor));
        send(&mut rest.channel, &fields, &descriptors).await?;
        Ok((tree, streams, rest))
    }
}

impl BusyWorker {
    /// The worker for the next script, once the one in `tree` has ended and the next process is forked.
    ///
    /// # Errors
    /// The worker fails.
    pub(super) async fn ready_again(mut self, tree: ProcessTree) -> Result<Worker, Failure> {
        let tree = tree.into_worker().ok_or(Failure::Ended)?;
        let ready = timeout(READ_TIMEOUT, supervisor_of(&mut self.channel, self.flags)).await;
        let supervisor = ready.map_err(|_| Failure::NoFork)??;
        Ok(Worker { tree, rest: self, supervisor })
    }

    /// Why the worker could not run the script, if it reported that.
    pub fn complaint(&self) -> Option<String> {
        let mut message = [0; KEPT];
        let length = self.channel.try_read(&mut message).ok()?;
        let message = String::from_utf8_lossy(message.get(..length)?).lines().next()?.to_owned();
        (!message.starts_with(READY)).then_some(message)
    }
}

/// Prefix of the line that names a supervisor.
const READY: &str = "ready ";

/// Removes from `parent` what the workers of a killed process left. No worker may be running there.
pub fn remove_left(parent: &Path) {
    let is_left = |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(FOLDER.as_bytes());
    for entry in fs::read_dir(parent).into_iter().flatten().flatten().filter(is_left) {
        // A folder that cannot be removed does no harm.
        let _ = remove_tree(&entry.path());
    }
}

/// A folder with `worker.py` under the name that Python imports.
fn hook(parent: &Path) -> io::Result<tempfile::TempDir> {
    let hook = tempfile::Builder::new().prefix(FOLDER).tempdir_in(parent)?;
    fs::write(hook.path().join(HOOK), WORKER)?;
    Ok(hook)
}

fn spawn(setup: WorkerSetup, hook: &Path) -> io::Result<(ProcessTree, UnixStream, ChildStderr)> {
    let WorkerSetup { mut command, python_path, .. } = setup;
    let mut path = hook.as_os_str().to_owned();
    if let Some(others) = python_path {
        path.push(":");
        path.push(others);
    }
    // A GPU that is opened before a fork cannot be used after it.
    command.current_dir(hook).env("PYTHONPATH", path).env("CUDA_VISIBLE_DEVICES", "");
    for private in ["HOME", "TMPDIR"] {
        command.env(private, hook);
    }
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let (tree, Streams { stdout, stderr, .. }) =
        ProcessTree::spawn(command, Stdio::from(OwnedFd::from(theirs)))?;
    tokio::spawn(drain(stdout));
    Ok((tree, UnixStream::from_std(ours)?, stderr))
}

/// Sends the length of all fields in bytes, with the descriptors, and then the fields, each ended by NUL.
async fn send(channel: &mut UnixStream, fields: &[OsString], descriptors: &[RawFd]) -> io::Result<()> {
    let body: Vec<u8> =
        fields.iter().flat_map(|field| [field.as_bytes(), b"\0"]).flatten().copied().collect();
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_ne_bytes();
    let rights = [ControlMessage::ScmRights(descriptors)];
    let message = if descriptors.is_empty() { &rights[..0] } else { &rights[..] };
    // Four bytes always fit: the worker has read every earlier message.
    sendmsg::<()>(channel.as_raw_fd(), &[IoSlice::new(&length)], message, MsgFlags::MSG_NOSIGNAL, None)?;
    timeout(READ_TIMEOUT, channel.write_all(&body)).await?
}

/// The process ID of the supervisor that reports to be ready. In namespaces, the worker reports its parent.
async fn supervisor_of(channel: &mut UnixStream, flags: Option<i32>) -> Result<u32, Failure> {
    let message = line(channel).await?;
    let process = message.strip_prefix(READY).and_then(|process| process.parse().ok());
    let process = if flags.is_some() { process.and_then(only_child) } else { process };
    process.ok_or(Failure::Reported(message))
}

/// The next line.
async fn line(channel: &mut UnixStream) -> Result<String, Failure> {
    let mut line = Vec::new();
    loop {
        match channel.read_u8().await {
            Ok(b'\n') => return Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(byte) => line.push(byte),
            Err(_) => return Err(Failure::Ended),
        }
    }
}

/// Reads to the end, so that the writer never blocks; returns the last bytes.
async fn drain(mut source: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut buffer, mut last) = ([0; 4096], Vec::new());
    while let Ok(length @ 1..) = source.read(&mut buffer).await {
        last.extend_from_slice(&buffer[..length]);
        let surplus = last.len().saturating_sub(KEPT);
        last.drain(..surplus);
    }
    last
}
