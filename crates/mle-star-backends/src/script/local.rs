//! Runs scripts on this machine.
//!
//! Each script is a fresh Python process in a fresh folder, under a guard that ends everything it started. It is
//! started cold, or forked by its slot's worker (see [`warm`](super::warm)).
//! Kept of a run: the script, its streams up to a cap, and the submission it wrote.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mle_star::effects::{OutOfMemory, ScriptOutcome, ScriptRequest, ScriptRunner, Submission};
use mle_star::score::ScoreScanner;
use mle_star::stop::{Stop, Trouble};
use nix::errno::Errno;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::disk;
use super::environment::Environment;
use super::machine::Machine;
use super::memory;
use super::open_files::times_lowered;
use super::out_of_memory::{KernelKills, last_words, out_of_memory};
use super::sandbox::{Isolation, Sandbox};
use super::short_links::ShortLinks;
use super::stream::Stream;
use super::submission::{check_submission, largest, too_large};
use super::traceback::TracebackScanner;
use super::warm::{Warm, WarmStart, Worker, remove_left};
use super::watch::{Limits, Resource, Watched, watch};
use super::workplace::{Workplace, broken};
use crate::process::{Streams, Tree};
use mle_star_data::view::Data;
use start::Started;

mod start;

/// How long output may still come after every process of the tree is gone.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// What a [`LocalRunner`] needs to know.
#[derive(Clone, Debug)]
pub struct LocalSetup {
    /// The run's folder; receives `solutions/`, `logs/`, `submissions/` and, while scripts run, `work/`.
    pub run_folder: PathBuf,
    /// The data; scripts see it as `./input`.
    pub data_dir: PathBuf,
    /// The interpreter.
    pub environment: Environment,
    /// What is shared out among the slots.
    pub machine: Machine,
    /// How many scripts run at once.
    pub slots: usize,
    /// What submissions are checked against.
    pub sample_submission: Option<PathBuf>,
    /// The column that names a row; `None`: the sample's first one.
    pub id_column: Option<String>,
    /// Memory limit of one script with everything it starts, in MiB; `None`: nearly all of the machine.
    pub memory_limit_mib: Option<u64>,
    /// What keeps scripts from doing harm.
    pub isolation: Isolation,
    /// How scripts are started warm; `None`: all of them start cold.
    pub warm_start: Option<WarmStart>,
}

/// Runs scripts as processes of this machine.
#[derive(Clone, Debug)]
pub struct LocalRunner {
    setup: Arc<LocalSetup>,
    data: Arc<Data>,
    sandbox: Arc<Sandbox>,
    links: Arc<ShortLinks>,
    warm: Option<Arc<Warm>>,
}

impl LocalRunner {
    /// A runner for one run. Looks at every data file once, to notice later when one has changed.
    ///
    /// # Errors
    /// The data folder cannot be read, or the run's folder cannot be made.
    pub fn new(setup: LocalSetup) -> Result<Self, Trouble> {
        for name in ["logs", "solutions", "submissions", "work"] {
            let folder = setup.run_folder.join(name);
            fs::create_dir_all(&folder).map_err(|error| broken("make", &folder, &error))?;
        }
        let absolute = |path: &Path| path.canonicalize().map_err(|error| broken("read", path, &error));
        let (run_folder, data_dir) = (absolute(&setup.run_folder)?, absolute(&setup.data_dir)?);
        remove_left(&run_folder.join("work"));
        let data = Data::new(data_dir.clone());
        let data = Arc::new(data.map_err(|error| broken("read", &data_dir, &error))?);
        let sandbox = Arc::new(Sandbox::new(setup.isolation.clone(), &setup.environment, &setup.machine));
        let start = setup.warm_start.as_ref().filter(|_| cfg!(target_os = "linux"));
        let warm = start.map(|start| Arc::new(Warm::new(&start.modules)));
        let links = Arc::new(ShortLinks::new(std::env::temp_dir()));
        Ok(Self { sandbox, links, warm, setup: Arc::new(LocalSetup { run_folder, data_dir, ..setup }), data })
    }

    /// The submission that `script` wrote when it ran at `stem`, its place's file stem; `None` when it wrote none.
    pub fn submission(&self, stem: &str, script: &str) -> Option<PathBuf> {
        Some(self.kept_submission(stem, script)).filter(|file| file.exists())
    }

    /// Named after the script, too: after a larger limit reopened a run, another one may have run at the place.
    fn kept_submission(&self, stem: &str, script: &str) -> PathBuf {
        let digest = blake3::hash(script.as_bytes()).to_hex();
        self.setup.run_folder.join("submissions").join(format!("{stem}.{}.csv", &digest[..8]))
    }

