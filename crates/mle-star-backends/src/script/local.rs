//! Runs scripts on this machine.
//!
//! Each script is a new Python process in a new folder, under a supervisor that ends everything it started. It is
//! started cold, or forked by its slot's worker (see [`mle_star_process::warm`]). Three things are kept: the script, its
//! output up to a cap, and the submission it wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mle_star::effects::{
    Captured, CombinationRequest, Look, LookRequest, OutOfMemory, ScriptEnd, ScriptOutcome, ScriptRequest,
    ScriptRunner, Selection, SelectionRequest,
};
use mle_star::layout;
use mle_star::score::ScoreScanner;
use mle_star::stop::{Stop, Trouble};
use mle_star_process::enforce::{self, End, Finished, Limits};
use mle_star_process::machine::Machine;
use mle_star_process::memory::{self, KernelKills};
use mle_star_process::open_files::times_lowered;
use mle_star_process::sandbox::{Isolation, Sandbox};
use mle_star_process::short_links::ShortLinks;
use mle_star_process::stream::{Excerpt, Stream};
use mle_star_process::warm::{Warm, WarmStart, Worker, remove_left};
use mle_star_process::{Error, Resource, disk};
use nix::errno::Errno;
use tokio::task::spawn_blocking;

use super::environment::Environment;
use super::evaluation::{Evaluation, EvaluationSetup};
use super::out_of_memory::{last_error, out_of_memory};
use super::refusals::explanation;
use super::traceback::TracebackScanner;
use super::workplace::Workplace;
use seen::Seen;
use start::Started;

mod combine;
mod finish;
mod seen;
mod start;

/// The settings of a [`LocalRunner`].
#[derive(Clone, Debug)]
pub struct LocalSetup {
    /// The run's folder, which receives scripts, output, submissions and, while scripts run, their folders.
    pub run_folder: PathBuf,
    /// The data, which scripts see as `./input`.
    pub data_dir: PathBuf,
    /// The interpreter.
    pub environment: Environment,
    /// The machine that the slots share.
    pub machine: Machine,
    /// How many scripts run at once.
    pub slots: usize,
    /// The sample that submissions are compared with.
    pub sample_submission: Option<PathBuf>,
    /// The column with row IDs; `None`: the sample's first column.
    pub id_column: Option<String>,
    /// Memory limit of one script with everything it starts, in MiB; `None`: 90 % of the machine.
    pub memory_limit_mib: Option<u64>,
    /// How scripts are isolated.
    pub isolation: Isolation,
    /// How scripts are started warm; `None`: all start cold.
    pub warm_start: Option<WarmStart>,
    /// How the program computes scores itself; `None`: it does not.
    pub evaluation: Option<EvaluationSetup>,
}

/// Runs scripts as processes of this machine.
#[derive(Clone, Debug)]
pub struct LocalRunner {
    setup: Arc<LocalSetup>,
    /// What scripts of the search see.
    search: Arc<Seen>,
    /// What the submission script sees last, if rows are held out.
    whole: Option<Arc<Seen>>,
    /// What the comparison of tables sees, if rows are held out.
    compared: Option<Arc<Seen>>,
    evaluation: Option<Arc<Evaluation>>,
    /// The folders of which scripts see only what they are given.
    closed: Arc<[PathBuf]>,
    sandbox: Arc<Sandbox>,
    links: Arc<ShortLinks>,
    warm: Option<Arc<Warm>>,
}

impl LocalRunner {
    /// A runner for one run. Records size and time of every data file, to notice changes later.
    ///
    /// # Errors
    /// The data folder cannot be read, or the run's folder cannot be created.
    pub fn new(setup: LocalSetup) -> Result<Self, Trouble> {
        for name in [layout::LOGS, layout::SOLUTIONS, layout::SUBMISSIONS, layout::VALIDATION, layout::WORK] {
            let folder = setup.run_folder.join(name);
            fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        }
        let absolute = |path: &Path| path.canonicalize().map_err(|error| Trouble::io("read", path, &error));
        let (run_folder, data_dir) = (absolute(&setup.run_folder)?, absolute(&setup.data_dir)?);
        remove_left(&run_folder.join(layout::WORK));
        let rows = setup.evaluation.as_ref().and_then(|evaluation| evaluation.holdout.as_ref());
        rows.map(|_| seen::create_predictions(&run_folder)).transpose()?;
        let closed = seen::closed(&run_folder, rows)?;
        let (environment, isolation) = (&setup.environment, setup.isolation.clone());
        let removed = environment.removed_variables();
        let sandbox = Sandbox::new(isolation, &environment.python, removed, &setup.machine);
        let sandbox = Arc::new(sandbox.without(&closed));
        let search = Arc::new(Seen::of_search(&setup, &closed, &sandbox)?);
        let whole = rows.map(|rows| Seen::of_submission(rows, &closed, &sandbox)).transpose()?.map(Arc::new);
        let compared = rows.map(|rows| Seen::of_comparison(rows, &closed, &sandbox));
        let compared = compared.transpose()?.map(Arc::new);
        let evaluation = setup.evaluation.clone().map(|setup| Arc::new(Evaluation::new(setup)));
        let start = setup.warm_start.as_ref().filter(|_| cfg!(target_os = "linux"));
        let warm = start.map(|start| Arc::new(Warm::new(&start.modules)));
        let links = Arc::new(ShortLinks::new(std::env::temp_dir()));
        let setup = Arc::new(LocalSetup { run_folder, data_dir, ..setup });
        let closed = closed.into();
        Ok(Self { setup, search, whole, compared, evaluation, closed, sandbox, links, warm })
    }

