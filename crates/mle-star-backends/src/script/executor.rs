//! Runs scripts as processes of this machine.
//!
//! Each script is a new Python process in a new folder, under a supervisor that ends everything it started. It is
//! started cold, or forked by its slot's worker (see [`mle_star_process::warm`]). What it wrote stays in its
//! [`Workplace`] until that is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::BoxFuture;
use mle_star_domain::effects::{Captured, OutOfMemory, ScriptEnd, ScriptOutcome};
use mle_star_domain::layout;
use mle_star_domain::score::{Printed, ScoreScanner};
use mle_star_domain::trouble::Trouble;
use mle_star_process::enforce::{self, ChildEnd, End, Limits};
use mle_star_process::machine::Machine;
use mle_star_process::memory::{self, KernelKills};
use mle_star_process::open_file_limit::restore_limit;
use mle_star_process::remove::remove_tree;
use mle_star_process::sandbox::{Isolation, Sandbox};
use mle_star_process::short_links::ShortLinks;
use mle_star_process::stream::{Excerpt, Stream};
use mle_star_process::warm::{WarmStart, WarmWorkers, Worker, remove_left};
use mle_star_process::{Error, Resource, disk};
use mle_star_tables::input::{Data, Protection};
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::environment::Environment;
use super::in_background;
use out_of_memory::{last_error, out_of_memory};
use refusals::explanation;
use start::StartedScript;
use traceback::TracebackScanner;
pub use workplace::Workplace;

mod out_of_memory;
mod refusals;
mod start;
mod traceback;
mod workplace;

/// How long after a line was printed it is read here, at most, even if the cores are busy.
const MAX_LAG: Duration = Duration::from_millis(500);

/// The settings of an [`Executor`].
#[derive(Clone, Debug)]
pub struct ExecutorSetup {
    /// The folder that receives output and, while scripts run, their folders.
    pub folder: PathBuf,
    /// The interpreter.
    pub environment: Environment,
    /// The machine that the slots share.
    pub machine: Machine,
    /// How many scripts run at once.
    pub slots: usize,
    /// Memory limit of one script with everything it starts, in MiB; `None`: 90 % of the machine.
    pub memory_limit_mib: Option<u64>,
    /// How scripts are isolated.
    pub isolation: Isolation,
    /// How scripts are started warm; `None`: all start cold.
    pub warm_start: Option<WarmStart>,
}

impl ExecutorSetup {
    /// The settings to run one script at a time, outside a run.
    pub fn single(folder: PathBuf, environment: Environment, machine: Machine, isolation: Isolation) -> Self {
        Self { folder, environment, machine, slots: 1, memory_limit_mib: None, isolation, warm_start: None }
    }
}

/// Runs the scripts of one run on this machine.
#[derive(Debug)]
pub struct Executor {
    setup: ExecutorSetup,
    sandbox: Sandbox,
    links: Arc<ShortLinks>,
    warm: Option<WarmWorkers>,
}

/// A script to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The stem of the files that it leaves.
    pub stem: String,
    /// The whole script.
    pub script: String,
    /// Wall-clock limit.
    pub timeout: Duration,
    /// The number of its slot on this machine, from 0.
    pub slot: usize,
    /// Whether it may be forked by a worker.
    pub may_be_warm: bool,
    /// Python modules that it finds before all others: names of files with their texts.
    pub modules: Vec<(String, String)>,
    /// Whether it may keep its fitted model: it finds a folder for that.
    pub keeps_model: bool,
    /// Counts the pieces of its output that are in its logs.
    pub heard: Option<watch::Sender<u64>>,
}

/// The data that a script sees, and what protects it.
#[derive(Debug)]
pub struct Input {
    /// The data.
    pub data: Data,
    /// What keeps the script from changing it.
    pub protection: Protection,
}

/// How a script ended. Its files are not looked at yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Its outcome, without what its files say.
    pub outcome: ScriptOutcome,
    /// The number in its last score line.
    pub printed: Option<Printed>,
    /// Whether it failed because the disk was full, or used more of it than it may.
    pub lacked_room: bool,
}

/// The result of running a script once.
struct Attempt {
    executed: Execution,
    workplace: Workplace,
    /// Why it has to be run again, cold.
    worker_fault: Option<String>,
}

