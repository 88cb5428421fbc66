//! One running `claude`, from its start to the end of everything it started.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::command::{Hands, Invocation};
use crate::{Ending, ProcessTree, Streams};
use mle_star_data::input::Data;
use mle_star_process::remove::remove_tree;

/// Between the request to end and the end: `claude` ends its agent's commands meanwhile.
const GRACE: Duration = Duration::from_secs(2);
/// Kept of standard error, in bytes.
const STDERR_KEPT: usize = 8 * 1024;
/// A longer line is no message, in bytes.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// Where agents work: one folder for those that only read, a fresh one for each that runs commands.
#[derive(Debug)]
pub(crate) struct Workshop {
    folder: PathBuf,
    data: Data,
    rooms: AtomicU64,
}

/// The folder an agent sees as its own, with the data in `input/`.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) folder: PathBuf,
    is_shared: bool,
}

/// A `claude` that waits for a prompt or answers one. Dropping it ends everything it started.
pub(crate) struct Process {
    pub(crate) invocation: Invocation,
    // Everything that runs ends before its folder goes.
    tree: ProcessTree,
    pub(crate) room: Room,
    to_write: Option<UnboundedSender<Value>>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    stderr: JoinHandle<Vec<u8>>,
}

/// Why there is no process.
#[derive(Debug)]
pub(crate) enum NotStarted {
    /// Its folder or its system prompt cannot be made.
    Room(io::Error),
    /// The system does not start it.
    Program(io::Error),
}

impl Workshop {
    /// Makes the folder anew.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn new(folder: &Path, data: Data) -> io::Result<Self> {
        remove_tree(folder)?;
        for part in ["system", "empty", "reading"] {
            fs::create_dir_all(folder.join(part))?;
        }
        // Processes start in folders of their own, where a relative path leads elsewhere.
        let folder = folder.canonicalize()?;
        data.show(&folder.join("reading/input"))?;
        Ok(Self { folder, data, rooms: AtomicU64::new(0) })
    }

    fn room(&self, hands: Hands) -> io::Result<Room> {
        let shared = |name: &str| Room { folder: self.folder.join(name), is_shared: true };
        match hands {
            Hands::None => Ok(shared("empty")),
            Hands::Reads => Ok(shared("reading")),
            Hands::Writes => {
                let name = format!("room-{}", self.rooms.fetch_add(1, Ordering::Relaxed));
                let room = Room { folder: self.folder.join(name), is_shared: false };
                fs::create_dir(&room.folder)?;
                self.data.show(&room.folder.join("input"))?;
                Ok(room)
            }
        }
    }

    /// A file with the system prompt. It may be too long for a command line, and is nobody else's business.
    fn system_prompt(&self, digest: &str, text: &str) -> io::Result<PathBuf> {
        let file = self.folder.join("system").join(digest);
        if !file.exists() {
            let whole = tempfile::NamedTempFile::new_in(self.folder.join("system"))?;
            fs::write(whole.path(), text)?;
            whole.persist(&file).map_err(|failed| failed.error)?;
        }
        Ok(file)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be removed now is removed when the run goes on.
        let _ = remove_tree(&self.folder);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if !self.is_shared {
            let _ = remove_tree(&self.folder);
        }
    }
}

impl Process {
    /// Starts `claude`, which then waits for its prompt.
    ///
    /// # Errors
    /// Its folder cannot be made, or it cannot be started.
    pub(crate) fn start(
        executable: &Path,
        invocation: Invocation,
        workshop: &Workshop,
        system: &str,
    ) -> Result<Self, NotStarted> {
        let room = workshop.room(invocation.hands).map_err(NotStarted::Room)?;
        let system = workshop.system_prompt(&invocation.system, system).map_err(NotStarted::Room)?;
        let mut command = Command::new(executable);
        command.args(&invocation.arguments).current_dir(&room.folder);
        command.arg("--system-prompt-file").arg(system);
        for (name, value) in &invocation.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let (tree, Streams { stdin, stdout, stderr }) =
            ProcessTree::spawn(command, Stdio::piped()).map_err(NotStarted::Program)?;
        let (to_write, lines) = unbounded_channel();
        tokio::spawn(write(
            stdin.ok_or_else(|| NotStarted::Program(io::ErrorKind::BrokenPipe.into()))?,
            lines,
        ));
        let stderr = tokio::spawn(tail(stderr));
        let (to_write, stdout) = (Some(to_write), BufReader::new(stdout));
        Ok(Self { invocation, room, tree, to_write, stdout, line: Vec::new(), stderr })
    }

    /// Has not ended, as far as can be told.
    pub(crate) fn is_alive(&self) -> bool {
        !self.stderr.is_finished()
    }

    /// Sends one message. A process that is gone is noticed when its messages end.
    pub(crate) fn send(&self, message: Value) {
        if let Some(to_write) = &self.to_write {
            let _ = to_write.send(message);
        }
    }

    /// The next line of standard output; `None` at its end. When dropped, nothing is lost.
    ///
    /// # Errors
    /// The line cannot be read.
    pub(crate) async fn next_line(&mut self) -> io::Result<Option<String>> {
        let room = LONGEST_LINE.saturating_sub(self.line.len() as u64);
        (&mut self.stdout).take(room).read_until(b'\n', &mut self.line).await?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.line);
        Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
    }

    /// Ends the process with everything it started; tells how it ended and the last words of standard error.
    pub(crate) async fn end(mut self) -> (Option<Ending>, String) {
        self.to_write = None;
        if self.invocation.hands != Hands::None {
            self.tree.terminate();
            let _ = timeout(GRACE, self.stdout.read_to_end(&mut self.line)).await;
        }
        self.tree.kill();
        let ending = self.tree.ended().await.ok();
        let said = timeout(GRACE, &mut self.stderr).await;
        let said = said.ok().and_then(Result::ok).unwrap_or_default();
        (ending, String::from_utf8_lossy(&said).trim().to_owned())
    }
}

/// Writes messages in their order; standard input ends with the sender.
async fn write(mut stdin: ChildStdin, mut messages: UnboundedReceiver<Value>) {
    while let Some(message) = messages.recv().await {
        if stdin.write_all(format!("{message}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads to the end and keeps the last bytes.
async fn tail(mut stderr: ChildStderr) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; STDERR_KEPT]);
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..length]);
        kept.drain(..kept.len().saturating_sub(STDERR_KEPT));
    }
    kept
}
