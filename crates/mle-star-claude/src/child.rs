//! One running `claude`, from its start to the end of everything it started.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::invocation::{Access, Invocation};
use crate::work_dir::{WorkDir, WorkDirs};
use crate::{Ending, Streams, Tree};

/// Between the request to end and the kill, `claude` ends its agent's commands.
const GRACE: Duration = Duration::from_secs(2);
/// How much of standard error is kept, in bytes.
const STDERR_KEPT: usize = 8 * 1024;
/// The longest line that is read as a message, in bytes.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// A `claude` that waits for a prompt or answers one. Dropping it ends everything it started.
pub(crate) struct Child {
    pub(crate) invocation: Invocation,
    // Fields drop in order: processes end before their folder is removed.
    tree: Tree,
    pub(crate) work_dir: WorkDir,
    to_write: Option<UnboundedSender<Value>>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    stderr: JoinHandle<Vec<u8>>,
}

/// Why there is no process.
#[derive(Debug)]
pub(crate) enum StartError {
    /// Its folder or its system prompt cannot be created.
    WorkDir(io::Error),
    /// The system cannot start it.
    Spawn(io::Error),
}

impl Child {
    /// Starts `claude`, which then waits for its prompt.
    ///
    /// # Errors
    /// Its folder cannot be created, or it cannot be started.
    pub(crate) fn start(
        executable: &Path,
        invocation: Invocation,
        work_dirs: &WorkDirs,
        system: &str,
    ) -> Result<Self, StartError> {
        let work_dir = work_dirs.for_access(invocation.access).map_err(StartError::WorkDir)?;
        let system = work_dirs.system_prompt(&invocation.system, system).map_err(StartError::WorkDir)?;
        let mut command = Command::new(executable);
        command.args(&invocation.arguments).current_dir(&work_dir.folder);
        command.arg("--system-prompt-file").arg(system);
        for (name, value) in &invocation.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let (tree, Streams { stdin, stdout, stderr }) =
            Tree::spawn(command, Stdio::piped()).map_err(StartError::Spawn)?;
        let stdin = stdin.ok_or_else(|| StartError::Spawn(io::ErrorKind::BrokenPipe.into()))?;
        let (to_write, lines) = unbounded_channel();
        tokio::spawn(write(stdin, lines));
        let stderr = tokio::spawn(tail(stderr));
        let (to_write, stdout) = (Some(to_write), BufReader::new(stdout));
        Ok(Self { invocation, work_dir, tree, to_write, stdout, line: Vec::new(), stderr })
    }

    /// Whether the process still runs, as far as its standard error tells.
    pub(crate) fn is_alive(&self) -> bool {
        !self.stderr.is_finished()
    }

    /// Sends one message. If the process is gone, the end of its messages will show it.
    pub(crate) fn send(&self, message: Value) {
        if let Some(to_write) = &self.to_write {
            let _ = to_write.send(message);
        }
    }

    /// The next line of standard output, or `None` at its end. Cancel safe.
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

    /// Ends the process with everything it started; returns how it ended and the tail of standard error.
    pub(crate) async fn end(mut self) -> (Option<Ending>, String) {
        self.to_write = None;
        // Only an agent with tools can have started something that needs an orderly end.
        if self.invocation.access != Access::None {
            self.tree.terminate();
            let _ = timeout(GRACE, self.stdout.read_to_end(&mut self.line)).await;
        }
        self.tree.kill();
        let ending = self.tree.ended().await.ok();
        let stderr = timeout(GRACE, &mut self.stderr).await;
        let stderr = stderr.ok().and_then(Result::ok).unwrap_or_default();
        (ending, String::from_utf8_lossy(&stderr).trim().to_owned())
    }
}

/// Writes messages in order, until the sender is dropped.
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
