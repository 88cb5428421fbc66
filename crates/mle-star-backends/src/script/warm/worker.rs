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

use super::bounds::{self, field};
use crate::process::{Confinement, Ends, Namespaces, Streams, Tree, only_child};
use mle_star_data::removal::remove_tree;

/// How long an interpreter may take until it says that it is a worker. Nobody waits for it.
const INTRODUCTION: Duration = Duration::from_secs(15);
/// How long the imports may take. Nobody waits for them.
const IMPORTING: Duration = Duration::from_secs(120);
/// How long a worker may take to read a message.
const READING: Duration = Duration::from_secs(10);
/// How long the last words of a worker that has ended are waited for.
const LISTENING: Duration = Duration::from_secs(1);
/// How much of what a worker says about its failure is kept, in bytes.
const LAST_WORDS: usize = 2048;
/// The name under which Python imports a file while it starts.
const HOOK: &str = "sitecustomize.py";
/// How the name of a worker's own folder begins.
const FOLDER: &str = "worker-";
const WORKER: &str = include_str!("../../../python/worker.py");

/// How a worker is started.
pub(in crate::script) struct WorkerSetup {
    /// Starts the interpreter as for a script of the slot.
    pub(in crate::script) command: Command,
    /// Where the worker's own folder is made.
    pub(in crate::script) folder: PathBuf,
    /// What the scripts have as PYTHONPATH.
    pub(in crate::script) python_path: Option<OsString>,
    /// What each script has for itself.
    pub(in crate::script) namespaces: Option<Namespaces>,
}

/// A process with libraries, one of whose forks waits for a script.
#[derive(Debug)]
pub(in crate::script) struct Worker {
    tree: Tree,
    rest: Resting,
    /// The guard of the next script.
    guard: u32,
}

/// What is left of a worker while it runs a script.
#[derive(Debug)]
pub(in crate::script) struct Resting {
    channel: UnixStream,
    /// The namespaces that guards are in, as the system calls take them.
    flags: Option<i32>,
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
        let hook = hook(&setup.folder).map_err(|error| error.to_string())?;
        let mut first = bounds::of_worker(setup.namespaces.as_ref());
        first.extend(modules.iter().map(|name| field("import", name)));
        let flags = setup.namespaces.as_ref().map(Namespaces::flags);
        let (tree, mut channel, stderr) = spawn(setup, hook.path()).map_err(|error| error.to_string())?;
        let stderr = tokio::spawn(drain(stderr));
        let ready = async {
            let introduction = timeout(INTRODUCTION, line(&mut channel)).await;
            match introduction.map_err(|_| "the interpreter does not say that it is a worker")?? {
                word if word == "worker" => {}
                other => return Err(other),
            }
            send(&mut channel, &first, &[]).await.map_err(|error| error.to_string())?;
            let ready = timeout(IMPORTING, guard_of(&mut channel, flags)).await;
            ready.map_err(|_| format!("the imports took more than {} s", IMPORTING.as_secs()))?
        };
        match ready.await {
            Ok(guard) => Ok(Self { tree, rest: Resting { channel, flags, _permit: permit }, guard }),
            Err(reason) => {
                drop(tree);
                let said = timeout(LISTENING, stderr).await.ok().and_then(Result::ok).unwrap_or_default();
                let said = String::from_utf8_lossy(&said).lines().last().unwrap_or_default().to_owned();
                Err([reason, said].into_iter().find(|reason| !reason.is_empty()).unwrap_or_else(ended))
            }
        }
    }

    /// Has the script in `folder` run with exactly these variables, bound as one that starts cold.
    ///
    /// # Errors
    /// The worker does not listen any more, or cannot bind the script like that, and is gone.
    pub(in crate::script) async fn run(
        self,
        folder: &Path,
        variables: &[(OsString, OsString)],
        confinement: &Confinement,
    ) -> io::Result<(Tree, Streams, Resting)> {
        let Self { tree, mut rest, guard } = self;
        if rest.flags != confinement.namespaces.as_ref().map(Namespaces::flags) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (tree, streams, ends) = Tree::forked(tree, guard)?;
        let (mark, value) = tree.mark();
        // In the order in which a cold script finds them.
        let mut all: BTreeMap<_, _> = variables.iter().cloned().collect();
        all.insert(mark.into(), value.into());
        let mut fields = bounds::of_script(confinement);
        fields.push(field("folder", folder.as_os_str().as_bytes()));
        fields.extend(all.into_iter().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            field("set", name.as_bytes())
        }));
        let Ends { stdout, stderr, control, report } = &ends;
        let mut descriptors =
            vec![stdout.as_raw_fd(), stderr.as_raw_fd(), control.as_raw_fd(), report.as_raw_fd()];
        descriptors.extend(bounds::descriptors(confinement).map(|(_, descriptor)| descriptor));
        send(&mut rest.channel, &fields, &descriptors).await?;
        Ok((tree, streams, rest))
    }
}

