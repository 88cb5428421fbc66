//! Talks to a program over its standard streams, line by line.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::process_tree::{Ending, ProcessTree, Streams};
use crate::spawn::Confinement;

/// How long the end of a killed program's streams is waited for.
const GRACE: Duration = Duration::from_secs(2);
/// How much of standard error is kept, in bytes.
const STDERR_KEPT: usize = 8 * 1024;
/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: u64 = 256 * 1024 * 1024;

/// A running program. Dropping it ends everything it started.
#[derive(Debug)]
pub struct Talk {
    tree: ProcessTree,
    to_write: Option<UnboundedSender<Vec<u8>>>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Talk {
    /// Starts a program.
    ///
    /// # Errors
    /// The system cannot start it.
    pub fn start(command: Command) -> io::Result<Self> {
        Self::start_confined(command, Confinement::default())
    }

    /// Starts a program, confined by `confinement`.
    ///
    /// # Errors
    /// The system cannot start or confine it.
    pub fn start_confined(command: Command, confinement: Confinement) -> io::Result<Self> {
        let spawned = ProcessTree::spawn_confined(command, Stdio::piped(), confinement)?;
        let (tree, Streams { stdin, stdout, stderr }) = spawned;
        let stdin = stdin.ok_or(io::ErrorKind::BrokenPipe)?;
        let (to_write, pieces) = unbounded_channel();
        tokio::spawn(write(stdin, pieces));
        let stderr = tokio::spawn(tail(stderr));
        let (to_write, stdout) = (Some(to_write), BufReader::new(stdout));
        Ok(Self { tree, to_write, stdout, line: Vec::new(), stderr })
    }

    /// Whether the process still runs, as far as its standard error tells.
    pub fn is_alive(&self) -> bool {
        !self.stderr.is_finished()
    }

    /// Sends bytes to its standard input. If it is gone, the end of its output will show that.
    pub fn send(&self, bytes: Vec<u8>) {
        if let Some(to_write) = &self.to_write {
            let _ = to_write.send(bytes);
        }
    }

    /// Closes its standard input, after everything that was sent.
    pub fn close_input(&mut self) {
        self.to_write = None;
    }

    /// The next line of standard output, or `None` at its end. Cancel safe.
    ///
    /// # Errors
    /// The line cannot be read.
    pub async fn next_line(&mut self) -> io::Result<Option<String>> {
        let room = MAX_LINE_BYTES.saturating_sub(self.line.len() as u64);
        (&mut self.stdout).take(room).read_until(b'\n', &mut self.line).await?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.line);
        Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
    }

    /// Asks the program to end, and waits a moment until it has closed its output.
    pub async fn terminate(&mut self) {
        self.close_input();
        self.tree.terminate();
        let _ = timeout(GRACE, self.stdout.read_to_end(&mut self.line)).await;
    }

    /// Ends the program with everything it started; returns how it ended and the tail of standard error.
    pub async fn end(mut self) -> (Option<Ending>, String) {
        self.close_input();
        self.tree.kill();
        let ending = self.tree.ended().await.ok();
        let stderr = timeout(GRACE, &mut self.stderr).await;
        let stderr = stderr.ok().and_then(Result::ok).unwrap_or_default();
        (ending, String::from_utf8_lossy(&stderr).trim().to_owned())
    }
}

/// Writes in order, until the sender is dropped.
async fn write(mut stdin: ChildStdin, mut pieces: UnboundedReceiver<Vec<u8>>) {
    while let Some(piece) = pieces.recv().await {
        if stdin.write_all(&piece).await.is_err() {
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
