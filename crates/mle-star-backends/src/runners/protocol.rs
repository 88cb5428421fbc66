//! The messages between the program and a runner.
//!
//! They go over the runner's standard input and output, as frames: two lengths as little-endian `u32`, a message as JSON,
//! and bytes that belong to it. A frame is one write, because some engines delay the second of two.
//!
//! The program speaks first, and the runner answers with [`MAGIC`] and its first message; what a login shell or an
//! engine printed before is skipped. The first message of each side names its [`PROTOCOL`]. Both sides send something at
//! least once a second, so that each notices when the other is gone.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use mle_star_domain::config::Switch;
use mle_star_process::machine::Machine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::script::environment::Environment;
use crate::script::executor::Execution;

/// The version of the messages.
pub const PROTOCOL: u32 = 1;
/// The version of the program. Messages hold types of all its parts, so both sides must have the same.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What a runner writes first.
pub const MAGIC: &[u8] = b"\x00mle-star runner\n";
/// Both sides send something at least this often.
pub const PING_INTERVAL: Duration = Duration::from_secs(1);
/// A side that hears nothing for this long gives the other up.
pub const MAX_IDLE: Duration = Duration::from_secs(8);
/// The size of the pieces of files, in bytes.
pub const CHUNK_BYTES: usize = 1 << 20;

/// The longest message, in bytes.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The most bytes with a message: a script, or a chunk of a file, which is a little longer than [`CHUNK_BYTES`] if it does not compress.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// A message of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToRunner {
    /// The first message.
    Welcome {
        /// The program's [`PROTOCOL`].
        protocol: u32,
        /// The program's version.
        version: String,
    },
    /// Answered by [`FromRunner::Pong`]; the bytes are not used.
    Ping {
        /// Comes back.
        number: u64,
    },
    /// Prepares for scripts of a run. Answered by `Opened` or `NotOpened`.
    Open(Box<RunSetup>),
    /// No more scripts of this run follow.
    Close {
        /// The run.
        run: u64,
    },
    /// Prepares data: the digest of its [`Manifest`](super::manifest::Manifest). Answered by `Need`, `Ready` and
    /// `NoData`.
    Data {
        /// The digest.
        data: String,
    },
    /// A piece of a file, compressed.
    Piece {
        /// The digest of the file.
        digest: String,
        /// Where the piece begins, in bytes.
        offset: u64,
        /// Whether the file ends with it.
        is_last: bool,
    },
    /// A file that is needed cannot be read.
    Unreadable {
        /// Its digest.
        digest: String,
        /// Why.
        why: String,
    },
    /// Runs the script in the bytes. Answered by `Ended` or `Failed`.
    Script(Box<ScriptOrder>),
    /// Ends a script. There is no answer.
    Cancel {
        /// Its number.
        job: u64,
    },
    /// The runner is not needed any more.
    Bye,
}

/// What a runner needs to know about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSetup {
    /// A number for it.
    pub run: u64,
    /// The environment on the program's machine, with the interpreter to use.
    pub environment: Environment,
    /// Whether other versions of Python and its libraries are accepted.
    pub any_python: bool,
    /// How many scripts run at once.
    pub slots: usize,
    /// Memory limit of a script in MiB.
    pub memory_limit_mib: Option<u64>,
    /// Network access of scripts.
    pub network: Switch,
    /// Whether scripts are started warm.
    pub warm_start: bool,
    /// Folders on a shared disk that scripts cannot read, except for their data.
    pub closed: Vec<PathBuf>,
}

/// A script to run; its text is in the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptOrder {
    /// A number for it.
    pub job: u64,
    /// Its run.
    pub run: u64,
    /// Its data.
    pub data: String,
    /// Wall-clock limit in milliseconds.
    pub timeout_ms: u64,
    /// The number of its slot.
    pub slot: usize,
    /// Whether a worker may fork it.
    pub may_be_warm: bool,
    /// Python modules that it finds before all others: names of files with their texts.
    pub modules: Vec<(String, String)>,
    /// The files of its output folder that are wanted, with their largest size in bytes.
    pub outputs: Vec<(String, u64)>,
}