impl Resting {
    /// The worker for the next script, once nothing of the one in `tree` is left and a guard is ready.
    ///
    /// # Errors
    /// In words, why there is none.
    pub(super) async fn again(mut self, tree: Tree) -> Result<Worker, String> {
        let tree = tree.into_worker().ok_or_else(ended)?;
        let ready = timeout(READING, guard_of(&mut self.channel, self.flags)).await;
        let guard = ready
            .map_err(|_| "the worker forks no guard")?
            .map_err(|reason| if reason.is_empty() { ended() } else { reason })?;
        Ok(Worker { tree, rest: self, guard })
    }

    /// Why the worker ran no script, when it has said so.
    pub(in crate::script) fn complaint(&self) -> Option<String> {
        let mut said = [0; LAST_WORDS];
        let length = self.channel.try_read(&mut said).ok()?;
        let said = String::from_utf8_lossy(said.get(..length)?).lines().next()?.to_owned();
        (!said.starts_with(READY)).then_some(said)
    }
}

/// How the line begins that names a guard.
const READY: &str = "ready ";

fn ended() -> String {
    "the worker ended before it was ready".to_owned()
}

/// Removes from `parent` what workers of a process left that was killed; no worker may be at work in there.
pub(in crate::script) fn remove_left(parent: &Path) {
    let is_left = |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(FOLDER.as_bytes());
    for entry in fs::read_dir(parent).into_iter().flatten().flatten().filter(is_left) {
        // What cannot be removed is in nobody's way.
        let _ = remove_tree(&entry.path());
    }
}

/// A folder with `worker.py` under the name that Python looks for.
fn hook(parent: &Path) -> io::Result<tempfile::TempDir> {
    let hook = tempfile::Builder::new().prefix(FOLDER).tempdir_in(parent)?;
    fs::write(hook.path().join(HOOK), WORKER)?;
    Ok(hook)
}

fn spawn(setup: WorkerSetup, hook: &Path) -> io::Result<(Tree, UnixStream, ChildStderr)> {
    let WorkerSetup { mut command, python_path, .. } = setup;
    let mut path = hook.as_os_str().to_owned();
    if let Some(others) = python_path {
        path.push(":");
        path.push(others);
    }
    // No GPU may be opened before a fork.
    command.current_dir(hook).env("PYTHONPATH", path).env("CUDA_VISIBLE_DEVICES", "");
    for private in ["HOME", "TMPDIR"] {
        command.env(private, hook);
    }
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let (tree, Streams { stdout, stderr, .. }) = Tree::spawn(command, Stdio::from(OwnedFd::from(theirs)))?;
    tokio::spawn(drain(stdout));
    Ok((tree, UnixStream::from_std(ours)?, stderr))
}

/// Sends fields, each ended by NUL, after their whole length in bytes; the descriptors go with the length.
async fn send(channel: &mut UnixStream, fields: &[OsString], descriptors: &[RawFd]) -> io::Result<()> {
    let body: Vec<u8> =
        fields.iter().flat_map(|field| [field.as_bytes(), b"\0"]).flatten().copied().collect();
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_ne_bytes();
    let rights = [ControlMessage::ScmRights(descriptors)];
    let message = if descriptors.is_empty() { &rights[..0] } else { &rights[..] };
    // Four bytes always fit: every message before was read.
    sendmsg::<()>(channel.as_raw_fd(), &[IoSlice::new(&length)], message, MsgFlags::MSG_NOSIGNAL, None)?;
    timeout(READING, channel.write_all(&body)).await?
}

/// The process id of the guard that says it is ready; with `flags`, it is known by that of its parent.
async fn guard_of(channel: &mut UnixStream, flags: Option<i32>) -> Result<u32, String> {
    let said = line(channel).await?;
    let process = said.strip_prefix(READY).and_then(|process| process.parse().ok());
    let process = if flags.is_some() { process.and_then(only_child) } else { process };
    process.ok_or(said)
}

/// The next line; empty when there is none.
async fn line(channel: &mut UnixStream) -> Result<String, String> {
    let mut line = Vec::new();
    loop {
        match channel.read_u8().await {
            Ok(b'\n') => return Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(byte) => line.push(byte),
            Err(_) => return Err(String::new()),
        }
    }
}

/// Reads to the end, so that the writer never waits; returns the last bytes.
async fn drain(mut source: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut buffer, mut last) = ([0; 4096], Vec::new());
    while let Ok(length @ 1..) = source.read(&mut buffer).await {
        last.extend_from_slice(&buffer[..length]);
        let surplus = last.len().saturating_sub(LAST_WORDS);
        last.drain(..surplus);
    }
    last
}
