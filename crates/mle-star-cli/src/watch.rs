//! The outputs of a running run: the terminal, JSON lines, the log files.
//!
//! [`Watchers`] adds time, run ID and progress to each event and passes the [`Line`] to every output. In the terminal,
//! `status` is the text for the state after the lines so far, which the output keeps at the bottom of the screen.

mod json;
mod log;
mod news;
mod queue;
mod replay;
mod status;
mod terminal;
mod text;

use std::sync::{Mutex, PoisonError};

use jiff::{Timestamp, Unit};
use mle_star::event::{Event, EventSink, Line};
use mle_star_report::progress::Progress;

pub use json::{JsonLines, Recorder};
pub use log::Log;
pub use news::{News, NewsItem};
pub use terminal::{Show, Terminal, TerminalStyle};

/// An output for lines, which must not block.
pub trait Watch: Send + Sync {
    /// Takes one line.
    fn see(&self, line: &Line);
}

/// Passes every event of a run to several outputs.
pub struct Watchers<'a> {
    /// The run ID.
    pub run_id: String,
    /// The outputs.
    pub all: Vec<&'a dyn Watch>,
    progress: Mutex<Progress>,
}

impl<'a> Watchers<'a> {
    /// Passes the events of the run with this ID on.
    pub fn new(run_id: impl Into<String>, all: Vec<&'a dyn Watch>) -> Self {
        Self { run_id: run_id.into(), all, progress: Mutex::default() }
    }
}

impl EventSink for Watchers<'_> {
    fn emit(&self, event: Event) {
        let now = Timestamp::now();
        let time = now.round(Unit::Millisecond).unwrap_or(now);
        let mut line = Line { time, run_id: self.run_id.clone(), done: None, event };
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.take(&line);
        line.done = progress.done(time);
        drop(progress);
        for watcher in &self.all {
            watcher.see(&line);
        }
    }
}
