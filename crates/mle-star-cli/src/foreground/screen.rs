//! One run, and who sees it: the terminal, JSON lines, its logs and its report.

use std::path::Path;

use async_trait::async_trait;
use mle_star::event::{Event, EventSink};
use mle_star::result::FinalResult;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer};
use mle_star_domain::layout;
use mle_star_report::progress::Progress;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view;
use mle_star_run::drive::{Runners, drive_with};
use mle_star_run::runs::resume_command;
use mle_star_run::settings::process_environment;
use mle_star_run::{ErrorKind, Observer, OpenRun};

use super::signals::Signals;
use crate::args::ViewArgs;
use crate::exit::{Exit, Failure};
use crate::report::updates::{self, ReportWriter};
use crate::watch::{JsonLines, Log, Recorder, Show, Terminal, TerminalStyle, Watch, Watchers};

/// What is shown of a run, and where.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// What the terminal shows.
    pub show: Show,
    /// Events as JSON lines on stdout.
    pub json: bool,
}

/// What a run is driven with: who sees it, what stops it, and its runners.
pub struct Session {
    terminal: Terminal,
    json: Option<JsonLines>,
    signals: Signals,
    runners: Runners,
    /// Whether the terminal shows the log instead of the usual lines, as with `log_level: DEBUG`.
    shows_log: bool,
}

/// Executes one run and shows it. Its journal is unlocked at the end.
pub async fn supervise(mut run: OpenRun, session: &Session) -> Result<Exit, Failure> {
    let config = &run.frozen.config;
    let logs = run.folder.join(layout::LOGS);
    let own_log = logs.join(layout::LOG);
    let paths: Vec<&Path> = std::iter::once(own_log.as_path()).chain(config.log_file.as_deref()).collect();
    let (log, notes) = Log::open(&paths, &config.log_level);
    let screen = &session.terminal;
    let console = |line: &str| screen.line(line);
    let log = if session.shows_log { log.on_console(&console) } else { log };
    let (recorder, note) = Recorder::open(&logs.join(layout::EVENTS));
    let mut all: Vec<&dyn Watch> = vec![&log, &recorder];
    all.extend((!session.shows_log).then_some(screen as &dyn Watch));
    all.extend(session.json.as_ref().map(|json| json as &dyn Watch));
    let watchers = Watchers::new(&run.frozen.run_id, all);
    run.opening.extend(notes.into_iter().chain(note).map(Event::said));
    let reporting = ReportWriter::start(&run.folder);
    let observer = RunObserver { watchers: &watchers, log: &log, reporting };
    let driven = drive_with(&run, &session.runners, &observer, session.signals.cancel()).await;
    drop(observer.reporting.end().await);
    let ended = match driven {
        Ok(result) => {
            say_last_lines(&run, &watchers, screen);
            Ok(Exit::of_result(&result))
        }
        Err(error) => {
            let is_interrupted = error.kind == ErrorKind::Interrupted;
            let failure = Failure::from(error).resumed_by(&resume_command(&run.folder));
            let exit = if is_interrupted { session.signals.exit() } else { failure.exit };
            log.error(&failure.trouble.message);
            Err(Failure { exit, ..failure })
        }
    };
    watchers.emit(end_of(&ended));
    ended
}

fn say_last_lines(run: &OpenRun, watchers: &Watchers<'_>, screen: &Terminal) {
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
struct RunObserver<'a> {
    watchers: &'a Watchers<'a>,
    log: &'a Log<'a>,
    reporting: ReportWriter,
}

impl EventSink for RunObserver<'_> {
    fn emit(&self, event: Event) {
        self.reporting.take(&event);
        self.watchers.emit(event);
    }
}

#[async_trait]
impl Observer for RunObserver<'_> {
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
        let abandoned = self.reporting.end().await;
        let result = result.clone();
        let last = updates::write_last(folder, move |view| view.finish(result));
        abandoned.into_iter().chain(last.await).collect()
    }

    async fn stopped(&self, folder: &Path) -> Vec<String> {
        let abandoned = self.reporting.end().await;
        abandoned.into_iter().chain(updates::leave(folder).await).collect()
    }
}

impl Session {
    /// Requires a runtime.
    pub fn new(view: View, signals: Signals, run: &OpenRun) -> Self {
        let shows_log = run.frozen.config.log_level == "DEBUG" && view.show == Show::Everything;
        let show = if shows_log { Show::Frame } else { view.show };
        let terminal = Terminal::new(show, TerminalStyle::of(&process_environment), Progress::default());
        let json = view.json.then(JsonLines::new);
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

impl View {
    /// How options wish a run to be shown.
    pub fn of(options: &ViewArgs) -> Self {
        let show = match (options.quiet, options.json) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Frame,
            (false, false) => Show::Everything,
        };
        Self { show, json: options.json }
    }
}
