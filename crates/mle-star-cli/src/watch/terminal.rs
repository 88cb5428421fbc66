//! The terminal: finished steps scroll, one live line at the bottom says what runs now.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mle_star::event::{Event, EventSink};

use super::progress::{Before, Progress};
use super::words::{self, Weight};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Lines that scroll; on a terminal also a live line.
    Everything,
    /// What begins and ends the run; the events go elsewhere.
    Frame,
    /// Nothing.
    Nothing,
}

/// Writes to stderr.
pub struct Terminal {
    show: Show,
    live: bool,
    colour: bool,
    state: Mutex<State>,
}

struct State {
    progress: Progress,
    live_line_shown: bool,
}

impl Terminal {
    /// The process's own terminal. `NO_COLOR` set to anything turns colours off.
    pub fn new(show: Show, before: Before, no_color: bool) -> Self {
        let live = show == Show::Everything && io::stderr().is_terminal();
        let state = State { progress: Progress::new(before), live_line_shown: false };
        Self { show, live, colour: live && !no_color, state: Mutex::new(state) }
    }

    /// One line that scrolls.
    pub fn line(&self, text: &str) {
        if self.show != Show::Nothing {
            self.write(&mut self.state(), text);
        }
    }

    /// Redraws the live line.
    pub fn tick(&self) {
        if self.live {
            let mut state = self.state();
            Self::draw(&mut state);
        }
    }

    /// Takes the live line away.
    pub fn clear(&self) {
        let mut state = self.state();
        Self::erase(&mut state);
        let _ = io::stderr().flush();
    }

    fn write(&self, state: &mut State, text: &str) {
        Self::erase(state);
        let _ = writeln!(io::stderr(), "{text}");
        if self.live {
            Self::draw(state);
        }
    }

    fn erase(state: &mut State) {
        if std::mem::take(&mut state.live_line_shown) {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }

    fn draw(state: &mut State) {
        let line = fitted(&state.progress.line());
        let _ = write!(io::stderr(), "\r\x1b[2K{line}");
        let _ = io::stderr().flush();
        state.live_line_shown = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn coloured(&self, weight: Weight, event: &Event, is_best: bool, text: String) -> String {
        let code = match (weight, event) {
            _ if !self.colour => return text,
            (_, Event::PhaseStarted { .. }) => "1",
            (_, Event::StepEnded { accepted: true, .. }) if is_best => "32",
            (Weight::Warning, _) => "33",
            _ => return text,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The text cut to the terminal's width. One column stays free: a full line would wrap, and a live line that
/// wraps could not be taken away.
fn fitted(text: &str) -> String {
    let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
    if text.chars().count() < width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(2)).collect();
    format!("{kept}…")
}

impl EventSink for Terminal {
    fn emit(&self, event: Event) {
        let mut state = self.state();
        let ended = state.progress.take(&event);
        if self.show != Show::Everything {
            return;
        }
        match words::line(&event, ended) {
            Some((weight, text)) if weight > Weight::Detail => {
                // A step's note may be long; the log has it whole.
                let text = if self.live { fitted(&text) } else { text };
                let text = self.coloured(weight, &event, ended.is_best, text);
                self.write(&mut state, &text);
            }
            _ if self.live => Self::draw(&mut state),
            _ => {}
        }
    }
}
