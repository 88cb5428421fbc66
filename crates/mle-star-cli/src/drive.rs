//! A run under way: journal, backends, pipeline and watchers brought together.
//!
//! [`drive`] is what `run` and `resume` share, from the frozen inputs to the exit code; [`drive_all`] does it
//! for several runs side by side. `outside` makes the backends, `shared` is what runs of one process share,
//! `reporting` keeps the report up to date, `finish` leaves the results, `signals` hears the user.

mod finish;
mod outside;
mod reporting;
mod shared;
mod signals;
mod together;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::config::Config;
use mle_star::ctx::Outside;
use mle_star::effects::AgentBackend;
use mle_star::event::{Event, EventSink, Outline};
use mle_star::journal::{Frozen, Journal, MadeWith};
use mle_star::pipeline;
use mle_star::prompts::Prompts;
use mle_star::spending::spending;
use mle_star::stop::{Stop, Trouble};
use mle_star_backends::script::environment::Environment;
use mle_star_offline::OfflineAgents;
use tokio::runtime::Builder;

use crate::agents::{Chosen, Workplace, ask_claude};
use crate::bill;
use crate::exit::{Exit, Failure};
use crate::settings::process_environment;
use crate::watch::{Asked, JsonLines, Log, Look, OfRun, Recorder, Show, Terminal, Watch, Watchers, duration};
use outside::Backends;
use reporting::Reporting;
use shared::Shared;

pub use finish::{best_score, exit_of};
pub use together::{Ended, drive_all};

/// A run whose inputs are frozen and whose journal is open.
pub struct Start {
    /// Its folder.
    pub folder: PathBuf,
    /// Its inputs.
    pub frozen: Frozen,
    /// Its templates.
    pub prompts: Prompts,
    /// Its memory, held by this process.
    pub journal: Journal,
    /// Who answers.
    pub chosen: Chosen,
    /// The rules, when they do.
    pub rules: Option<OfflineAgents>,
    /// What submissions are checked against, relative to the data folder.
    pub sample: Option<PathBuf>,
    /// How it is shown.
    pub view: View,
    /// Lines shown first.
    pub opening: Vec<String>,
}

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Events as JSON lines on stdout.
    pub json: bool,
    /// Nothing but errors.
    pub quiet: bool,
}

/// What is done with a run that is over and has been let go of: its folder, and how it ended.
pub type Afterwards = fn(&Path, &Result<Exit, Failure>);

/// Carries a run to its end, or to what stops it. Others may take it from then on, whether or not its last lines
/// have been read.
///
/// # Errors
/// What stopped it, with the exit code.
pub fn drive(start: Start, afterwards: Afterwards) -> Result<Exit, Failure> {
    with_runtime(async {
        let around = Around::new(start.view, &[&start.frozen.config])?;
        let ended = supervise(&start, &around, &around.terminal.only_run()).await;
        let folder = start.folder.clone();
        drop(start);
        afterwards(&folder, &ended);
        around.finish();
        ended
    })
}

/// What a run finds when it begins.
struct Around {
    terminal: Terminal,
    json: Option<JsonLines>,
    signals: signals::Signals,
    shared: Shared,
}

impl Around {
    /// For runs with these configurations; needs a runtime.
    fn new(view: View, configs: &[&Config]) -> Result<Self, Failure> {
        let terminal = Terminal::new(view.show(), Look::of(&process_environment));
        let json = view.json.then(JsonLines::new);
        let signals = signals::listen().map_err(|error| {
            Failure::failed(Trouble::new(format!("cannot listen for signals: {error}"), "try again"))
        })?;
        Ok(Self { terminal, json, signals, shared: Shared::new(configs) })
    }

    /// Waits until all is printed that there is to print.
    fn finish(&self) {
        if let Some(json) = &self.json {
            json.finish();
        }
        self.terminal.finish();
    }
}

fn with_runtime<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Failure::failed(Trouble::new(format!("cannot start: {error}"), "free some memory or processes"))
    })?;
    let done = runtime.block_on(work);
    // Whatever still runs in the background belongs to a run that is over.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// One run from its first line to its last.