    /// The submission that `script` wrote when it ran at the place with the file stem `stem`; `None` if it wrote none.
    pub fn submission(&self, stem: &str, script: &str) -> Option<PathBuf> {
        Some(self.kept_submission(stem, script)).filter(|file| file.exists())
    }

    /// The name contains the script's digest: if a run is resumed with a larger limit, another script may run at the
    /// same place.
    fn kept_submission(&self, stem: &str, script: &str) -> PathBuf {
        let digest = blake3::hash(script.as_bytes()).to_hex();
        self.setup.run_folder.join(layout::SUBMISSIONS).join(format!("{stem}.{}.csv", &digest[..8]))
    }

    /// The predictions behind a script's score.
    fn kept_validation(&self, stem: &str, script: &str) -> PathBuf {
        let submission = self.kept_submission(stem, script);
        self.setup.run_folder.join(layout::VALIDATION).join(submission.file_name().unwrap_or_default())
    }

    /// The scores of the classes behind the predictions of a script.
    fn kept_class_scores(&self, stem: &str, script: &str) -> [PathBuf; 2] {
        let file = self.kept_validation(stem, script);
        [layout::VALIDATION_CLASS_SCORES, layout::SUBMISSION_CLASS_SCORES]
            .map(|name| file.with_extension(name))
    }

    /// A submission with predictions for held-out rows.
    fn kept_predictions(&self, stem: &str, script: &str) -> PathBuf {
        let submission = self.kept_submission(stem, script);
        let folder = self.setup.run_folder.join(layout::HOLDOUT).join(layout::PREDICTIONS);
        folder.join(submission.file_name().unwrap_or_default())
    }

