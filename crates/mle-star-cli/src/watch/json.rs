//! Lines as JSON: on stdout, and in `logs/events.jsonl` of the run folder.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mle_star::event::Line;

use super::Watch;
use super::queue::Queue;
use crate::output;

/// One JSON object per line on stdout. A slow reader loses no line; a closed pipe is not an error.
pub struct JsonLines {
    queue: Queue<String>,
}

/// Appends the lines to a file. If a write fails, as on a full disk, only that line is lost.
pub struct Recorder {
    file: Mutex<Option<Appended>>,
}

struct Appended {
    file: File,
    /// Whether the file ends in the middle of a line.
    is_torn: bool,
}

impl JsonLines {
    /// Starts the output.
    pub fn new() -> Self {
        Self { queue: Queue::new(|lines| lines.iter().for_each(|line: String| output::data(&line))) }
    }

    /// Prints a line of JSON.
    pub fn print(&self, line: String) {
        self.queue.send(line);
    }

    /// Waits until everything is printed.
    pub fn finish(&self) {
        self.queue.finish();
    }
}

impl Watch for JsonLines {
    fn see(&self, line: &Line) {
        if let Ok(line) = serde_json::to_string(line) {
            self.print(line);
        }
    }
}

impl Recorder {
    /// Opens the file for appending. Without it the run continues, and a note says why.
    pub fn open(path: &Path) -> (Self, Option<String>) {
        match Appended::open(path) {
            Ok(file) => (Self { file: Mutex::new(Some(file)) }, None),
            Err(error) => {
                let note = format!("note: no events in {}: {error}", path.display());
                (Self { file: Mutex::new(None) }, Some(note))
            }
        }
    }
}

impl Watch for Recorder {
    fn see(&self, line: &Line) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(file), Ok(line)) = (file.as_mut(), serde_json::to_string(line)) {
            file.write(&line);
        }
    }
}

/// Opens a file for appending, and makes its folder.
pub fn open(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::options().create(true).read(true).append(true).open(path)
}

impl Appended {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = open(path)?;
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        Ok(Self { file, is_torn: last != [b'\n'] })
    }

    fn write(&mut self, line: &str) {
        let start = if self.is_torn { "\n" } else { "" };
        let written = self.file.write_all(format!("{start}{line}\n").as_bytes());
        self.is_torn = written.is_err();
    }
}

#[cfg(test)]
mod tests {
    use mle_star::event::Event;

    use super::*;

    #[test]
    fn a_line_that_was_cut_off_spoils_no_other() {
        let check = |before: &str, expected: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("logs/events.jsonl");
            fs::create_dir(dir.path().join("logs")).unwrap();
            fs::write(&path, before).unwrap();
            let (recorder, note) = Recorder::open(&path);
            assert_eq!(note, None);
            let (time, run_id) = ("2025-01-02T03:04:05Z".parse().unwrap(), "r".to_owned());
            recorder.see(&Line { time, run_id, done: None, event: Event::said("x") });
            assert_eq!(fs::read_to_string(path).unwrap(), expected);
        };
        let line = "{\"time\":\"2025-01-02T03:04:05Z\",\"run_id\":\"r\",\"event\":\"said\",\"text\":\"x\"}\n";
        check("", line);
        check("{}\n", &format!("{{}}\n{line}"));
        check("{\"time\":", &format!("{{\"time\":\n{line}"));
    }
}
