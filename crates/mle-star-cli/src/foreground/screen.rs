//! One run, and who sees it: the terminal, JSON lines, its logs and its report.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use mle_star::event::{Event, EventSink};
use mle_star::result::FinalResult;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer};
use mle_star_domain::layout;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view;
use mle_star_run::drive::{Runners, drive_with};
use mle_star_run::runs::resume_command;
use mle_star_run::settings::{Invocation, process_environment};
use mle_star_run::{ErrorKind, Observer, OpenRun};

use super::signals::Signals;
use crate::exit::{Exit, Failure};
use crate::report::updates::{self, Reporting};
use crate::watch::{JsonLines, Log, OfRun, Recorder, Show, Terminal, TerminalStyle, Watch, Watchers};

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Events as JSON lines on stdout.
    pub json: bool,
    /// Only errors.
    pub quiet: bool,
}

/// What is seen of a run, and where.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// What the terminal shows.
    pub show: Show,
    /// Events as JSON lines on stdout.
    pub json: bool,
}

/// What is around a run.
pub struct Around {
    pub terminal: Terminal,
    json: Option<JsonLines>,
    signals: Signals,
    runners: Runners,
    /// Whether the terminal shows the log instead of the usual lines, as with `log_level: DEBUG`.
    shows_log: bool,
}

/// Executes one run and shows it. Its journal is unlocked at the end.
pub async fn supervise(mut run: OpenRun, around: &Around, screen: &OfRun<'_>) -> Result<Exit, Failure> {
    let config = &run.frozen.config;
    let logs = run.folder.join(layout::LOGS);
    let own_log = logs.join(layout::LOG);
    let paths: Vec<&Path> = std::iter::once(own_log.as_path()).chain(config.log_file.as_deref()).collect();
    let (log, notes) = Log::open(&paths, &config.log_level);
    let console = |line: &str| screen.line(line);
    let log = if around.shows_log { log.on_console(&console) } else { log };
    let (recorder, note) = Recorder::open(&logs.join(layout::EVENTS));
    let mut all: Vec<&dyn Watch> = vec![&log, &recorder];
    all.extend((!around.shows_log).then_some(screen as &dyn Watch));
    all.extend(around.json.as_ref().map(|json| json as &dyn Watch));
    let watchers = Watchers::new(&run.frozen.run_id, all);
    run.opening.extend(notes.into_iter().chain(note).map(Event::said));
    let reporting = Mutex::new(Some(Reporting::start(&run.folder)));
    let audience = Audience { watchers: &watchers, log: &log, reporting };
    let driven = drive_with(&run, &around.runners, &audience, around.signals.cancel()).await;
    drop(audience.end_reporting().await);
    let ended = match driven {
        Ok(result) => {
            say_last_lines(&run, &watchers, screen);
            Ok(Exit::of_result(&result))
        }
        Err(error) => {
            let is_interrupted = error.kind == ErrorKind::Interrupted;
            let failure = Failure::from(error).resumed_by(&resume_command(&run.folder));
            let exit = if is_interrupted { around.signals.exit() } else { failure.exit };
            log.error(&failure.trouble.message);
            Err(Failure { exit, ..failure })
        }
    };
    watchers.emit(end_of(&ended));
    ended
}

fn say_last_lines(run: &OpenRun, watchers: &Watchers<'_>, screen: &OfRun<'_>) {
    // A blank line is no event.
    screen.line("");
    let lines = match run_view::read(&run.folder) {
        Ok(view) => RunReport::of(&view).last_lines(),
        Err(error) => vec![format!("note: {error}")],
    };
    lines.into_iter().for_each(|text| watchers.emit(Event::said(text)));
}

fn end_of(ended: &Result<Exit, Failure>) -> Event {
    let trouble = ended.as_ref().err().map(|failure| failure.trouble.clone());
    let (error, hint) = trouble.map(|trouble| (trouble.message, trouble.hint)).unzip();
    let exit = ended.as_ref().map_or_else(|failure| failure.exit, |exit| *exit);
    Event::RunEnded { exit_code: exit.code(), error, hint }
}

/// All who see a run.
struct Audience<'a> {
    watchers: &'a Watchers<'a>,
    log: &'a Log<'a>,
    /// `None` once the search has ended.
    reporting: Mutex<Option<Reporting>>,
}

impl Audience<'_> {
    /// Stops the reports that follow the run; returns a note if one was abandoned.
    async fn end_reporting(&self) -> Option<String> {
        let reporting = self.reporting.lock().unwrap_or_else(PoisonError::into_inner).take();
        reporting?.end().await
    }
}

impl EventSink for Audience<'_> {
    fn emit(&self, event: Event) {
        match &*self.reporting.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(reporting) => reporting.beside(self.watchers).emit(event),
            None => self.watchers.emit(event),
        }
    }
}

#[async_trait]
impl Observer for Audience<'_> {
    fn asked(&self, request: &AgentRequest) {
        let who = format!("{} ({})", request.agent.name(), request.place);
        self.log.debug(&format!("prompt for {who}:\n{}", request.prompt));
    }

    fn replied(&self, request: &AgentRequest, reply: &AgentReply) {
        if let Answer::Text { text, .. } = &reply.answer {
            let who = format!("{} ({})", request.agent.name(), request.place);
            self.log.debug(&format!("reply of {who}:\n{text}"));
        }
    }

    /// Without a report the run is still a success.
    async fn before_result(&self, folder: &Path, result: &FinalResult) -> Vec<String> {
        let abandoned = self.end_reporting().await;
        let result = result.clone();
        let last = updates::last(folder, move |view| view.finish(result));
        abandoned.into_iter().chain(last.await).collect()
    }

    async fn stopped(&self, folder: &Path) -> Vec<String> {
        let abandoned = self.end_reporting().await;
        abandoned.into_iter().chain(updates::leave(folder).await).collect()
    }
}

impl Around {
    /// Requires a runtime.
    pub fn new(seen: Seen, signals: Signals, run: &OpenRun) -> Self {
        let shows_log = run.frozen.config.log_level == "DEBUG" && seen.show == Show::Everything;
        let show = if shows_log { Show::Frame } else { seen.show };
        let terminal = Terminal::new(show, TerminalStyle::of(&process_environment));
        let json = seen.json.then(JsonLines::new);
        Self { terminal, json, signals, runners: Runners::default(), shows_log }
    }

    /// Ends the runners, and waits until everything is printed.
    pub async fn finish(&self) {
        self.runners.end().await;
        if let Some(json) = &self.json {
            json.finish();
        }
        self.terminal.finish();
    }
}

impl Seen {
    /// What a view shows.
    pub fn of(View { json, quiet }: View) -> Self {
        let show = match (quiet, json) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Frame,
            (false, false) => Show::Everything,
        };
        Self { show, json }
    }
}

impl View {
    /// How the settings of a run wish it to be shown.
    pub fn of(invocation: &Invocation) -> Self {
        Self { json: invocation.json, quiet: invocation.quiet }
    }
}
