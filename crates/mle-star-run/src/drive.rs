//! Executes a run: connects journal, backends, algorithms and observers.
//!
//! `backends` makes the backends of scripts, `results` writes the results, `provisional` keeps the answer so far.

mod backends;
pub(crate) mod delivery;
mod dependence;
mod held_out;
mod model;
mod provisional;
mod results;

use std::path::Path;
use std::sync::OnceLock;

use futures_util::future::BoxFuture;
use mle_star::backend::AgentBackend;
use mle_star::ctx::Outside;
use mle_star::event::{Event, EventSink};
use mle_star::journal::{self, MadeWith};
use mle_star::pipeline;
use mle_star::result::FinalResult;
use mle_star::slots::Slots;
use mle_star::stop::Stop;
use mle_star_backends::file_agents::FileAgents;
use mle_star_backends::runners::fleet::Fleet;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::error::{ErrorKind, RunError};
use crate::observer::{ObservedAgents, Observer};
use crate::open_run::OpenRun;
use crate::provider::{Provider, Workplace, ask_claude, ask_codex, ask_openai};
use crate::runs::absolute;
use crate::runtime::drive_with_threads;
use crate::version::VERSION;
use backends::Backends;
use mle_star_report::figures::duration;
use mle_star_report::run_view::so_far;
use mle_star_report::words::Models;

/// The runners of a run. They may end later than the run, so that its last lines do not wait for them.
#[derive(Debug, Default)]
pub struct Runners(OnceLock<Fleet>);

impl Runners {
    /// Ends them.
    pub async fn end(&self) {
        if let Some(fleet) = self.0.get() {
            fleet.end().await;
        }
    }
}

/// Drives one run until it ends, on threads of its own. Must not be called from asynchronous code, which uses
/// [`drive_with`].
///
/// # Errors
/// What stopped the run.
pub fn drive(run: &OpenRun, observer: &dyn Observer) -> Result<FinalResult, RunError> {
    drive_with_threads(async {
        let (runners, never) = (Runners::default(), watch::channel(false).1);
        let ended = drive_with(run, &runners, observer, &never).await;
        runners.end().await;
        ended
    })
}

/// Drives one run until it ends or `cancel` becomes true. Its runners stay until the caller ends them.
///
/// The future is on the heap, so that it is compiled here, and not again in each crate that waits for it.
///
/// # Errors
/// What stopped the run.
pub fn drive_with<'run>(
    run: &'run OpenRun,
    runners: &'run Runners,
    observer: &'run dyn Observer,
    cancel: &'run watch::Receiver<bool>,
) -> BoxFuture<'run, Result<FinalResult, RunError>> {
    Box::pin(drive_run(run, runners, observer, cancel))
}

async fn drive_run(
    run: &OpenRun,
    runners: &Runners,
    observer: &dyn Observer,
    cancel: &watch::Receiver<bool>,
) -> Result<FinalResult, RunError> {
    observer.emit(Event::RunStarted(Box::new(run.outline()?)));
    let say = |text: &str| observer.emit(Event::said(text));
    run.opening.iter().for_each(|message| observer.emit(message.clone()));
    let emit = |message| observer.emit(message);
    let backends = tokio::select! {
        backends = Backends::make(run, runners, &emit) => backends?,
        () = cancelled(cancel) => return Err(interrupted(run)),
    };
    note_versions(run, &backends, &say)?;
    let agents = make_agents(run, &backends.data_dir, &say).map_err(RunError::failed)?;
    let events = provisional::AnswerWriter::start(run, &backends, observer);
    let outside = Outside {
        agents: &ObservedAgents { agents: agents.as_ref(), observer },
        scripts: &backends.scripts,
        events: &events,
        cancel,
        environment: &backends.environment_text,
        script_slots: &backends.slots,
        agent_slots: &Slots::new(run.frozen.config.max_concurrent_agents as usize),
    };
    let finished = tokio::select! {
        finished = pipeline::run(&run.frozen, &run.prompts, &run.journal, outside) => finished,
        trouble = no_machine_left(backends.fleet.as_ref(), &events) => Err(Stop::Outside(trouble)),
    };
    events.end().await.iter().for_each(|note| say(note));
    // Removes their folder.
    drop(agents);
    match finished {
        Ok(finished) => {
            let written = results::write(run, &backends, finished, observer, cancel).await;
            let (result, notes) = written.map_err(RunError::failed)?;
            notes.iter().for_each(|note| say(note));
            Ok(result)
        }
        Err(stop) => {
            results::keep_summary(&run.folder);
            observer.stopped(&run.folder).await.iter().for_each(|note| say(note));
            let tried =
                journal::read(&run.folder).map(|read| Models::of(&read.verdicts())).unwrap_or_default();
            so_far(&run.folder).iter().for_each(|so_far| say(&so_far.words(&tried)));
            provisional::unanswered(run).iter().for_each(|note| say(note));
            run.cost_so_far().iter().for_each(|line| say(line));
            Err(error(run, stop))
        }
    }
}