    async fn prepare(&self, request: &ScriptRequest, seen: Arc<Seen>) -> Result<Workplace, Trouble> {
        let (setup, links) = (Arc::clone(&self.setup), Arc::clone(&self.links));
        let (stem, script) = (request.place.file_stem(), request.script.clone());
        let kept = [Self::kept_submission, Self::kept_predictions, Self::kept_validation];
        let stale = kept.map(|kept| kept(self, &stem, &script));
        let stale = stale.into_iter().chain(self.kept_class_scores(&stem, &script));
        let work = move || {
            let saved = setup.run_folder.join(layout::SOLUTIONS).join(format!("{stem}.py"));
            fs::write(&saved, &script).map_err(|error| Trouble::io("write", &saved, &error))?;
            let folder = setup.run_folder.join(layout::WORK).join(&stem);
            stale.for_each(|file| drop(fs::remove_file(file)));
            Workplace::new(folder.clone(), &script, (&seen.data, seen.protection), &links)
                .map_err(|error| Trouble::io("create", &folder, &error))
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
        let times_lowered = times_lowered().map_err(|error| self.trouble(error))?;
        Ok(Limits { time, memory, disk, folder, times_lowered, stall: None })
    }

    /// Runs the script once.
    async fn attempt(
        &self,
        request: &ScriptRequest,
        time: Duration,
        worker: Option<Worker>,
    ) -> Result<Attempt, Stop> {
        let stem = request.place.file_stem();
        let seen = self.seen_by(request).await?;
        let workplace = self.prepare(request, Arc::clone(&seen)).await?;
        let log = |kind| self.setup.run_folder.join(layout::LOGS).join(format!("{stem}.{kind}"));
        let (mut scores, mut tracebacks) = (ScoreScanner::default(), TracebackScanner::default());
        let mut stdout = Stream::new(log("stdout"), |piece: &[u8]| scores.feed(piece));
        let mut stderr = Stream::new(log("stderr"), |piece: &[u8]| tracebacks.feed(piece));
        let (began, kills) = (Instant::now(), KernelKills::so_far());
        let mut limits = self.limits(time, &workplace)?;
        let (group, no_group) = self.sandbox.group(limits.memory.memory_mib);
        let started =
            self.start(request.slot, &workplace, limits.disk.disk_mib, group.as_ref(), worker).await;
        let Started { mut tree, streams, busy } =
            started.map_err(|error| self.trouble(Error::Process(error)))?;
        limits.stall = self.setup.warm_start.as_ref().filter(|_| busy.is_some()).map(|warm| warm.stall);
        let ran = enforce::run(&mut tree, streams, &limits, group.as_ref(), (&mut stdout, &mut stderr)).await;
        let Finished { end, mut notes, exceeded, peak_memory_mib, spoiled } =
            ran.map_err(|error| self.trouble(error))?;
        let spoiled = self.settle(request.slot, busy, tree, spoiled);
        let duration_seconds = began.elapsed().as_secs_f64();
        let (cut, end) = ([stdout.cut("stdout"), stderr.cut("stderr")], script_end(end));
        let (stdout, stderr) = (captured(stdout.excerpt()), captured(stderr.excerpt()));
        let traceback = tracebacks.traceback();
        let refusal = explanation(&self.sandbox, &end, traceback.as_deref(), workplace.folder());
        let kept = self.finish(request, (workplace, seen), scores.printed()).await?;
        notes.extend(no_group.into_iter().chain(cut.into_iter().flatten()).chain(refusal).chain(kept.notes));
        let outcome = ScriptOutcome {
            end,
            duration_seconds,
            stdout,
            stderr,
            score: scores.score(),
            traceback,
            submission: kept.submission,
            notes,
            out_of_memory: (exceeded == Some(Resource::Memory)).then_some(OutOfMemory::Limit),
            measured: kept.verified.measured,
            mismatch: kept.verified.mismatch,
            chance: kept.chance,
            peak_memory_mib,
        };
        if let Some(left) = kept.disk_left.filter(|_| lacked_room(&outcome, exceeded)) {
            return Err(Stop::Outside(self.disk_is_full(&left)));
        }
        let outcome = ScriptOutcome { out_of_memory: out_of_memory(&outcome, &kills), ..outcome };
        Ok(Attempt { outcome, spoiled })
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

    fn disk_is_full(&self, left: &str) -> Trouble {
        let folder = self.setup.run_folder.display();
        Trouble::resumable(
            format!("the disk of {folder} is full: a script could not write its files, {left} left"),
            "free disk space",
        )
    }
}

/// The result of running a script once.
struct Attempt {
    outcome: ScriptOutcome,
    /// Why it has to be run again, cold.
    spoiled: Option<String>,
}

#[async_trait]
impl ScriptRunner for LocalRunner {
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop> {
        let worker = self.worker(request).await;
        let began = Instant::now();
        let mut attempt = self.attempt(request, request.timeout, worker).await?;
        if let Some((why, warm)) = attempt.spoiled.zip(self.warm.as_ref()) {
            warm.failed(&why);
            let left = request.timeout.saturating_sub(began.elapsed());
            attempt = self.attempt(request, left, None).await?;
        }
        let mut outcome = attempt.outcome;
        // A failed script's text goes to the agent that repairs it, and must not depend on whether a worker was ready.
        if let Some(warm) = self.warm.as_ref().filter(|_| !outcome.is_error()) {
            outcome.notes.extend(warm.note());
        }
        Ok(outcome)
    }

    async fn look(&self, request: &LookRequest) -> Result<Look, Stop> {
        let submission = self.kept_predictions(&request.run.file_stem(), &request.script);
        let (evaluation, part) = (self.evaluation.clone(), request.part);
        let work = move || match evaluation {
            Some(evaluation) => evaluation.look(&submission, part),
            None => Err("the program cannot compute the metric".to_owned()),
        };
        Ok(match in_background(work).await? {
            Ok(measured) => Look { measured: Some(measured), failure: String::new() },
            Err(failure) => Look { measured: None, failure },
        })
    }

    async fn select(&self, request: &SelectionRequest) -> Result<Selection, Stop> {
        Ok(self.select_weights(request).await?)
    }

    async fn combine(&self, request: &CombinationRequest) -> Result<ScriptOutcome, Stop> {
        Ok(self.combine_predictions(request).await?)
    }
}

/// Did the script fail because the disk is full? Exceeding its own limits gives other errors.
fn lacked_room(outcome: &ScriptOutcome, exceeded: Option<Resource>) -> bool {
    let has_no_space = || last_error(outcome).contains("No space left on device");
    exceeded == Some(Resource::Disk) || outcome.is_error() && has_no_space()
}

fn script_end(end: End) -> ScriptEnd {
    match end {
        End::Exited { code } => ScriptEnd::Exited { code },
        End::Signalled { signal } => ScriptEnd::Signalled { signal },
        End::TimedOut => ScriptEnd::TimedOut,
    }
}

fn captured(Excerpt { head, tail, bytes }: Excerpt) -> Captured {
    Captured { head, tail, bytes }
}

/// Runs blocking file work on another thread.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
    spawn_blocking(work).await.map_err(|error| {
        Trouble::new(
            format!("a background task failed: {error}"),
            "this is a defect of mle-star, please report it",
        )
    })
}
