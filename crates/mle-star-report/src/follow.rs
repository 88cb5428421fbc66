//! Follows `logs/events.jsonl` of a run as it grows.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mle_star::event::Line;
use mle_star_domain::layout::{EVENTS, LOGS};
use serde::de::IgnoredAny;

use crate::files;

/// Bytes that are read at a time.
const CHUNK_BYTES: u64 = 1 << 20;
/// The maximum length of a line in bytes; longer ones are not events.
const MAX_LINE_BYTES: usize = 8 << 20;
/// The largest file that is read, in bytes. An event takes a few hundred.
const MAX_READ_BYTES: u64 = 1 << 30;

/// Reads the lines of the file from the beginning, then new ones as they appear.
pub struct Follow {
    /// The run's folder.
    folder: PathBuf,
    file: Option<File>,
    /// Bytes of the file that were read.
    read: u64,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

/// A line of the file, as text and as an event.
pub struct FollowedLine {
    /// The text.
    pub text: String,
    /// The event; `None` if this version does not know it.
    pub line: Option<Line>,
}

impl Follow {
    /// Follows the run in this folder. The file need not exist yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file: None, read: 0, rest: Vec::new() }
    }

    /// The new lines since the last call. Lines that are not JSON are skipped.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn new_lines(&mut self) -> io::Result<Vec<FollowedLine>> {
        self.open()?;
        let mut found = Vec::new();
        loop {
            let Some(file) = self.file.as_mut() else { return Ok(found) };
            let known = self.rest.len();
            let count = file.take(CHUNK_BYTES).read_to_end(&mut self.rest)?;
            if count == 0 {
                return Ok(found);
            }
            self.read += count as u64;
            if let Some(last) = self.rest[known..].iter().rposition(|byte| *byte == b'\n') {
                self.take_lines(known + last + 1, &mut found);
            }
            if self.rest.len() > MAX_LINE_BYTES {
                self.rest.clear();
            }
        }
    }

    /// Takes the lines in the first bytes of the buffer.
    fn take_lines(&mut self, whole: usize, found: &mut Vec<FollowedLine>) {
        let lines = self.rest[..whole].split(|byte| *byte == b'\n').map(String::from_utf8_lossy);
        let events = lines
            .filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
            .map(|text| FollowedLine { line: serde_json::from_str(&text).ok(), text: text.into_owned() });
        found.extend(events);
        self.rest.drain(..whole);
    }

    /// Opens the file if it exists by now. A file that became shorter, or was removed and made again, is read from its
    /// beginning.
    fn open(&mut self) -> io::Result<()> {
        let is_removed = |file: &File| file.metadata().is_ok_and(|data| data.nlink() == 0);
        if self.file.as_ref().is_some_and(is_removed) {
            *self = Self::new(&self.folder);
        }
        if self.file.is_none() {
            self.file = match files::open(&self.folder, &format!("{LOGS}/{EVENTS}")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                opened => Some(opened?),
            };
        }
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        let length = file.metadata()?.len();
        if length > MAX_READ_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 1 GiB"));
        }
        if length < self.read {
            self.read = file.seek(SeekFrom::Start(0))?;
            // The incomplete line belonged to the old file.
            self.rest.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use mle_star::event::Event;

    use super::*;

    /// The new lines after each of several writes.
    fn texts(pieces: &[&str]) -> Vec<Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(LOGS)).unwrap();
        let path = dir.path().join(LOGS).join(EVENTS);
        let mut follow = Follow::new(dir.path());
        assert!(follow.new_lines().unwrap().is_empty());
        let mut read = |piece: &&str| {
            File::options()
                .create(true)
                .append(true)
                .open(&path)
                .unwrap()
                .write_all(piece.as_bytes())
                .unwrap();
            let text = |read: FollowedLine| match read.line.map(|line| line.event) {
                Some(Event::Said { text, .. }) => text,
                other => format!("{other:?}"),
            };
            follow.new_lines().unwrap().into_iter().map(text).collect()
        };
        pieces.iter().map(&mut read).collect()
    }

    #[test]
    fn lines_come_once_and_whole() {
        let check = |pieces: &[&str], expected: &[&[&str]]| assert_eq!(texts(pieces), expected, "{pieces:?}");
        const START: &str = "{\"time\":\"2025-01-02T03:04:05Z\",\"run_id\":\"r\",";
        let said = |text: &str| format!("{START}\"event\":\"said\",\"text\":\"{text}\"}}\n");
        let (one, two) = (said("one"), said("two"));
        check(&[&one, "", &two], &[&["one"], &[], &["two"]]);
        check(&[&format!("{one}{two}")], &[&["one", "two"]]);
        check(&[&one[..20], &one[20..]], &[&[], &["one"]]);
        check(&[&format!("{one}{{\"time\":\n{two}")], &[&["one", "two"]]);
        check(&[&format!("{START}\"event\":\"of_tomorrow\"}}\n{one}")], &[&["None", "one"]]);
        let more = one.replace("\"text\"", "\"of_tomorrow\":1,\"text\"");
        check(&[&more], &[&["one"]]);
        // A line that is too long is not kept in memory.
        let endless = "\0".repeat(MAX_LINE_BYTES + 2);
        check(&[&endless, &format!("\n{one}")], &[&[], &["one"]]);
    }
}