/// A message of a runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromRunner {
    /// The answer to [`ToRunner::Welcome`].
    Hello(Box<Hello>),
    /// The runner is there.
    Alive,
    /// The answer to `Ping`.
    Pong {
        /// Its number.
        number: u64,
    },
    /// The run is prepared.
    Opened {
        /// The run.
        run: u64,
        /// The environment of its scripts.
        environment: Environment,
    },
    /// The preparation goes on.
    Progress {
        /// What it does.
        text: String,
    },
    /// The run cannot be prepared.
    NotOpened {
        /// The run.
        run: u64,
        /// Why.
        message: String,
        /// Whether it is in vain to try again.
        #[serde(default)]
        is_final: bool,
    },
    /// These files of the data are needed.
    Need {
        /// The data.
        data: String,
        /// Their digests, with the number of bytes that are there already.
        files: Vec<(String, u64)>,
    },
    /// The data is there.
    Ready {
        /// The data.
        data: String,
    },
    /// The data cannot be prepared.
    NoData {
        /// The data.
        data: String,
        /// Why.
        message: String,
    },
    /// The bytes are output of a script.
    Output {
        /// The script.
        job: u64,
        /// Which stream.
        stream: Stream,
        /// Whether the output so far does not count, because the script started again.
        is_new: bool,
    },
    /// The bytes are a compressed piece of a file that a script wrote.
    File {
        /// The script.
        job: u64,
        /// The file's name.
        name: String,
    },
    /// A script ended.
    Ended(Box<Ended>),
    /// A script cannot be run.
    Failed {
        /// The script.
        job: u64,
        /// Why.
        message: String,
    },
    /// The runner has to end, for example because the engine wants its place.
    Leaving {
        /// Why.
        reason: String,
    },
}

/// What a runner tells about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Its [`PROTOCOL`].
    pub protocol: u32,
    /// Its version.
    pub version: String,
    /// The name of its machine.
    pub host: String,
    /// Cores, memory and GPUs that it may use.
    pub machine: Machine,
    /// What isolates its scripts, in words.
    pub isolation: String,
    /// Whether scripts are kept from files that they are not given.
    pub closes_reads: bool,
    /// The version of the first Python on its PATH that is new enough, if there is one.
    pub python: Option<String>,
    /// For example `linux x86_64`.
    pub platform: String,
}

/// The end of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The script.
    pub job: u64,
    /// How it ended.
    pub executed: Execution,
    /// Its files, as far as they are wanted. The pieces of those that are kept came before.
    pub files: Vec<(String, Written)>,
    /// Whether the script changed its data, which is not used again.
    pub changed_data: bool,
    /// The space left on the runner's disk if it is full.
    pub disk_left: Option<String>,
}

/// A file that a script may have written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// It did.
    File {
        /// Its size, of which only the largest size allowed was sent.
        bytes: u64,
        /// The digest of what was sent.
        digest: String,
    },
    /// What it wrote is not accepted.
    Refused(String),
}

/// An output stream of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Its name, which ends the names of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Does the first message of the other side name this version?
pub fn is_ours(first: &Value) -> bool {
    first["protocol"] == PROTOCOL && first["version"] == VERSION
}

/// A message with its bytes, as it is written.
///
/// # Errors
/// The message is too long.
pub fn frame<M: Serialize>(message: &M, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 8];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 8;
    if length > MAX_MESSAGE_BYTES || bytes.len() > MAX_BYTES {
        return Err(too_long());
    }
    let lengths = [length, bytes.len()].map(|length| u32::try_from(length).map(u32::to_le_bytes));
    for (at, length) in [0, 4].into_iter().zip(lengths) {
        frame[at..at + 4].copy_from_slice(&length.map_err(|_| too_long())?);
    }
    frame.extend_from_slice(bytes);
    Ok(frame)
}

/// The most bytes before the first frame.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Reads frames.
#[derive(Debug)]
pub struct Frames<R> {
    source: R,
    /// What is read.
    read: Vec<u8>,
    /// How much of it is used.
    used: usize,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Of this source.
    pub fn new(source: R) -> Self {
        Self { source, read: Vec::new(), used: 0 }
    }

    /// Waits for the first bytes or the end.
    pub async fn begun(&mut self) {
        if self.read.is_empty() {
            // An error comes again.
            let _ = self.more().await;
        }
    }

    /// What has come and is not used, as text.
    pub fn unused(&self) -> String {
        String::from_utf8_lossy(&self.read[self.used..][..MAX_TEXT_BYTES.min(self.read.len() - self.used)])
            .into_owned()
    }

