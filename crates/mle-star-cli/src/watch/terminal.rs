//! The terminal: finished steps scroll, one live line at the bottom says what runs now.
//!
//! [`Terminal`] is the one there is; each run writes to it through its [`OfRun`].

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mle_star::event::{Event, EventSink};
use mle_star::stop::Trouble;

use super::progress::{Before, Progress};
use super::words::{self, Weight, duration};
use crate::say;

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

/// The terminal as one run sees it. The run is over when this is dropped.
pub struct OfRun<'a> {
    terminal: &'a Terminal,
    run: usize,
}

#[derive(Default)]
struct State {
    runs: Vec<Run>,
    live_line_shown: bool,
}

struct Run {
    /// Where there are several.
    name: Option<String>,
    progress: Progress,
    is_over: bool,
}

impl Terminal {
    /// The process's own terminal. `NO_COLOR` set to anything turns colours off.
    pub fn new(show: Show, no_color: bool) -> Self {
        let live = show == Show::Everything && io::stderr().is_terminal();
        Self { show, live, colour: live && !no_color, state: Mutex::default() }
    }

    /// The only run there is.
    pub fn only_run(&self, before: Before) -> OfRun<'_> {
        self.add(None, before)
    }

    /// One run of several, whose lines carry its name.
    pub fn run_called(&self, name: &str, before: Before) -> OfRun<'_> {
        self.add(Some(name.to_owned()), before)
    }

    /// What ended a run badly: shown even where nothing else is.
    pub fn error(&self, trouble: &Trouble) {
        let mut state = self.state();
        Self::erase(&mut state);
        say::error(trouble);
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

    fn add(&self, name: Option<String>, before: Before) -> OfRun<'_> {
        let mut state = self.state();
        state.runs.push(Run { name, progress: Progress::new(before), is_over: false });
        OfRun { terminal: self, run: state.runs.len() - 1 }
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
        let line = fitted(&state.line());
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

impl State {
    /// What runs now, in one line.
    fn line(&self) -> String {
        match self.runs.as_slice() {
            [only] if only.name.is_none() => only.progress.line(),
            runs => several(runs),
        }
    }
}

impl Run {
    fn named(&self, text: &str) -> String {
        self.name.as_ref().map_or_else(|| text.to_owned(), |name| format!("{name}: {}", text.trim_start()))
    }
}

/// `3 of 5 runs going · 12m 30s · 2 agents, 1 script · house-prices best 0.81000`.
fn several(runs: &[Run]) -> String {
    let going = || runs.iter().filter(|run| !run.is_over);
    let elapsed = runs.iter().map(|run| run.progress.elapsed()).fold(0.0, f64::max);
    let (agents, scripts) =
        going().map(|run| run.progress.at_work()).fold((0, 0), |(a, s), (b, t)| (a + b, s + t));
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let mut parts = vec![
        format!("{} of {} going", going().count(), counted(runs.len(), "run")),
        duration(elapsed),
        format!("{}, {}", counted(agents, "agent"), counted(scripts, "script")),
    ];
    let told = going().max_by(|one, other| one.progress.elapsed().total_cmp(&other.progress.elapsed()));
    parts.extend(told.map(|run| run.named(&run.progress.line())));
    parts.join(" · ")
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

impl OfRun<'_> {
    /// One line that scrolls.
    pub fn line(&self, text: &str) {
        let terminal = self.terminal;
        if terminal.show != Show::Nothing {
            let mut state = terminal.state();
            let text = state.runs[self.run].named(text);
            terminal.write(&mut state, &text);
        }
    }
}

impl Drop for OfRun<'_> {
    fn drop(&mut self) {
        self.terminal.state().runs[self.run].is_over = true;
    }
}

impl EventSink for OfRun<'_> {
    fn emit(&self, event: Event) {
        let terminal = self.terminal;
        let mut state = terminal.state();
        let ended = state.runs[self.run].progress.take(&event);
        if terminal.show != Show::Everything {
            return;
        }
        match words::line(&event, ended) {
            Some((weight, text)) if weight > Weight::Detail => {
                // A step's note may be long; the log has it whole.
                let text = state.runs[self.run].named(&text);
                let text = if terminal.live { fitted(&text) } else { text };
                let text = terminal.coloured(weight, &event, ended.is_best, text);
                terminal.write(&mut state, &text);
            }
            _ if terminal.live => Terminal::draw(&mut state),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use mle_star::place::{Phase, Place};

    use super::*;

    #[test]
    fn the_live_line_tells_how_many_runs_go_on() {
        let terminal = Terminal::new(Show::Frame, true);
        let (a, b) =
            (terminal.run_called("a", Before::nothing()), terminal.run_called("b", Before::nothing()));
        a.emit(Event::ScriptStarted { place: Place::from("phase1/candidate-0/run"), timeout: 0.0 });
        let line = terminal.state().line();
        assert!(line.starts_with("2 of 2 runs going · 0.0 s · 0 agents, 1 script · "), "{line}");
        drop(a);
        b.emit(Event::PhaseStarted { phase: Phase::Phase1 });
        let line = terminal.state().line();
        assert!(line.starts_with("1 of 2 runs going · ") && line.contains("s, 0 scripts · b: "), "{line}");
        assert_eq!(terminal.state().runs[1].named("  step"), "b: step");
    }

    #[test]
    fn a_single_run_has_no_name() {
        let terminal = Terminal::new(Show::Frame, true);
        let _only = terminal.only_run(Before::nothing());
        assert_eq!(terminal.state().line(), "0.0 s");
        assert_eq!(terminal.state().runs[0].named("  step"), "  step");
    }
}
