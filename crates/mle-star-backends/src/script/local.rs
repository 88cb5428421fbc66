//! Runs scripts on this machine.
//!
//! Each script is a fresh Python process in a fresh folder, under a guard that ends everything it started. It is
//! started cold, or forked by its slot's worker (see [`warm`](super::warm)).
//! Kept of a run: the script, its streams up to a cap, and the submission it wrote.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mle_star::effects::{OutOfMemory, ScriptOutcome, ScriptRequest, ScriptRunner, Submission};
use mle_star::score::ScoreScanner;
use mle_star::stop::{Stop, Trouble};
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::environment::Environment;
use super::machine::Machine;
use super::out_of_memory::{KernelKills, out_of_memory};
use super::stream::Stream;
use super::submission::check_submission;
use super::traceback::TracebackScanner;
use super::variables::{Share, variables};
use super::warm::{self, Resting, Warm, WarmStart, Worker, WorkerSetup};
use super::watch::{Limits, Watched, watch};
use super::workplace::{HOME, SCRIPT, TEMPORARY, Workplace, broken};
use crate::data::view::Data;
use crate::process::{Streams, Tree};

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
    /// Memory limit of one script with everything it starts, in MiB.
    pub memory_limit_mib: Option<u64>,
    /// How scripts are started warm; `None`: all of them start cold.
    pub warm_start: Option<WarmStart>,
}

/// Runs scripts as processes of this machine.
#[derive(Clone, Debug)]
pub struct LocalRunner {
    setup: Arc<LocalSetup>,
    data: Arc<Data>,
    warm: Option<Arc<Warm>>,
}

