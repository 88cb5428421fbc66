//! Those who watch a run: the terminal, JSON lines, the log file. Each takes the events in its own way.

mod asked;
mod log;
mod progress;
mod terminal;
mod words;

use mle_star::event::{Event, EventSink};
use serde::Serialize;

pub use asked::Asked;
pub use log::Log;
pub use progress::Before;
pub use terminal::{OfRun, Show, Terminal};
pub use words::{agent_name, duration, number, phase_title, place_name};

use crate::say;

/// Hands every event to each of several watchers.
pub struct Watchers<'a>(pub Vec<&'a dyn EventSink>);

/// One JSON object per line on stdout.
pub struct JsonLines {
    /// The run's id, where there are several runs to tell apart.
    pub run_id: Option<String>,
}

#[derive(Serialize)]
struct JsonLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    #[serde(flatten)]
    event: &'a Event,
}

impl EventSink for Watchers<'_> {
    fn emit(&self, event: Event) {
        for watcher in &self.0 {
            watcher.emit(event.clone());
        }
    }
}

impl EventSink for JsonLines {
    fn emit(&self, event: Event) {
        let line = JsonLine { run_id: self.run_id.as_deref(), event: &event };
        if let Ok(line) = serde_json::to_string(&line) {
            say::data(&line);
        }
    }
}
