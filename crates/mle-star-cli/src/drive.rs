//! Executes a run: connects journal, backends, pipeline and watchers.
//!
//! `run` and `resume` share [`drive`], which goes from the frozen inputs to the exit code; [`drive_all`] executes
//! several runs side by side.
//! `backends` makes the backends, `shared` is what the runs of one process share, `results` writes the results,
//! `signals` handles interrupts.

mod backends;
mod held_out;
pub mod provisional;
mod results;
mod shared;
mod signals;
mod together;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::backend::AgentBackend;
use mle_star::ctx::Outside;
use mle_star::event::{Event, EventSink, Outline};
use mle_star::journal::{Frozen, Journal, MadeWith};
use mle_star::pipeline;
use mle_star::prompts::Prompts;
use mle_star::spending::spending;
use mle_star::stop::Stop;
use mle_star_backends::files::FileAgents;
use mle_star_backends::runners::entry::RunnerEntry;
use mle_star_backends::runners::fleet::Fleet;
use mle_star_data::holdout::Plan;
use mle_star_data::profile::Profile;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_offline::OfflineAgents;
use tokio::runtime::Builder;
use tokio::sync::broadcast::error::RecvError;

use crate::exit::{Exit, Failure};
use crate::prepare::absolute;
use crate::provider::{Chosen, Workplace, ask_claude, ask_codex, ask_openai};
use crate::report::updates::{self, Reporting};
use crate::runtime::cannot_start;
use crate::settings::process_environment;
use crate::usage;
use crate::version::VERSION;
use crate::watch::{Asked, JsonLines, Log, Look, OfRun, Recorder, Show, Terminal, Watch, Watchers, duration};
use backends::Backends;
use shared::Shared;

pub use mle_star_report::cuts;
pub use mle_star_report::run_view::resume_command;
pub use results::exit_of;
pub use signals::Signals;
pub use together::{Ended, Listening, drive_all, drive_in_turn};

/// A run whose inputs are frozen and whose journal is open.
pub struct Start {
    /// Its folder.
    pub folder: PathBuf,
    /// Its inputs.
    pub frozen: Frozen,
    /// Its templates.
    pub prompts: Prompts,
    /// Its journal, locked by this process.
    pub journal: Journal,
    /// The agents.
    pub chosen: Chosen,
    /// The offline agents, if they were chosen.
    pub rules: Option<OfflineAgents>,
    /// The profile of the data; `None` without a readable training table.
    pub profile: Option<Profile>,
    /// The held-out rows, if they have just been chosen.
    pub held_out: Option<Plan>,
    /// Runners on other machines.
    pub runners: Vec<RunnerEntry>,
    /// How it is shown.
    pub view: View,
    /// The first lines to show.
    pub opening: Vec<String>,
}

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Events as JSON lines on stdout.
    pub json: bool,
    /// Only errors.
    pub quiet: bool,
}

/// Called when a run has ended and its journal is unlocked, with its folder and its outcome.
pub type Afterwards = fn(&Path, &Result<Exit, Failure>);

/// Executes a run until it ends or something stops it. The journal is unlocked before the last lines are printed, so that
/// a slow reader does not keep others from resuming the run.
///
/// # Errors
/// What stopped the run.
pub fn drive(start: Start, afterwards: Afterwards) -> Result<Exit, Failure> {
    with_runtime(async {
        let around = Around::new(Seen::of(start.view), signals::listen()?, &[&start])?;
        let ended = supervise(&start, &around, &around.terminal.only_run()).await;
        let folder = start.folder.clone();
        drop(start);
        afterwards(&folder, &ended);
        around.finish().await;
        ended
    })
}

/// What is seen of runs, and where.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// What the terminal shows.
    pub show: Show,
    /// What the terminal can do.
    pub look: Look,
    /// Events as JSON lines on stdout.
    pub json: bool,
}

impl Seen {
    fn of(view: View) -> Self {
        Self { show: view.show(), look: Look::of(&process_environment), json: view.json }
    }
}

/// What all runs of this process share.
struct Around {
    terminal: Terminal,
    json: Option<JsonLines>,
    signals: Signals,
    shared: Shared,
    /// Does the terminal show the log instead of the usual lines? It does with `log_level: DEBUG`.
    shows_log: bool,
}

impl Around {
    /// Requires a runtime.
    fn new(seen: Seen, signals: Signals, starts: &[&Start]) -> Result<Self, Failure> {
        let wants_log = starts.iter().any(|start| start.frozen.config.log_level == "DEBUG");
        let shows_log = wants_log && seen.show == Show::Everything;
        let show = if shows_log { Show::Frame } else { seen.show };
        let terminal = Terminal::new(show, seen.look);
        let json = seen.json.then(JsonLines::new);
        Ok(Self { terminal, json, signals, shared: Shared::new(starts)?, shows_log })
    }

    /// Ends the runners, and waits until everything is printed.
    async fn finish(&self) {
        self.shared.end().await;
        if let Some(json) = &self.json {
            json.finish();
        }
        self.terminal.finish();
    }
}