/// A running script.
struct Started {
    tree: Tree,
    streams: Streams,
    /// Of the worker that forked it.
    resting: Option<Resting>,
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
        let data = Data::new(data_dir.clone());
        let data = Arc::new(data.map_err(|error| broken("read", &data_dir, &error))?);
        let start = setup.warm_start.as_ref().filter(|_| cfg!(target_os = "linux"));
        let warm = start.map(|start| Arc::new(Warm::new(&start.modules)));
        Ok(Self { setup: Arc::new(LocalSetup { run_folder, data_dir, ..setup }), data, warm })
    }

    /// Begins to start the first slot's worker, so that it may be ready when the first script comes. The others
    /// are started with their first script.
    pub fn warm_up(&self) {
        self.warm_up_slot(0);
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
        let (setup, data) = (Arc::clone(&self.setup), Arc::clone(&self.data));
        let (stem, script, slot) = (request.place.file_stem(), request.script.clone(), request.slot);
        let stale = self.kept_submission(&stem, &request.script);
        let work = move || {
            let saved = setup.run_folder.join("solutions").join(format!("{stem}.py"));
            fs::write(&saved, &script).map_err(|error| broken("write", &saved, &error))?;
            let folder = folder_of(&setup, slot);
            let _ = fs::remove_file(stale);
            Workplace::new(folder.clone(), &script, &data).map_err(|error| broken("make", &folder, &error))
        };
        in_background(work).await?
    }

    fn variables(&self, slot: usize, home: &Path, temporary: &Path) -> Vec<(OsString, OsString)> {
        let setup = &self.setup;
        let share = Share::of(&setup.machine, setup.slots, slot);
        variables(env::vars_os(), &setup.environment, &share, home, temporary)
    }

    fn command(&self, folder: &Path, variables: Vec<(OsString, OsString)>) -> Command {
        let mut command = Command::new(&self.setup.environment.python);
        command.arg(SCRIPT).current_dir(folder).env_clear().envs(variables);
        command
    }

    fn warm_up_slot(&self, slot: usize) {
        let Some(warm) = &self.warm else { return };
        warm.warm_up(slot, || {
            let folder = folder_of(&self.setup, slot);
            let variables = self.variables(slot, &folder.join(HOME), &folder.join(TEMPORARY));
            let python_path =
                variables.iter().find(|(name, _)| name == "PYTHONPATH").map(|(_, path)| path.clone());
            WorkerSetup { command: self.command(&folder, variables), folder, python_path }
        });
    }

    /// The worker that is to run the script, and a note when there should be one and is not. Waits for one that is
    /// being started, whoever is to run the script: both use the slot's folder.
    async fn worker(&self, request: &ScriptRequest) -> (Option<Worker>, Option<String>) {
        let Some(warm) = &self.warm else { return (None, None) };
        let suits = warm::suits(request);
        if suits {
            warm.learn(&request.script);
            self.warm_up_slot(request.slot);
        }
        match warm.take(request.slot).await {
            Ok(worker) if suits => (worker, None),
            Ok(worker) => {
                worker.into_iter().for_each(|worker| warm.give_back(request.slot, worker));
                (None, None)
            }
            Err(note) => (None, Some(note)),
        }
    }

    /// Starts the script, by the worker when there is one.
    fn start(&self, slot: usize, workplace: &Workplace, worker: Option<Worker>) -> io::Result<Started> {
        let variables = self.variables(slot, &workplace.home(), workplace.temporary());
        if let Some(Ok(started)) = worker.map(|worker| worker.run(workplace.folder(), &variables)) {
            let (tree, streams, resting) = started;
            return Ok(Started { tree, streams, resting: Some(resting) });
        }
        let (tree, streams) = Tree::spawn(self.command(workplace.folder(), variables), Stdio::null())?;
        Ok(Started { tree, streams, resting: None })
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
        let started = self.start(request.slot, &workplace, worker);
        let Started { mut tree, streams, resting } =
            started.map_err(|error| self.trouble(Failure::Process(error)))?;
        let patience = self.setup.warm_start.as_ref().filter(|_| resting.is_some()).map(|warm| warm.patience);
        let limits = Limits { time, memory_mib: self.setup.memory_limit_mib, patience };
        let watched = run_watched(&mut tree, streams, limits, &mut stdout, &mut stderr).await;
        let Watched { end, mut notes, over_memory, spoiled } =
            watched.map_err(|failure| self.trouble(failure))?;
        let duration_seconds = began.elapsed().as_secs_f64();
        let finished = self.finish(request, workplace).await?;
        let spoiled = spoiled.filter(|_| resting.is_some());
        if let Some(worker) = resting.and_then(|resting| resting.again(tree)).filter(|_| spoiled.is_none()) {
            self.give_back(request.slot, worker);
        }
        notes.extend([stdout.cut("stdout"), stderr.cut("stderr"), finished.damage].into_iter().flatten());
        let outcome = ScriptOutcome {
            end,
            duration_seconds,
            stdout: stdout.captured(),
            stderr: stderr.captured(),
            score: stdout.scanner.score(),
            traceback: stderr.scanner.traceback(),
            submission: finished.submission,
            notes,
            out_of_memory: over_memory.then_some(OutOfMemory::Limit),
        };
        let outcome = ScriptOutcome { out_of_memory: out_of_memory(&outcome, &kills), ..outcome };
        Ok(Attempt { outcome, spoiled })
    }

    /// Keeps the worker for the slot's next script, or begins to replace it by one that has more libraries.
    fn give_back(&self, slot: usize, worker: Worker) {
        if let Some(warm) = &self.warm {
            warm.give_back(slot, worker);
            self.warm_up_slot(slot);
        }
    }

    fn trouble(&self, failure: Failure) -> Trouble {
        match failure {
            Failure::Log(file, error) => broken("write", &file, &error),
            Failure::Process(error) => Trouble::new(
                format!("cannot run scripts with {}: {error}", self.setup.environment.python.display()),
                "check that the interpreter is there and that the system allows more processes",
            ),
        }
    }

    /// Checks and keeps the submission, looks whether the data is whole, removes the folder.
    async fn finish(&self, request: &ScriptRequest, workplace: Workplace) -> Result<Finished, Trouble> {
        let (setup, data) = (Arc::clone(&self.setup), Arc::clone(&self.data));
        let kept = self.kept_submission(&request.place.file_stem(), &request.script);
        let work = move || {
            let submission = workplace.submission().map(|file| {
                let sample = setup.sample_submission.as_deref();
                let checked = check_submission(&file, sample, setup.id_column.as_deref());
                fs::rename(&file, &kept).map_err(|error| broken("keep", &kept, &error)).map(|()| checked)
            });
            Ok(Finished { submission: submission.transpose()?, damage: data.damage() })
        };
        in_background(work).await?
    }
}

/// What came of one run of a script.
struct Attempt {
    outcome: ScriptOutcome,
    /// Why it has to be run again, cold.
    spoiled: Option<&'static str>,
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
    damage: Option<String>,
}

#[async_trait]
impl ScriptRunner for LocalRunner {
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop> {
        let (worker, mut note) = self.worker(request).await;
        let began = Instant::now();
        let mut attempt = self.attempt(request, request.timeout, worker).await?;
        if let Some((why, warm)) = attempt.spoiled.zip(self.warm.as_ref()) {
            note = Some(warm.failed(why));
            let left = request.timeout.saturating_sub(began.elapsed());
            attempt = self.attempt(request, left, None).await?;
        }
        attempt.outcome.notes.extend(note);
        Ok(attempt.outcome)
    }
}

/// Sees the script to its end. When this returns nothing of it runs any more.
async fn run_watched(
    tree: &mut Tree,
    streams: Streams,
    limits: Limits,
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
    let mut watch = pin!(watch(tree, &limits, &logs));
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

/// The folder of the script that runs in a slot.
fn folder_of(setup: &LocalSetup, slot: usize) -> PathBuf {
    setup.run_folder.join("work").join(format!("slot-{slot}"))
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
