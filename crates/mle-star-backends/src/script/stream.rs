//! A script's output: all of it to a file, up to a cap; head and tail in memory, whatever the length.

use std::io;
use std::path::{Path, PathBuf};

use mle_star::effects::Captured;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// How much of one stream is kept on disk, in bytes.
pub(super) const CAP: u64 = 100 * 1024 * 1024;
/// How much of the start and of the end of a stream is kept in memory, in bytes each.
const KEPT: usize = 32 * 1024;

/// One output stream on its way to its log file.
pub(super) struct Stream<S> {
    file: PathBuf,
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    /// Why the file does not hold all of it.
    unwritten: Option<io::Error>,
    /// Sees every byte, in order.
    pub(super) scanner: S,
}

impl<S> Stream<S> {
    /// A stream that will be written to `file`.
    pub(super) fn new(file: PathBuf, scanner: S) -> Self {
        Self { file, head: Vec::new(), tail: Vec::new(), bytes: 0, unwritten: None, scanner }
    }

    /// Where the stream is kept.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Reads `source` to its end, as it comes. What is beyond the cap is read and counted, but not kept; a file
    /// that cannot be written is noted, and the script goes on.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub(super) async fn pump(
        &mut self,
        mut source: impl AsyncRead + Unpin,
        feed: fn(&mut S, &[u8]),
    ) -> io::Result<()> {
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
            feed(&mut self.scanner, piece);
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
    pub(super) fn captured(&self) -> Captured {
        let kept = (self.head.len() + self.tail.len()) as u64;
        if self.bytes == kept && self.tail.len() <= KEPT {
            let whole = [self.head.as_slice(), &self.tail].concat();
            return Captured { head: lossy(&whole), tail: String::new(), bytes: self.bytes };
        }
        let tail = &self.tail[self.tail.len().saturating_sub(KEPT)..];
        let head = &self.head[..self.head.len() - split_character_at_end(&self.head)];
        let tail = &tail[tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count()..];
        Captured { head: lossy(head), tail: lossy(tail), bytes: self.bytes }
    }

    /// What was not kept, in words.
    pub(super) fn cut(&self, name: &str) -> Option<String> {
        if let Some(error) = &self.unwritten {
            return Some(format!("{name} is not whole in {}: {error}", self.file.display()));
        }
        (self.bytes > CAP).then(|| {
            let (all, kept) = (self.bytes / (1024 * 1024), CAP / (1024 * 1024));
            format!("{name} was cut at {kept} MiB; the script printed {all} MiB")
        })
    }
}

/// Writes a piece as far as there is room for it under the cap.
async fn append(file: &mut File, piece: &[u8], room: u64) -> io::Result<()> {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    file.write_all(&piece[..piece.len().min(room)]).await?;
    if room > 0 && piece.len() >= room {
        file.write_all(format!("\n[… output beyond {CAP} bytes is not kept …]\n").as_bytes()).await?;
    }
    // The file buffers; whoever follows the log wants to see what is there.
    file.flush().await
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How many bytes at the end belong to a character whose rest is missing.
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

    async fn read(text: &[u8]) -> Captured {
        let folder = tempfile::tempdir().unwrap();
        let mut stream = Stream::new(folder.path().join("log"), ());
        stream.pump(text, |(), _| ()).await.unwrap();
        assert_eq!(std::fs::read(stream.file()).unwrap(), text);
        stream.captured()
    }

    #[tokio::test]
    async fn short_streams_are_kept_whole_and_long_ones_lose_their_middle() {
        for length in [0, 1, KEPT, KEPT + 1, 2 * KEPT] {
            let text = "a".repeat(length);
            assert_eq!(read(text.as_bytes()).await, Captured::whole(text), "{length}");
        }
        for length in [2 * KEPT + 1, 5 * KEPT] {
            let text = format!("{}z", "a".repeat(length - 1));
            let captured = read(text.as_bytes()).await;
            assert_eq!((captured.head.len(), captured.tail.len()), (KEPT, KEPT), "{length}");
            assert!(captured.tail.ends_with('z') && captured.bytes == length as u64, "{length}");
        }
    }

    #[tokio::test]
    async fn a_cut_leaves_no_broken_character() {
        for shift in 0..4 {
            let text = format!("{}{}", "a".repeat(shift), "\u{1F600}".repeat(KEPT));
            let captured = read(text.as_bytes()).await;
            let whole = |text: &str| !text.contains('\u{FFFD}');
            assert!(whole(&captured.head) && whole(&captured.tail), "{shift}");
        }
        assert_eq!(
            read(b"a\xFFb").await,
            Captured { head: "a\u{FFFD}b".to_owned(), tail: String::new(), bytes: 3 }
        );
    }

    #[tokio::test]
    async fn a_log_that_cannot_be_written_is_noted_and_the_output_is_known() {
        for (file, expected) in [("/dev/full", "No space left"), ("/nowhere/log", "No such file")] {
            let mut stream = Stream::new(file.into(), Vec::new());
            stream.pump(b"all of it".as_slice(), Vec::extend_from_slice).await.unwrap();
            assert_eq!(stream.captured(), Captured::whole("all of it"));
            assert_eq!(stream.scanner, b"all of it");
            let note = stream.cut("stdout").unwrap();
            assert!(note.contains(expected) && note.contains(file), "{note}");
        }
    }
}