    async fn prepare(&self, request: &ScriptRequest) -> Result<Workplace, Trouble> {
        let (setup, data, links) = (Arc::clone(&self.setup), Arc::clone(&self.data), Arc::clone(&self.links));
        let (stem, script) = (request.place.file_stem(), request.script.clone());
        let stale = self.kept_submission(&stem, &request.script);
        let work = move || {
            let saved = setup.run_folder.join("solutions").join(format!("{stem}.py"));
            fs::write(&saved, &script).map_err(|error| broken("write", &saved, &error))?;
            let folder = setup.run_folder.join("work").join(&stem);
            let _ = fs::remove_file(stale);
            Workplace::new(folder.clone(), &script, &data, &links)
                .map_err(|error| broken("make", &folder, &error))
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
        let times_lowered = times_lowered().map_err(|error| {
            let message = format!("the open-file limit was lowered and cannot be raised again: {error}");
            Trouble::resumable(message, "")
        })?;
        Ok(Limits { time, memory, disk, folder, times_lowered, patience: None })
    }

    /// Runs the script once.
    async fn attempt(
        &self,
        request: &ScriptRequest,
        time: Duration,
        worker: Option<Worker>,
    ) -> Result<Attempt, Stop> {
        let stem = request.place.file_stem();
        let workplace = self.prepare(request).await?;
        let log = |kind| self.setup.run_folder.join("logs").join(format!("{stem}.{kind}"));
        let mut stdout = Stream::new(log("stdout"), ScoreScanner::default());
        let mut stderr = Stream::new(log("stderr"), TracebackScanner::default());
        let (began, kills) = (Instant::now(), KernelKills::so_far());
        let mut limits = self.limits(time, &workplace)?;
        let not_started = |error| self.trouble(Failure::Process(error));
        let (group, no_group) = self.sandbox.group(limits.memory.memory_mib);
        let started =
            self.start(request.slot, &workplace, limits.disk.disk_mib, group.as_ref(), worker).await;
        let Started { mut tree, streams, resting } = started.map_err(not_started)?;
        limits.patience =
            self.setup.warm_start.as_ref().filter(|_| resting.is_some()).map(|warm| warm.patience);
        let watched = run_watched(&mut tree, streams, &limits, &mut stdout, &mut stderr).await;
        let watched = watched.map_err(|failure| self.trouble(failure))?;
        let Watched { end, mut notes, excess_of, spoiled } = watched.with(group.as_ref(), &limits);
        let spoiled = self.settle(request.slot, resting, tree, spoiled);
        let duration_seconds = began.elapsed().as_secs_f64();
        let traceback = stderr.scanner.traceback();
        let refusal = self.sandbox.explanation(&end, traceback.as_deref(), workplace.folder());
        let finished = self.finish(request, workplace).await?;
        notes.extend([no_group, stdout.cut("stdout"), stderr.cut("stderr"), refusal].into_iter().flatten());
        notes.extend(finished.notes);
        let outcome = ScriptOutcome {
            end,
            duration_seconds,
            stdout: stdout.captured(),
            stderr: stderr.captured(),
            score: stdout.scanner.score(),
            traceback,
            submission: finished.submission,
            notes,
            out_of_memory: (excess_of == Some(Resource::Memory)).then_some(OutOfMemory::Limit),
        };
        if let Some(left) = finished.left.filter(|_| lacked_room(&outcome, excess_of)) {
            return Err(Stop::Outside(self.volume_is_full(&left)));
        }
        let outcome = ScriptOutcome { out_of_memory: out_of_memory(&outcome, &kills), ..outcome };
        Ok(Attempt { outcome, spoiled })
    }

    fn trouble(&self, failure: Failure) -> Trouble {
        match failure {
            Failure::Log(file, error) => broken("write", &file, &error),
            Failure::Process(error) => {
                let hint = match error.raw_os_error().map(Errno::from_raw) {
                    Some(Errno::EMFILE | Errno::ENFILE) => "allow more open files (`ulimit -n`)",
                    _ => "check that the interpreter is there and that the system allows more processes",
                };
                let python = self.setup.environment.python.display();
                Trouble::resumable(format!("cannot run scripts with {python}: {error}"), hint)
            }
        }
    }

    fn volume_is_full(&self, left: &str) -> Trouble {
        let folder = self.setup.run_folder.display();
        Trouble::resumable(
            format!("the disk of {folder} is full: a script found no room for its files, {left} left"),
            "free disk space",
        )
    }

    /// Checks and keeps the submission, looks whether the data is whole, removes the folder.
    async fn finish(&self, request: &ScriptRequest, workplace: Workplace) -> Result<Finished, Trouble> {
        let (setup, data) = (Arc::clone(&self.setup), Arc::clone(&self.data));
        let kept = self.kept_submission(&request.place.file_stem(), &request.script);
        let work = move || {
            let opened =
                workplace.submission().map_err(|error| broken("read", workplace.folder(), &error))?;
            let (written, refused) = match opened {
                Ok(written) => (written, None),
                Err(refused) => (None, Some(refused)),
            };
            let sample = setup.sample_submission.as_deref();
            let submission = written.map(|file| {
                keep(file, &kept, sample).map_err(|error| broken("keep", &kept, &error)).map(|refused| {
                    refused.unwrap_or_else(|| check_submission(&kept, sample, setup.id_column.as_deref()))
                })
            });
            let submission = submission.transpose()?;
            drop(workplace);
            let notes = refused.into_iter().chain(data.damage()).collect();
            Ok(Finished { submission, notes, left: disk::is_full(&setup.run_folder) })
        };
        in_background(work).await?
    }
}

/// What can break around a script.
enum Failure {
    /// It cannot be started or waited for.
    Process(io::Error),
    /// Its output cannot be written to this file.
    Log(PathBuf, io::Error),
}

/// What is known after the folder was looked through.
struct Finished {
    submission: Option<Submission>,
    /// What was wrong with the submission's place, or with the data.
    notes: Vec<String>,
    /// What is left of a volume that is full even without the script's files.
    left: Option<String>,
}

/// What came of one run of a script.
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
        // Who repairs a script has no use for it, and gets the same text whether a worker was ready or not.
        if let Some(warm) = self.warm.as_ref().filter(|_| !outcome.is_error()) {
            outcome.notes.extend(warm.note());
        }
        Ok(outcome)
    }
}

