//! A child's output: all of it in a file, up to a cap, and its head and tail in memory.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// How many bytes of one stream are kept on disk.
const CAP: u64 = 100 * 1024 * 1024;
/// How many bytes of the head and of the tail of a stream are kept in memory.
const KEPT: usize = 32 * 1024;

/// One output stream on its way to a file.
pub struct Stream<F> {
    file: PathBuf,
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    /// Why the file is not complete.
    unwritten: Option<io::Error>,
    /// Called with every piece, in order.
    inspect: F,
}

/// Head and tail of an output as text. Invalid UTF-8 is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The first part, or all of a short output.
    pub head: String,
    /// The last part of a long output.
    pub tail: String,
    /// Length of the whole output.
    pub bytes: u64,
}

impl<F: FnMut(&[u8])> Stream<F> {
    /// A stream that will be written to `file`; `inspect` is called with every piece of it, in order.
    pub fn new(file: PathBuf, inspect: F) -> Self {
        Self { file, head: Vec::new(), tail: Vec::new(), bytes: 0, unwritten: None, inspect }
    }

    /// The file that keeps the stream.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Reads `source` to its end. Output beyond the cap is counted but not kept. If the file cannot be written, the
    /// child goes on, and [`cut`](Self::cut) tells.
    ///
    /// # Errors
    /// The source cannot be read.
    pub async fn pump(&mut self, mut source: impl AsyncRead + Unpin) -> io::Result<()> {
        let mut file = File::create(&self.file).await.map_err(|error| self.unwritten = Some(error)).ok();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = match source.read(&mut buffer).await {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if length == 0 {
                return Ok(());
            }
            let piece = &buffer[..length];
            if let Some(open) = &mut file
                && let Err(error) = append(open, piece, CAP.saturating_sub(self.bytes)).await
            {
                (self.unwritten, file) = (Some(error), None);
            }
            self.keep(piece);
            (self.inspect)(piece);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let (first, rest) = piece.split_at(piece.len().min(KEPT - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * KEPT {
            let surplus = self.tail.len() - KEPT;
            self.tail.drain(..surplus);
        }
    }

    /// Head and tail as text.
    pub fn excerpt(&self) -> Excerpt {
        let kept = (self.head.len() + self.tail.len()) as u64;
        if self.bytes == kept && self.tail.len() <= KEPT {
            let whole = [self.head.as_slice(), &self.tail].concat();
            return Excerpt { head: lossy(&whole), tail: String::new(), bytes: self.bytes };
        }
        let tail = &self.tail[self.tail.len().saturating_sub(KEPT)..];
        let head = &self.head[..self.head.len() - split_character_at_end(&self.head)];
        let tail = &tail[tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count()..];
        Excerpt { head: lossy(head), tail: lossy(tail), bytes: self.bytes }
    }

    /// A sentence about what was not kept, if anything.
    pub fn cut(&self, name: &str) -> Option<String> {
        if let Some(error) = &self.unwritten {
            return Some(format!("{name} is incomplete in {}: {error}", self.file.display()));
        }
        (self.bytes > CAP).then(|| {
            let (all, kept) = (self.bytes / (1024 * 1024), CAP / (1024 * 1024));
            format!("{name} was cut at {kept} MiB of {all} MiB")
        })
    }
}

/// Writes the part of a piece that fits under the cap.
async fn append(file: &mut File, piece: &[u8], room: u64) -> io::Result<()> {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    file.write_all(&piece[..piece.len().min(room)]).await?;
    if room > 0 && piece.len() >= room {
        file.write_all(format!("\n[… output beyond {CAP} bytes is not kept …]\n").as_bytes()).await?;
    }
    // The file buffers; a reader that follows it must see every piece at once.
    file.flush().await
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The number of bytes at the end that are the beginning of a character.
fn split_character_at_end(bytes: &[u8]) -> usize {
    let from_end = bytes.iter().rev().take(3).position(|byte| byte & 0xC0 != 0x80);
    let Some(present) = from_end.map(|position| position + 1) else { return 0 };
    let whole = match bytes[bytes.len() - present] {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    if present < whole { present } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &[u8]) -> Excerpt {
        let folder = tempfile::tempdir().unwrap();
        let mut stream = Stream::new(folder.path().join("log"), |_: &[u8]| ());
        stream.pump(text).await.unwrap();
        assert_eq!(std::fs::read(stream.file()).unwrap(), text);
        stream.excerpt()
    }

    fn whole(text: &str) -> Excerpt {
        Excerpt { head: text.to_owned(), tail: String::new(), bytes: text.len() as u64 }
    }

    #[tokio::test]
    async fn short_streams_are_kept_whole_and_long_ones_lose_their_middle() {
        for length in [0, 1, KEPT, KEPT + 1, 2 * KEPT] {
            let text = "a".repeat(length);
            assert_eq!(read(text.as_bytes()).await, whole(&text), "{length}");
        }
        for length in [2 * KEPT + 1, 5 * KEPT] {
            let text = format!("{}z", "a".repeat(length - 1));
            let excerpt = read(text.as_bytes()).await;
            assert_eq!((excerpt.head.len(), excerpt.tail.len()), (KEPT, KEPT), "{length}");
            assert!(excerpt.tail.ends_with('z') && excerpt.bytes == length as u64, "{length}");
        }
        // A cut leaves no broken character.
        for shift in 0..4 {
            let text = format!("{}{}", "a".repeat(shift), "\u{1F600}".repeat(KEPT));
            let excerpt = read(text.as_bytes()).await;
            assert!(![excerpt.head, excerpt.tail].concat().contains('\u{FFFD}'), "{shift}");
        }
    }

    #[tokio::test]
    async fn a_log_that_cannot_be_written_is_noted_and_the_output_is_known() {
        for (file, expected) in [("/dev/full", "No space left"), ("/nowhere/log", "No such file")] {
            let mut inspected = Vec::new();
            let mut stream = Stream::new(file.into(), |piece: &[u8]| inspected.extend_from_slice(piece));
            stream.pump(b"all of it".as_slice()).await.unwrap();
            assert_eq!(stream.excerpt(), whole("all of it"));
            let note = stream.cut("stdout").unwrap();
            assert!(note.contains(expected) && note.contains(file), "{note}");
            assert_eq!(inspected, b"all of it");
        }
    }
}
