//! One worker: a Python process that runs `python/worker.py`, and the channel to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use crate::process::{Ends, Streams, Tree};

/// How long the imports may take.
const IMPORTING: Duration = Duration::from_secs(120);
/// How long a worker may take to read a message.
const READING: Duration = Duration::from_secs(10);
/// How much of what a worker says about its failure is kept, in bytes.
const LAST_WORDS: usize = 2048;
/// The name under which Python imports a file while it starts.
const HOOK: &str = "sitecustomize.py";
const WORKER: &str = include_str!("../../../python/worker.py");

/// How a worker is started.
pub(in crate::script) struct WorkerSetup {
    /// Starts the interpreter as for a script of the slot.
    pub(in crate::script) command: Command,
    /// The folder that the slot's scripts run in; nothing is in it between two scripts.
    pub(in crate::script) folder: PathBuf,
    /// What the scripts have as PYTHONPATH.
    pub(in crate::script) python_path: Option<OsString>,
}

/// A process with libraries, waiting for a script.
#[derive(Debug)]
pub(in crate::script) struct Worker {
    tree: Tree,
    rest: Resting,
}

/// What is left of a worker while it runs a script.
#[derive(Debug)]
pub(in crate::script) struct Resting {
    channel: UnixStream,
    modules: BTreeSet<String>,
    /// To be one of the workers of this process.
    _permit: SemaphorePermit<'static>,
}

impl Worker {
    /// Starts a worker that imports `modules`; it is ready when this returns.
    ///
    /// # Errors
    /// In words, why there is none.
    pub(super) async fn start(
        setup: WorkerSetup,
        modules: BTreeSet<String>,
        permit: SemaphorePermit<'static>,
    ) -> Result<Self, String> {
        match timeout(IMPORTING, started(setup, modules, permit)).await {
            Ok(Ok(started)) => started,
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("the imports took more than {} s", IMPORTING.as_secs())),
        }
    }

    /// What it was told to import.
    pub(super) fn modules(&self) -> &BTreeSet<String> {
        &self.rest.modules
    }

    /// Has the script in `folder` run with exactly these variables.
    ///
    /// # Errors
    /// The worker does not listen any more, and is gone.
    pub(in crate::script) fn run(
        self,
        folder: &Path,
        variables: &[(OsString, OsString)],
    ) -> io::Result<(Tree, Streams, Resting)> {
        let Self { tree, mut rest } = self;
        let (tree, streams, ends) = Tree::forked(tree)?;
        let (mark, value) = tree.mark();
        // In the order in which a cold script finds them.
        let mut all: BTreeMap<_, _> = variables.iter().cloned().collect();
        all.insert(mark.into(), value.into());
        let mut fields = vec![folder.as_os_str().to_owned()];
        fields.extend(all.into_iter().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name
        }));
        send(&mut rest.channel, &fields, Some(&ends))?;
        Ok((tree, streams, rest))
    }
}

impl Resting {
    /// The worker for the next script, once nothing of the one in `tree` is left.
    pub(in crate::script) fn again(self, tree: Tree) -> Option<Worker> {
        Some(Worker { tree: tree.into_worker()?, rest: self })
    }
}

async fn started(
    setup: WorkerSetup,
    modules: BTreeSet<String>,
    permit: SemaphorePermit<'static>,
) -> io::Result<Result<Worker, String>> {
    let WorkerSetup { mut command, folder, python_path } = setup;
    fs::create_dir_all(&folder)?;
    let hook = tempfile::Builder::new().prefix("worker-").tempdir_in(folder.parent().unwrap_or(&folder))?;
    fs::write(hook.path().join(HOOK), WORKER)?;
    let mut path = hook.path().as_os_str().to_owned();
    if let Some(others) = python_path {
        path.push(":");
        path.push(others);
    }
    command.env("PYTHONPATH", path);
    let (mut channel, theirs) = UnixStream::pair()?;
    let (tree, Streams { stdout, mut stderr, .. }) =
        Tree::spawn(command, Stdio::from(OwnedFd::from(theirs)))?;
    tokio::spawn(drain(stdout, Vec::new()));
    channel.set_write_timeout(Some(READING))?;
    let names: Vec<OsString> = modules.iter().map(OsString::from).collect();
    // A worker that is gone already says why on its standard error.
    let _ = send(&mut channel, &names, None);
    channel.set_nonblocking(true)?;
    let mut channel = tokio::net::UnixStream::from_std(channel)?;
    let mut last_words = Vec::new();
    let answer = tokio::select! {
        answer = first_line(&mut channel) => answer?,
        last = drain(&mut stderr, Vec::new()) => { last_words = last; String::new() }
    };
    if answer != "ready" {
        let said = String::from_utf8_lossy(&last_words).lines().last().unwrap_or_default().to_owned();
        let reasons = [answer, said, "the worker ended before it was ready".to_owned()];
        return Ok(Err(reasons.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default()));
    }
    tokio::spawn(drain(stderr, Vec::new()));
    // Not when something is in it: what imports left goes before the next script.
    let _ = fs::remove_dir(&folder);
    let channel = channel.into_std()?;
    channel.set_nonblocking(false)?;
    Ok(Ok(Worker { tree, rest: Resting { channel, modules, _permit: permit } }))
}

/// Sends fields, each ended by NUL, after their whole length in bytes; the descriptors go with the length.
fn send(channel: &mut UnixStream, fields: &[OsString], ends: Option<&Ends>) -> io::Result<()> {
    let body: Vec<u8> =
        fields.iter().flat_map(|field| [field.as_bytes(), b"\0"]).flatten().copied().collect();
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_ne_bytes();
    let descriptors = ends.map(|ends| {
        let Ends { stdout, stderr, control, report } = ends;
        [stdout.as_raw_fd(), stderr.as_raw_fd(), control.as_raw_fd(), report.as_raw_fd()]
    });
    let rights = descriptors.as_ref().map(|list| ControlMessage::ScmRights(list));
    let message = rights.as_slice();
    sendmsg::<()>(channel.as_raw_fd(), &[IoSlice::new(&length)], message, MsgFlags::MSG_NOSIGNAL, None)?;
    channel.write_all(&body)
}

async fn first_line(source: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut line = Vec::new();
    loop {
        match source.read_u8().await {
            Ok(b'\n') => return Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(byte) => line.push(byte),
            // The other end was closed; what the worker said on standard error tells more.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => std::future::pending().await,
            Err(error) => return Err(error),
        }
    }
}

/// Reads to the end, so that the writer never waits; returns the last bytes.
async fn drain(mut source: impl AsyncRead + Unpin, mut last: Vec<u8>) -> Vec<u8> {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = source.read(&mut buffer).await {
        last.extend_from_slice(&buffer[..length]);
        let surplus = last.len().saturating_sub(LAST_WORDS);
        last.drain(..surplus);
    }
    last
}