async fn supervise(start: &Start, around: &Around, run: &OfRun<'_>) -> Result<Exit, Failure> {
    let outline = outline(start)?;
    let config = &start.frozen.config;
    let logs = start.folder.join("logs");
    let own_log = logs.join("mle-star.log");
    let paths: Vec<&Path> = std::iter::once(own_log.as_path()).chain(config.log_file.as_deref()).collect();
    let (log, mut notes) = Log::open(&paths, &config.log_level);
    let (recorder, note) = Recorder::open(&logs.join("events.jsonl"));
    notes.extend(note);
    let mut all: Vec<&dyn Watch> = vec![run, &log, &recorder];
    all.extend(around.json.as_ref().map(|json| json as &dyn Watch));
    let events = Watchers { run_id: start.frozen.run_id.clone(), all };
    events.emit(Event::RunStarted(Box::new(outline)));
    let say = |text: &str| match text {
        // Air, for the eye.
        "" => run.line(""),
        _ => events.emit(Event::Said { text: text.to_owned() }),
    };
    start.opening.iter().chain(&notes).for_each(|line| say(line));
    let ended = perform(start, around, &log, &events, &say).await;
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

/// What the run is about to do, and what earlier processes did for it.
fn outline(start: &Start) -> Result<Outline, Failure> {
    let effects = start.journal.ledger();
    let effects = effects.map_err(|error| Failure::failed(Trouble::new(error.to_string(), error.hint())))?;
    let spent = spending(&effects).total().usage;
    Ok(Outline::new(&start.frozen, !effects.is_empty(), start.journal.elapsed(), spent))
}

async fn perform(
    start: &Start,
    around: &Around,
    log: &Log,
    events: &dyn EventSink,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Exit, Failure> {
    let signals = &around.signals;
    let backends = tokio::select! {
        backends = Backends::make(start, &around.shared, say) => backends?,
        () = signals.heard() => return Err(interrupted(start, signals)),
    };
    note_versions(start, &backends.environment, say)?;
    let agents = answering(start, &backends.data_dir)?;
    let reporting = Reporting::begin(&start.folder);
    let outside = Outside {
        agents: &Asked { agents: agents.as_ref(), log },
        scripts: &backends.scripts,
        events: &reporting.beside(events),
        cancel: signals.cancel(),
        environment: &backends.environment_text,
        script_slots: &backends.slots,
        agent_slots: around.shared.agent_slots(),
    };
    let finished = pipeline::run(&start.frozen, &start.prompts, &start.journal, outside).await;
    // Their folder goes with them.
    drop(agents);
    reporting.end().await.iter().for_each(|note| say(note));
    let finished = match finished {
        Ok(finished) => finished,
        Err(stop) => {
            reporting::leave(&start.folder).await.iter().for_each(|note| say(note));
            cost_so_far(start).iter().for_each(|line| say(line));
            return Err(failure(start, stop, signals));
        }
    };
    let (exit, lines) = finish::finish(start, &backends, finished).await.map_err(Failure::failed)?;
    for line in lines {
        say(&line);
    }
    Ok(exit)
}

/// Keeps with the run what it is made with; `say` hears when that is not what it was made with before.
fn note_versions(
    start: &Start,
    environment: &Environment,
    say: &(dyn Fn(&str) + Sync),
) -> Result<(), Failure> {
    let now = MadeWith {
        at: jiff::Timestamp::now().to_string(),
        mle_star: env!("CARGO_PKG_VERSION").to_owned(),
        python: environment.version.clone(),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        claude: match &start.chosen {
            Chosen::Claude(claude) => Some(claude.executable.version.to_string()),
            Chosen::Offline => None,
        },
        resumed: false,
    };
    let line = format!("goes on with {now}");
    let before = start.journal.note_made_with(now);
    let before = before.map_err(|error| Failure::failed(Trouble::new(error.to_string(), error.hint())))?;
    before.iter().for_each(|before| say(&format!("note: the run was made with {before}; it {line}")));
    Ok(())
}

/// What a run that ends here has cost; nothing where the journal cannot tell any more.
fn cost_so_far(start: &Start) -> Option<String> {
    let effects = start.journal.ledger().ok()?;
    let spending = bill::billed(spending(&effects), start.frozen.config.agents);
    bill::line(&spending).map(|line| format!("cost so far: {line}"))
}

/// Who answers, ready to be asked.
fn answering(start: &Start, data_dir: &Path) -> Result<Box<dyn AgentBackend>, Failure> {
    match (&start.chosen, &start.rules) {
        (Chosen::Claude(claude), _) => {
            let folder = start.folder.join("work/agents");
            let at = Workplace { run_id: &start.frozen.run_id, folder: &folder, data_dir };
            let agents = ask_claude(claude, &start.frozen.config, &start.frozen.prompts, at)
                .map_err(Failure::failed)?;
            Ok(Box::new(agents))
        }
        (Chosen::Offline, Some(rules)) => Ok(Box::new(rules.clone())),
        (Chosen::Offline, None) => {
            let trouble = Trouble::new("there are no rules for this run", "please report this");
            Err(Failure::failed(trouble))
        }
    }
}

/// What ended the run, with its exit code and what to do next.
fn failure(start: &Start, stop: Stop, signals: &signals::Signals) -> Failure {
    let resume = format!("go on with: {}", resume_command(&start.folder));
    match stop {
        Stop::Interrupted => interrupted(start, signals),
        Stop::Journal(error) => Failure::failed(Trouble::new(error.to_string(), error.hint())),
        Stop::Outside(Trouble { message, hint })
        | Stop::Agents { trouble: Trouble { message, hint }, .. } => {
            let hint =
                hint.replace("resume the run", &format!("go on with: {}", resume_command(&start.folder)));
            Failure::failed(Trouble { message, hint })
        }
        Stop::NoSolution(why) => Failure::failed(Trouble::new(why, format!("see {}", log_hint(start)))),
        Stop::Limit(limit) => Failure {
            exit: Exit::LimitReached,
            trouble: Trouble::new(
                Stop::Limit(limit).to_string(),
                format!("give more with --time-limit or --max-budget-usd: {}", resume_command(&start.folder)),
            ),
        },
        bug @ Stop::Bug { .. } => Failure::failed(Trouble::new(
            bug.to_string(),
            format!("this is a defect of mle-star, please report it; {resume}"),
        )),
    }
}

fn interrupted(start: &Start, signals: &signals::Signals) -> Failure {
    let after = duration(start.journal.elapsed());
    let message = format!("interrupted after {after}");
    Failure {
        exit: signals.exit(),
        trouble: Trouble::new(message, format!("go on with: {}", resume_command(&start.folder))),
    }
}

/// What to type to go on with the run in a folder.
pub fn resume_command(folder: &Path) -> String {
    let is_default = folder.parent() == Some(Path::new(crate::runs::DEFAULT_DIR));
    let name = folder.file_name().filter(|_| is_default);
    let run = name.map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned());
    format!("mle-star resume {run}")
}

fn log_hint(start: &Start) -> String {
    start.folder.join("logs").display().to_string()
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