/// Waits until `cancel` becomes true.
async fn cancelled(cancel: &watch::Receiver<bool>) {
    let mut cancel = cancel.clone();
    if cancel.wait_for(|wanted| *wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Reports what runners do, until no script can run anywhere.
async fn no_machine_left(fleet: Option<&Fleet>, events: &dyn EventSink) -> Trouble {
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
fn note_versions(run: &OpenRun, backends: &Backends, say: &(dyn Fn(&str) + Sync)) -> Result<(), RunError> {
    let (claude, codex) = match &run.chosen {
        Provider::Claude(claude) => (Some(claude.executable.version.to_string()), None),
        Provider::Codex(codex) => (None, Some(codex.executable.version.to_string())),
        Provider::Offline | Provider::Files | Provider::OpenAi(_) => (None, None),
    };
    let now = MadeWith {
        at: jiff::Timestamp::now().to_string(),
        mle_star: VERSION.to_owned(),
        python: backends.environment.version.clone(),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        claude,
        codex,
        kept_from: backends.kept_from,
        resumed: false,
    };
    let versions = now.to_string();
    let before = run.journal.note_made_with(now).map_err(|error| RunError::journal(&error))?;
    match before.map(|before| before.to_string()) {
        Some(before) if before == versions => say("note: scripts are isolated in another way than before"),
        Some(before) => say(&format!("note: the run used {before}; it continues with {versions}")),
        None => {}
    }
    Ok(())
}

/// Makes the agents that were chosen.
fn make_agents(
    run: &OpenRun,
    data_dir: &Path,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Box<dyn AgentBackend>, Trouble> {
    let (config, folder) = (&run.frozen.config, run.folder.join(layout::WORK).join(layout::AGENTS));
    Ok(match &run.chosen {
        Provider::Claude(claude) => {
            let at = Workplace { run_id: &run.frozen.run_id, folder: &folder, data_dir };
            Box::new(ask_claude(claude, config, &run.frozen.prompts, at)?)
        }
        Provider::Files => Box::new(through_files(run, data_dir, say)?),
        Provider::OpenAi(endpoint) => Box::new(ask_openai(endpoint, config)?),
        Provider::Codex(codex) => Box::new(ask_codex(codex, config, &folder)?),
        Provider::Offline => {
            let hint = "this is a bug in mle-star, please report it";
            let missing = || Trouble::new("the offline agents were not made", hint);
            Box::new(run.rules.clone().ok_or_else(missing)?)
        }
    })
}

/// Agents that are asked through files; says where and how.
fn through_files(run: &OpenRun, data_dir: &Path, say: &(dyn Fn(&str) + Sync)) -> Result<FileAgents, Trouble> {
    let own = || absolute(&run.folder.join(layout::AGENTS));
    let folder = run.frozen.config.agents_dir.clone().map_or_else(own, Ok)?;
    let agents = FileAgents::new(&folder, &run.frozen.run_id, data_dir)?;
    say(&format!("waiting for answers in {}", folder.display()));
    say("  to answer NNN-PLACE/prompt.md: write a file, and move it to reply.txt beside it");
    Ok(agents)
}

/// The error for what stopped the run.
fn error(run: &OpenRun, stop: Stop) -> RunError {
    match stop {
        Stop::Interrupted => interrupted(run),
        Stop::Journal(error) => RunError::journal(&error),
        Stop::Outside(trouble) => RunError::failed(trouble),
        Stop::Agents { trouble, .. } => RunError::failed(*trouble),
        Stop::NoSolution(why) => {
            let logs = run.folder.join(layout::LOGS);
            RunError::failed(Trouble::new(why, format!("see {}", logs.display())))
        }
        Stop::Limit(_) => {
            let more = "give it more with --time-limit or --max-budget-usd";
            RunError { kind: ErrorKind::LimitReached, trouble: Trouble::resumable(stop.to_string(), more) }
        }
        Stop::Bug { .. } | Stop::Fenced(_) => {
            let report = "this is a bug in mle-star, please report it";
            RunError::failed(Trouble::resumable(stop.to_string(), report))
        }
    }
}

fn interrupted(run: &OpenRun) -> RunError {
    let message = format!("interrupted after {}", duration(run.journal.elapsed()));
    RunError { kind: ErrorKind::Interrupted, trouble: Trouble::resumable(message, "") }
}
