//! Those who watch a run: the terminal, JSON lines, the log files. Each takes the [`Line`]s in its own way.
//!
//! [`Watchers`] stamps what the algorithms emit and hands it on. [`Terminal`] shows it: `progress` is the state that
//! the lines add up to, `status` what of it is shown, `block` how it stays at the bottom of the screen.

mod asked;
mod block;
mod follow;
mod json;
mod log;
mod pace;
mod progress;
mod queue;
mod replay;
mod status;
mod terminal;
mod text;

mod words;

use jiff::{Timestamp, Unit};
use mle_star::event::{Event, EventSink, Line};

pub use asked::Asked;
pub use block::{Drawn, replaced};
pub use follow::{Follow, Found};
pub use json::{JsonLines, Recorder};
pub use log::Log;
pub use progress::{Effect, Progress};
pub use terminal::{Look, OfRun, Show, Terminal};
pub use words::{agent_name, duration, number, phase_title, place_name, signed};

/// Takes lines as they happen, without holding the run up.
pub trait Watch: Send + Sync {
    /// Takes one.
    fn see(&self, line: &Line);
}

/// Hands every event of a run to each of several watchers.
pub struct Watchers<'a> {
    /// The run's name.
    pub run_id: String,
    /// The watchers.
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
