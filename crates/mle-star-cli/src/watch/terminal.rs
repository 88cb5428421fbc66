//! The terminal: lines about completed work scroll, and the status below them shows current work.
//!
//! A separate thread writes, so that a stopped (Ctrl-S) or slow terminal does not block a run.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use mle_star::event::{Event, Line};
use mle_star_report::event_line::{self, Weight};
use mle_star_report::progress::{Progress, StepSummary};

use super::Watch;
use super::queue::Queue;
use super::replay::Replay;
use super::status::{self, Frame};
use super::text::{Style, Text};
use crate::output;
use crate::output::DrawnLine;

/// How often the status is redrawn.
const TICK: Duration = Duration::from_millis(250);

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Lines that scroll and, on a terminal, the status.
    Everything,
    /// Only the start and the end of the run; the events go elsewhere.
    Frame,
    /// Only the status, on a terminal; somebody else says what else there is to say, errors included.
    Status,
    /// Nothing.
    Nothing,
}

/// What the terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Lines can be overwritten.
    pub live: bool,
    /// There are colours.
    pub colour: bool,
}

/// The terminal of one run, behind stderr.
pub struct Terminal {
    queue: Option<Queue<Message>>,
}

enum Message {
    Line(Box<Line>),
    Words(String),
}

/// The state of the thread.
struct Screen {
    show: Show,
    style: TerminalStyle,
    progress: Progress,
    replay: Replay,
}

impl TerminalStyle {
    /// What the terminal behind stderr can do. `NO_COLOR` turns colours off; `CI` and `TERM=dumb` turn overwriting off.
    pub fn of(environment: &dyn Fn(&str) -> Option<String>) -> Self {
        let is_dumb = environment("TERM").is_none_or(|term| term == "dumb");
        let live = io::stderr().is_terminal() && !is_dumb && environment("CI").is_none();
        Self { live, colour: live && environment("NO_COLOR").is_none() }
    }
}

impl Terminal {
    /// The terminal of a run, of which the `past` is known.
    pub fn new(show: Show, style: TerminalStyle, past: Progress) -> Self {
        let work = move |messages: &Receiver<Message>| Screen::new(show, style, past).work(messages);
        Self { queue: (show != Show::Nothing).then(|| Queue::new(work)) }
    }

    /// One line that scrolls.
    pub fn line(&self, text: &str) {
        self.send(Message::Words(text.to_owned()));
    }

    /// Writes the remaining lines and removes the status.
    pub fn finish(&self) {
        if let Some(queue) = &self.queue {
            queue.finish();
        }
    }

    fn send(&self, message: Message) {
        if let Some(queue) = &self.queue {
            queue.send(message);
        }
    }
}

impl Watch for Terminal {
    fn see(&self, line: &Line) {
        self.send(Message::Line(Box::new(line.clone())));
    }
}

impl Screen {
    fn new(show: Show, style: TerminalStyle, progress: Progress) -> Self {
        Self { show, style, progress, replay: Replay::default() }
    }

    /// Processes messages until the channel is closed.
    fn work(mut self, messages: &Receiver<Message>) {
        let is_drawn = self.style.live && matches!(self.show, Show::Everything | Show::Status);
        let mut drawn = Instant::now();
        loop {
            // Without a status, only messages matter.
            let timeout = if is_drawn { TICK.saturating_sub(drawn.elapsed()) } else { Duration::MAX };
            match messages.recv_timeout(timeout) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if is_drawn && drawn.elapsed() >= TICK {
                drawn = Instant::now();
                output::stay(self.standing(&Frame::now()));
            }
        }
        output::stay(Vec::new());
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Line(line) => {
                let ended = self.progress.take(&line);
                let passed = self.replay.take(&line.event);
                if let Some(phase) = passed.phase {
                    self.report(&Event::PhaseStarted { phase }, StepSummary::default());
                }
                if passed.is_shown {
                    self.report(&line.event, ended);
                }
            }
            Message::Words(_) if self.show == Show::Status => {}
            Message::Words(text) => self.write(&Text::of(Style::Plain, text), None),
        }
    }

    /// Writes an event as a line, if it is to be shown.
    fn report(&self, event: &Event, ended: StepSummary) {
        if let Some(text) = self.text_of(event, ended) {
            // A step's note may be long; the log has all of it. Why a runner fails is for the user to mend.
            let is_whole = matches!(event, Event::Said { .. } | Event::Runner { .. });
            self.write(&text, if is_whole { None } else { Some(output::columns()) });
        }
    }

    /// An event as a line; `None` if it is not shown.
    fn text_of(&self, event: &Event, ended: StepSummary) -> Option<Text> {
        let is_wanted = match self.show {
            _ if matches!(event, Event::Said { detail: true, .. }) => false,
            Show::Everything => true,
            Show::Frame => matches!(event, Event::Said { .. }),
            Show::Status | Show::Nothing => false,
        };
        let (weight, text) = event_line::line(event, ended, &self.progress.models).filter(|_| is_wanted)?;
        let style = match (weight, event) {
            (Weight::Detail, _) => return None,
            (_, Event::PhaseStarted { .. }) => Style::Bold,
            (_, Event::StepEnded { verdict, .. }) if verdict.kept && ended.is_best => Style::Good,
            (Weight::Warning, _) => Style::Bad,
            (Weight::News, _) => Style::Plain,
        };
        Some(Text::of(style, text))
    }

    /// A line that scrolls, on a live terminal no wider than `columns`; without those, in as many rows as it needs.
    fn write(&self, text: &Text, columns: Option<usize>) {
        output::drawn(&match columns {
            _ if !self.style.live => text.drawn(usize::MAX, self.style.colour),
            Some(columns) => text.drawn(columns.saturating_sub(1), self.style.colour),
            None => text.wrapped(output::columns().saturating_sub(1), self.style.colour),
        });
    }

    /// The status now.
    fn standing(&self, frame: &Frame) -> Vec<DrawnLine> {
        status::lines(&self.progress, frame)
            .iter()
            .map(|line| line.drawn(frame.columns, self.style.colour))
            .collect()
    }
}

#[cfg(test)]
mod tests;