impl Executor {
    /// For scripts that cannot read the `closed` folders, except for what they are given of them.
    ///
    /// # Errors
    /// The folders cannot be created.
    pub fn new(setup: ExecutorSetup, closed: &[PathBuf]) -> Result<Self, Trouble> {
        for name in [layout::LOGS, layout::WORK] {
            let folder = setup.folder.join(name);
            fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        }
        let cannot = |error| Trouble::io("read", &setup.folder, &error);
        let folder = setup.folder.canonicalize().map_err(cannot)?;
        remove_left(&folder.join(layout::WORK));
        let (environment, isolation) = (&setup.environment, setup.isolation.clone());
        let removed = environment.removed_variables();
        let sandbox = Sandbox::new(isolation, &environment.python, removed, &setup.machine).without(closed);
        let warm = setup.warm_start.as_ref().map(|start| WarmWorkers::new(&start.modules));
        let links = Arc::new(ShortLinks::new(std::env::temp_dir()));
        Ok(Self { setup: ExecutorSetup { folder, ..setup }, sandbox, links, warm })
    }

    /// A data folder as scripts see it.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn prepare_input(&self, data_dir: &Path, closed: &[PathBuf]) -> Result<Input, Trouble> {
        let cannot = |error| Trouble::io("read", data_dir, &error);
        let data = Data::new(data_dir.canonicalize().map_err(cannot)?, closed).map_err(cannot)?;
        let is_kept = data.targets().all(|target| self.sandbox.keeps(target));
        let protection = if is_kept { Protection::ReadOnly } else { Protection::Modes };
        Ok(Input { data, protection })
    }

    /// Where the output of a script is kept.
    pub fn log(&self, stem: &str, stream: &str) -> PathBuf {
        self.setup.folder.join(layout::LOGS).join(format!("{stem}.{stream}"))
    }

    /// Runs a script to its end or its deadline.
    ///
    /// # Errors
    /// Scripts cannot be run here.
    pub fn execute<'run>(
        &'run self,
        job: &'run Job,
        shown: Arc<Input>,
    ) -> BoxFuture<'run, Result<(Execution, Workplace), Trouble>> {
        // On the heap, so that it is compiled here, and not again in each crate that waits for it.
        Box::pin(self.with_cold_retry(job, shown))
    }

    async fn with_cold_retry(&self, job: &Job, shown: Arc<Input>) -> Result<(Execution, Workplace), Trouble> {
        let worker = self.worker(job).await;
        let began = Instant::now();
        let mut attempt = self.attempt(job, job.timeout, Arc::clone(&shown), worker).await?;
        if let Some((why, warm)) = attempt.worker_fault.as_ref().zip(self.warm.as_ref()) {
            warm.failed(why);
            let left = job.timeout.saturating_sub(began.elapsed());
            drop(attempt.workplace);
            attempt = self.attempt(job, left, shown, None).await?;
        }
        let Attempt { mut executed, workplace, .. } = attempt;
        // A failed script's text goes to the agent that repairs it, and must not depend on whether a worker was ready.
        if let Some(warm) = self.warm.as_ref().filter(|_| !executed.outcome.is_error()) {
            executed.outcome.notes.extend(warm.note());
        }
        Ok((executed, workplace))
    }

    async fn prepare(&self, job: &Job, shown: Arc<Input>) -> Result<Workplace, Trouble> {
        let (folder, links) = (self.setup.folder.join(layout::WORK).join(&job.stem), Arc::clone(&self.links));
        let (script, modules, keeps_model) = (job.script.clone(), job.modules.clone(), job.keeps_model);
        let work = move || {
            let workplace = Workplace::new(folder.clone(), &script, (&shown.data, shown.protection), &links);
            let made = workplace.and_then(|workplace| workplace.with_modules(&modules));
            let made = made.and_then(|workplace| match keeps_model {
                true => fs::create_dir(workplace.model()).map(|()| workplace),
                false => Ok(workplace),
            });
            made.map_err(|error| Trouble::io("create", &folder, &error))
        };
        in_background(work).await?
    }

    fn limits(&self, time: Duration, workplace: &Workplace) -> Result<Limits, Trouble> {
        let (setup, isolation) = (&self.setup, &self.setup.isolation);
        let folder = workplace.folder().to_owned();
        let disk = disk::Limits::now(&folder, isolation.disk_limit_mib, isolation.files_limit);
        let machine_mib = setup.machine.memory_mib;
        let known_mib = if machine_mib == 0 { u64::MAX } else { machine_mib };
        let memory = memory::Limits {
            memory_mib: setup.memory_limit_mib.unwrap_or(known_mib / 10 * 9),
            share_mib: known_mib / setup.slots.max(1) as u64,
            processes: isolation.processes_limit,
        };
        let times_lowered = restore_limit().map_err(|error| self.trouble(error))?;
        Ok(Limits { time, memory, disk, folder, times_lowered, stall: None })
    }

    /// Runs the script once.
    async fn attempt(
        &self,
        job: &Job,
        time: Duration,
        shown: Arc<Input>,
        worker: Option<Worker>,
    ) -> Result<Attempt, Trouble> {
        let workplace = self.prepare(job, shown).await?;
        let log = |kind| self.log(&job.stem, kind);
        let (mut scores, mut tracebacks) = (ScoreScanner::default(), TracebackScanner::default());
        let mut scored = None;
        let mut stdout = Stream::new(log("stdout"), |piece: &[u8]| {
            let before = scores.printed();
            scores.feed(piece);
            if scores.printed() != before {
                scored = Some(SystemTime::now());
            }
            job.announce();
        });
        let mut stderr = Stream::new(log("stderr"), |piece: &[u8]| {
            tracebacks.feed(piece);
            job.announce();
        });
        let (began, kills) = (Instant::now(), KernelKills::so_far());
        let mut limits = self.limits(time, &workplace)?;
        let (group, no_group) = self.sandbox.group(limits.memory.memory_mib);
        let started = self.start(job, &workplace, limits.disk.disk_mib, group.as_ref(), worker).await;
        let StartedScript { mut tree, streams, busy } =
            started.map_err(|error| self.trouble(Error::Process(error)))?;
        limits.stall = self.setup.warm_start.as_ref().filter(|_| busy.is_some()).map(|warm| warm.stall);
        let ran = enforce::run(&mut tree, streams, &limits, group.as_ref(), (&mut stdout, &mut stderr)).await;
        let ChildEnd { end, mut notes, exceeded, peak_memory_mib, worker_fault } =
            ran.map_err(|error| self.trouble(error))?;
        let worker_fault = self.release_worker(job.slot, busy, tree, worker_fault);
        let duration_seconds = began.elapsed().as_secs_f64();
        let cut = [stdout.cut("stdout"), stderr.cut("stderr")];
        let (stdout, stderr) = (to_captured(stdout.excerpt()), to_captured(stderr.excerpt()));
        let traceback = tracebacks.traceback();
        // What it may have been writing since is its model.
        let answered = |at| workplace.has_answer(at - MAX_LAG) && remove_tree(&workplace.model()).is_ok();
        let end = match end {
            End::Exited { code } => ScriptEnd::Exited { code },
            End::Signalled { signal } => ScriptEnd::Signalled { signal },
            End::TimedOut if scored.is_some_and(answered) => ScriptEnd::Answered,
            End::TimedOut => ScriptEnd::TimedOut,
        };
        let refusal = explanation(&self.sandbox, &end, traceback.as_deref(), workplace.folder());
        notes.extend(no_group.into_iter().chain(cut.into_iter().flatten()).chain(refusal));
        let outcome = ScriptOutcome {
            duration_seconds,
            stdout,
            stderr,
            score: scores.score(),
            traceback,
            notes,
            out_of_memory: (exceeded == Some(Resource::Memory)).then_some(OutOfMemory::Limit),
            peak_memory_mib,
            ..ScriptOutcome::of(end)
        };
        let lacked_room = disk_full(&outcome, exceeded);
        let outcome = ScriptOutcome { out_of_memory: out_of_memory(&outcome, &kills), ..outcome };
        let executed = Execution { outcome, printed: scores.printed(), lacked_room };
        Ok(Attempt { executed, workplace, worker_fault })
    }

    fn trouble(&self, error: Error) -> Trouble {
        match error {
            Error::Output { file, error } => Trouble::io("write", &file, &error),
            Error::OpenFileLimit(_) => Trouble::resumable(error.to_string(), ""),
            Error::Process(error) => {
                let hint = match error.raw_os_error().map(Errno::from_raw) {
                    Some(Errno::EMFILE | Errno::ENFILE) => "allow more open files (`ulimit -n`)",
                    _ => "check that the interpreter exists and that the system allows more processes",
                };
                let python = self.setup.environment.python.display();
                Trouble::resumable(format!("cannot run scripts with {python}: {error}"), hint)
            }
        }
    }
}

impl Job {
    fn announce(&self) {
        if let Some(heard) = &self.heard {
            heard.send_modify(|pieces| *pieces += 1);
        }
    }
}

/// Did the script fail because the disk is full? Exceeding its own limits gives other errors.
fn disk_full(outcome: &ScriptOutcome, exceeded: Option<Resource>) -> bool {
    let has_no_space = || last_error(outcome).contains("No space left on device");
    exceeded == Some(Resource::Disk) || outcome.is_error() && has_no_space()
}

fn to_captured(Excerpt { head, tail, bytes }: Excerpt) -> Captured {
    Captured { head, tail, bytes }
}