fn with_runtime<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| cannot_start(&error))?;
    let done = runtime.block_on(work);
    // Background tasks belong to runs that have ended.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// Executes one run and shows it.
async fn supervise(start: &Start, around: &Around, run: &OfRun<'_>) -> Result<Exit, Failure> {
    let outline = outline(start)?;
    let config = &start.frozen.config;
    let logs = start.folder.join(layout::LOGS);
    let own_log = logs.join(layout::LOG);
    let paths: Vec<&Path> = std::iter::once(own_log.as_path()).chain(config.log_file.as_deref()).collect();
    let (log, mut notes) = Log::open(&paths, &config.log_level);
    let console = |line: &str| run.line(line);
    let log = if around.shows_log { log.on_console(&console) } else { log };
    let (recorder, note) = Recorder::open(&logs.join(layout::EVENTS));
    notes.extend(note);
    let mut all: Vec<&dyn Watch> = vec![&log, &recorder];
    all.extend((!around.shows_log).then_some(run as &dyn Watch));
    all.extend(around.json.as_ref().map(|json| json as &dyn Watch));
    let events = Watchers { run_id: start.frozen.run_id.clone(), all };
    events.emit(Event::RunStarted(Box::new(outline)));
    let say = |text: &str| match text {
        // A blank line is no event.
        "" => run.line(""),
        _ => events.emit(Event::Said { text: text.to_owned() }),
    };
    start.opening.iter().chain(&notes).for_each(|line| say(line));
    let ended = perform(start, around, &log, &events, &say).await;
    let ended = ended.map_err(|failure| failure.resumed_by(&resume_command(&start.folder)));
    if let Err(failure) = &ended {
        log.error(&failure.trouble.message);
    }
    events.emit(end_of(&ended));
    ended
}

fn end_of(ended: &Result<Exit, Failure>) -> Event {
    let trouble = ended.as_ref().err().map(|failure| failure.trouble.clone());
    let (error, hint) = trouble.map(|trouble| (trouble.message, trouble.hint)).unzip();
    let exit = ended.as_ref().map_or_else(|failure| failure.exit, |exit| *exit);
    Event::RunEnded { exit_code: exit.code(), error, hint }
}

/// What the run will do, and what earlier processes have done.
fn outline(start: &Start) -> Result<Outline, Failure> {
    let effects = start.journal.ledger();
    let effects = effects.map_err(|error| Failure::journal(&error))?;
    let spent = spending(&effects, &start.frozen.config).total().usage;
    Ok(Outline::new(&start.frozen, !effects.is_empty(), start.journal.elapsed(), spent))
}

