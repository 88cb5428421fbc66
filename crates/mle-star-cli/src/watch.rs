//! Those who watch a run: the terminal, JSON lines, the log file. Each takes the events in its own way.

mod asked;
mod log;
mod progress;
mod terminal;
mod words;

use mle_star::event::{Event, EventSink};

pub use asked::Asked;
pub use log::Log;
pub use progress::Before;
pub use terminal::{Show, Terminal};
pub use words::{agent_name, duration, number, phase_title};

use crate::say;

/// Hands every event to each of several watchers.
pub struct Watchers<'a>(pub Vec<&'a dyn EventSink>);

/// One JSON object per line on stdout.
pub struct JsonLines;

impl EventSink for Watchers<'_> {
    fn emit(&self, event: Event) {
        for watcher in &self.0 {
            watcher.emit(event.clone());
        }
    }
}

impl EventSink for JsonLines {
    fn emit(&self, event: Event) {
        if let Ok(line) = serde_json::to_string(&event) {
            say::data(&line);
        }
    }
}
