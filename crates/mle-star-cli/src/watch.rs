//! The outputs of a running run: the terminal, JSON lines, the log files.
//!
//! [`Watchers`] adds time and run ID to each event and passes the [`Line`] to every output. In the terminal,
//! `status` is the text for the state after the lines so far, and `block` keeps it at the bottom of the screen.

mod block;
mod json;
mod log;
mod news;
mod queue;
mod replay;
mod runners;
mod status;
mod terminal;
mod text;

use jiff::{Timestamp, Unit};
use mle_star::event::{Event, EventSink, Line};

pub use block::{Drawn, replaced};
pub use json::{JsonLines, Recorder};
pub use log::Log;
pub use news::{Item, News};
pub use terminal::{Look, OfRun, Show, Terminal};

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
}

impl EventSink for Watchers<'_> {
    fn emit(&self, event: Event) {
        let now = Timestamp::now();
        let time = now.round(Unit::Millisecond).unwrap_or(now);
        let line = Line { time, run_id: self.run_id.clone(), event };
        for watcher in &self.all {
            watcher.see(&line);
        }
    }
}