async fn perform(
    start: &Start,
    around: &Around,
    log: &Log<'_>,
    events: &dyn EventSink,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Exit, Failure> {
    let signals = &around.signals;
    let backends = tokio::select! {
        backends = Backends::make(start, &around.shared, say) => backends?,
        () = signals.received() => return Err(interrupted(start, signals)),
    };
    note_versions(start, &backends, say)?;
    let agents = answering(start, &backends.data_dir, say)?;
    let reporting = Reporting::start(&start.folder);
    let answers = provisional::Writer::start(&start.folder, start.frozen.task.metric_direction, &backends);
    let events = answers.beside(events);
    let outside = Outside {
        agents: &Asked { agents: agents.as_ref(), log },
        scripts: &backends.scripts,
        events: &reporting.beside(&events),
        cancel: signals.cancel(),
        environment: &backends.environment_text,
        script_slots: &backends.slots,
        agent_slots: around.shared.agent_slots(),
    };
    let finished = tokio::select! {
        finished = pipeline::run(&start.frozen, &start.prompts, &start.journal, outside) => finished,
        trouble = stranded(backends.fleet.as_ref(), &events) => Err(Stop::Outside(trouble)),
    };
    answers.end().await.iter().for_each(|note| say(note));
    // Removes their folder.
    drop(agents);
    reporting.end().await.iter().for_each(|note| say(note));
    let finished = match finished {
        Ok(finished) => finished,
        Err(stop) => {
            updates::leave(&start.folder).await.iter().for_each(|note| say(note));
            cost_so_far(start).iter().for_each(|line| say(line));
            return Err(failure(start, stop, signals));
        }
    };
    let (exit, lines) = results::finish(start, &backends, finished).await.map_err(Failure::failed)?;
    for line in lines {
        say(&line);
    }
    Ok(exit)
}

/// Reports what runners do, until no script can run anywhere.
async fn stranded(fleet: Option<&Fleet>, events: &dyn EventSink) -> Trouble {
    let Some(fleet) = fleet else { return std::future::pending().await };
    let (known, mut changes) = fleet.watch();
    known.into_iter().for_each(|runner| events.emit(Event::Runner { runner }));
    let reporting = async {
        loop {
            match changes.recv().await {
                Ok(runner) => events.emit(Event::Runner { runner }),
                // It reads on with the next change.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    };
    tokio::select! {
        trouble = fleet.stranded() => trouble,
        () = reporting => Trouble::new("the runners are gone", ""),
    }
}

/// Records the versions that the run uses; notes when they differ from those of earlier processes.
fn note_versions(start: &Start, backends: &Backends, say: &(dyn Fn(&str) + Sync)) -> Result<(), Failure> {
    let now = MadeWith {
        at: jiff::Timestamp::now().to_string(),
        mle_star: VERSION.to_owned(),
        python: backends.environment.version.clone(),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        claude: match &start.chosen {
            Chosen::Claude(claude) => Some(claude.executable.version.to_string()),
            _ => None,
        },
        codex: match &start.chosen {
            Chosen::Codex(codex) => Some(codex.executable.version.to_string()),
            _ => None,
        },
        kept_from: backends.kept_from,
        resumed: false,
    };
    let versions = now.to_string();
    let before = start.journal.note_made_with(now).map_err(|error| Failure::journal(&error))?;
    match before.map(|before| before.to_string()) {
        Some(before) if before == versions => say("note: scripts are isolated in another way than before"),
        Some(before) => say(&format!("note: the run used {before}; it continues with {versions}")),
        None => {}
    }
    Ok(())
}

/// The cost of the run so far; `None` if the journal cannot be read.
fn cost_so_far(start: &Start) -> Option<String> {
    let (effects, config) = (start.journal.ledger().ok()?, &start.frozen.config);
    let spending = usage::without_free_calls(spending(&effects, config), config.agents);
    usage::line(&spending).map(|line| format!("cost so far: {line}"))
}

/// Makes the agents.
fn answering(
    start: &Start,
    data_dir: &Path,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Box<dyn AgentBackend>, Failure> {
    let folder = start.folder.join(layout::WORK).join(layout::AGENTS);
    match (&start.chosen, &start.rules) {
        (Chosen::Claude(claude), _) => {
            let at = Workplace { run_id: &start.frozen.run_id, folder: &folder, data_dir };
            let agents = ask_claude(claude, &start.frozen.config, &start.frozen.prompts, at)
                .map_err(Failure::failed)?;
            Ok(Box::new(agents))
        }
        (Chosen::Files, _) => Ok(Box::new(through_files(start, data_dir, say)?)),
        (Chosen::OpenAi(endpoint), _) => {
            let agents = ask_openai(endpoint, &start.frozen.config).map_err(Failure::failed)?;
            Ok(Box::new(agents))
        }
        (Chosen::Codex(codex), _) => {
            let agents = ask_codex(codex, &start.frozen.config, &folder).map_err(Failure::failed)?;
            Ok(Box::new(agents))
        }
        (Chosen::Offline, Some(rules)) => Ok(Box::new(rules.clone())),
        (Chosen::Offline, None) => {
            let trouble = Trouble::new(
                "the offline agents were not made",
                "this is a bug in mle-star, please report it",
            );
            Err(Failure::failed(trouble))
        }
    }
}

/// Agents that are asked through files; says where and how.
fn through_files(start: &Start, data_dir: &Path, say: &(dyn Fn(&str) + Sync)) -> Result<FileAgents, Trouble> {
    let own = || absolute(&start.folder.join(layout::AGENTS));
    let folder = start.frozen.config.agents_dir.clone().map_or_else(own, Ok)?;
    let agents = FileAgents::new(&folder, &start.frozen.run_id, data_dir)?;
    say(&format!("waiting for answers in {}", folder.display()));
    say("  to answer NNN-PLACE/prompt.md: write a file, and move it to reply.txt beside it");
    Ok(agents)
}

/// The error and exit code for what stopped the run.
fn failure(start: &Start, stop: Stop, signals: &Signals) -> Failure {
    match stop {
        Stop::Interrupted => interrupted(start, signals),
        Stop::Journal(error) => Failure::journal(&error),
        Stop::Outside(trouble) | Stop::Agents { trouble, .. } => Failure::failed(trouble),
        Stop::NoSolution(why) => {
            let logs = start.folder.join(layout::LOGS);
            Failure::failed(Trouble::new(why, format!("see {}", logs.display())))
        }
        Stop::Limit(_) => {
            let more = "give it more with --time-limit or --max-budget-usd";
            Failure { exit: Exit::LimitReached, trouble: Trouble::resumable(stop.to_string(), more) }
        }
        Stop::Bug { .. } | Stop::Fenced(_) => {
            let report = "this is a bug in mle-star, please report it";
            Failure::failed(Trouble::resumable(stop.to_string(), report))
        }
    }
}

fn interrupted(start: &Start, signals: &Signals) -> Failure {
    let message = format!("interrupted after {}", duration(start.journal.elapsed()));
    Failure { exit: signals.exit(), trouble: Trouble::resumable(message, "") }
}

impl View {
    fn show(self) -> Show {
        match (self.quiet, self.json) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Frame,
            (false, false) => Show::Everything,
        }
    }
}