    /// Skips everything up to [`MAGIC`].
    ///
    /// # Errors
    /// It does not come, or too much comes before. The text is what came.
    pub async fn skip_to_magic(&mut self) -> Result<(), String> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.read, MAGIC) {
                self.used = at + MAGIC.len();
                return Ok(());
            }
            let more = if self.read.len() > MAX_TEXT_BYTES { Ok(0) } else { self.more().await };
            if !more.is_ok_and(|more| more > 0) {
                return Err(self.unused());
            }
        }
    }

    /// The next message with its bytes; `None` at the end. `heard` is called whenever bytes arrive.
    ///
    /// # Errors
    /// The source cannot be read, or what comes is no message.
    pub async fn next<M: DeserializeOwned>(
        &mut self,
        mut heard: impl FnMut(),
    ) -> io::Result<Option<(M, Vec<u8>)>> {
        loop {
            if let Some(found) = self.take()? {
                return Ok(Some(found));
            }
            // What is left is the beginning of one frame.
            self.read.drain(..self.used);
            self.used = 0;
            if self.more().await? == 0 {
                let is_whole = self.read.is_empty();
                return if is_whole { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            heard();
        }
    }

    fn take<M: DeserializeOwned>(&mut self) -> io::Result<Option<(M, Vec<u8>)>> {
        let unused = &self.read[self.used..];
        let Some((lengths, rest)) = unused.split_first_chunk::<8>() else { return Ok(None) };
        let [a, b, c, d, e, f, g, h] = *lengths;
        let [length, bytes] = [[a, b, c, d], [e, f, g, h]].map(|length| u32::from_le_bytes(length) as usize);
        if length > MAX_MESSAGE_BYTES || bytes > MAX_BYTES {
            return Err(too_long());
        }
        if rest.len() < length + bytes {
            let missing = length + bytes - rest.len();
            self.read.reserve(missing);
            return Ok(None);
        }
        let message = serde_json::from_slice(&rest[..length])?;
        let payload = rest[length..length + bytes].to_vec();
        self.used += 8 + length + bytes;
        Ok(Some((message, payload)))
    }

    async fn more(&mut self) -> io::Result<usize> {
        if self.read.len() == self.read.capacity() {
            self.read.reserve(64 * 1024);
        }
        self.source.read_buf(&mut self.read).await
    }
}

/// A piece of a file as it is sent.
///
/// # Errors
/// There is no memory.
pub fn compressed(piece: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(piece, 1)
}

/// A piece of a file as it was.
///
/// # Errors
/// It is damaged, or too long.
pub fn decompressed(piece: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::decompress(piece, CHUNK_BYTES)
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_are_read_however_they_are_cut() {
        let messages = [
            (ToRunner::Ping { number: 7 }, vec![]),
            (ToRunner::Cancel { job: 1 }, b"bytes".to_vec()),
            (ToRunner::Bye, vec![0; 70_000]),
        ];
        let mut all = b"Welcome to node 7\n".to_vec();
        all.extend_from_slice(MAGIC);
        for (message, bytes) in &messages {
            all.extend(frame(message, bytes).unwrap());
        }
        for size in [1, 7, 8, 9, 4096, all.len()] {
            let pieces = all.chunks(size).map(|piece| io::Result::Ok(piece.to_vec()));
            let (mut into, from) = tokio::io::duplex(size);
            let pieces: Vec<Vec<u8>> = pieces.map(Result::unwrap).collect();
            let writing = tokio::spawn(async move {
                for piece in pieces {
                    tokio::io::AsyncWriteExt::write_all(&mut into, &piece).await.unwrap();
                }
            });
            let mut frames = Frames::new(from);
            frames.skip_to_magic().await.unwrap();
            for (message, bytes) in &messages {
                let next = frames.next::<ToRunner>(|| ()).await.unwrap().unwrap();
                assert_eq!((&next.0, &next.1), (message, bytes), "in pieces of {size}");
            }
            assert!(frames.next::<ToRunner>(|| ()).await.unwrap().is_none());
            writing.await.unwrap();
        }
    }

    #[tokio::test]
    async fn what_is_no_frame_is_an_error() {
        let check = async |bytes: &[u8], expected: &str| {
            let error = Frames::new(bytes).next::<ToRunner>(|| ()).await.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        };
        check(b"bash: mle-star: command not found\n", "too long").await;
        check(&[2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}'], "missing field").await;
        check(&frame(&ToRunner::Bye, b"x").unwrap()[..12], "unexpected end of file").await;
        assert_eq!(
            Frames::new(&b"no route to host"[..]).skip_to_magic().await.unwrap_err(),
            "no route to host"
        );
    }

    #[test]
    fn pieces_come_back_and_bombs_do_not() {
        let piece: Vec<u8> = (0..CHUNK_BYTES).map(|at| (at / 100 % 251) as u8).collect();
        assert_eq!(decompressed(&compressed(&piece).unwrap()).unwrap(), piece);
        assert!(decompressed(&compressed(&vec![0; CHUNK_BYTES + 1]).unwrap()).is_err());
        assert!(decompressed(b"nonsense").is_err());
    }
}
