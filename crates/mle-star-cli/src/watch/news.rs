//! What happened in a run of another process, as lines for those who ask now and then.

use std::io;
use std::path::Path;

use mle_star::event::Event;
use mle_star_report::event_line::{self, Weight};
use mle_star_report::follow::Follow;
use mle_star_report::progress::{Progress, StepSummary};
use mle_star_report::words::Models;

use super::replay::Replay;

/// Reads the events of a run as they appear.
pub struct News {
    follow: Follow,
    replay: Replay,
    /// The state after the events so far.
    pub progress: Progress,
    /// How many lines of the events' file were read.
    pub read: usize,
}

/// A line about a step, a phase or trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsItem {
    /// The number of its event, from 0.
    pub at: usize,
    /// The line.
    pub text: String,
}

impl News {
    /// The news of the run in this folder, which may not have begun.
    pub fn of(folder: &Path) -> Self {
        Self {
            follow: Follow::new(folder),
            replay: Replay::default(),
            progress: Progress::default(),
            read: 0,
        }
    }

    /// What happened since the last call.
    ///
    /// # Errors
    /// The events cannot be read.
    pub fn new_items(&mut self) -> io::Result<Vec<NewsItem>> {
        let mut items = Vec::new();
        for found in self.follow.new_lines()? {
            let at = self.read;
            self.read += 1;
            let Some(line) = found.line else { continue };
            let ended = self.progress.take(&line);
            let passed = self.replay.take(&line.event);
            let text = |event: &Event, ended| text(event, ended, &self.progress.models);
            let phase =
                passed.phase.map(|phase| text(&Event::PhaseStarted { phase }, StepSummary::default()));
            let own = passed.is_shown.then(|| text(&line.event, ended));
            items.extend(phase.into_iter().chain(own).flatten().map(|text| NewsItem { at, text }));
        }
        Ok(items)
    }
}

/// An event as a line; `None` if it is not shown in a terminal, either.
fn text(event: &Event, ended: StepSummary, models: &Models) -> Option<String> {
    let (weight, text) = event_line::line(event, ended, models)?;
    let text = text.trim().to_owned();
    (weight != Weight::Detail && !text.is_empty()).then_some(text)
}