/// Sees the script to its end. When this returns nothing of it runs any more.
async fn run_watched(
    tree: &mut Tree,
    streams: Streams,
    limits: &Limits,
    stdout: &mut Stream<ScoreScanner>,
    stderr: &mut Stream<TracebackScanner>,
) -> Result<Watched, Failure> {
    let Streams { stdout: out, stderr: err, .. } = streams;
    let logs = [stdout.file().to_owned(), stderr.file().to_owned()];
    let pumps = async {
        let out =
            async { stdout.pump(out, ScoreScanner::feed).await.map_err(|e| (stdout.file().to_owned(), e)) };
        let err = async {
            stderr.pump(err, TracebackScanner::feed).await.map_err(|e| (stderr.file().to_owned(), e))
        };
        tokio::try_join!(out, err).map_err(|(file, error)| Failure::Log(file, error))
    };
    let mut pumps = pin!(pumps);
    let mut watch = pin!(watch(tree, limits, &logs));
    tokio::select! {
        watched = &mut watch => {
            // Nothing that could write is left; what is in the pipes is read, and no process outside waited for.
            if let Ok(pumped) = timeout(LAST_OUTPUT, &mut pumps).await {
                pumped?;
            }
            watched.map_err(Failure::Process)
        }
        pumped = &mut pumps => {
            pumped?;
            watch.await.map_err(Failure::Process)
        }
    }
}

/// Copies a submission to `kept`: not its mode, nor what other names or processes that got away could do to the file.
/// Gives what is to be said of one that is too large, and not kept.
fn keep(submission: File, kept: &Path, sample: Option<&Path>) -> io::Result<Option<Submission>> {
    let (bytes, most) = (submission.metadata()?.len(), largest(sample));
    if bytes > most {
        return Ok(Some(too_large(bytes, sample)));
    }
    let mut fresh = File::create_new(kept)?;
    io::copy(&mut submission.take(most), &mut fresh)?;
    Ok(None)
}

/// Did the script fail because there was no disk space? What only it lacks has other words: the limit of a file's
/// size, of its folder.
fn lacked_room(outcome: &ScriptOutcome, excess_of: Option<Resource>) -> bool {
    let says = || last_words(outcome).contains("No space left on device");
    excess_of == Some(Resource::Volume) || outcome.is_error() && says()
}

/// Runs file work where it does not hold up anything else.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
    spawn_blocking(work).await.map_err(|error| {
        Trouble::new(
            format!("a background task broke: {error}"),
            "this is a defect of mle-star, please report it",
        )
    })
}
