//! A runner: runs scripts for a program at the other end of its standard input and output.
//!
//! It trusts the program as far as a user trusts what he starts, and leaves nothing running: when the program is gone,
//! all scripts end, and the runner with them.

mod data;
mod job;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mle_star::journal::{Lock, try_lock, wait_for_lock};
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::{Machine, machine};
use mle_star_process::remove::remove_tree;
use mle_star_process::sandbox::Isolation;
use mle_star_process::warm::WarmStart;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use self::data::{PendingDownloads, PreparedData};
use super::cache::Cache;
use super::protocol::{
    Frames, FromRunner, Hello, MAGIC, MAX_IDLE, PROTOCOL, RunSetup, ToRunner, VERSION, is_ours,
};
use super::wire::{LastHeard, Outbox, channel, lock};
use crate::script::environment::{
    Environment, EnvironmentChoice, Origin, cache_folder, python_environment, python_on_path,
};
use crate::script::executor::{Executor, ExecutorSetup};
use crate::script::network;

/// How long the program's first message may take.
const GREETING_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to try to send the last message before the process ends.
const FINAL_MESSAGE_TIMEOUT: Duration = Duration::from_millis(100);

/// The settings of a runner.
#[derive(Clone, Debug, Default)]
pub struct RunnerSetup {
    /// The most that data may occupy in the cache, in GiB; `None`: half of what is free or in the cache already.
    pub cache_limit_gib: Option<u64>,
    /// Whether data is copied even if it lies at the same path on both machines.
    pub copy_data: bool,
}

/// The state of a running runner.
struct Server {
    out: Outbox,
    cache: Cache,
    /// The folder that holds a folder for each run, in which its scripts run.
    folder: PathBuf,
    machine: Machine,
    /// The environments, by what the program asked for. A cell is empty until its interpreter has been inspected.
    environments: Mutex<HashMap<EnvironmentChoice, Arc<OnceCell<Environment>>>>,
    /// The runs, by number. A cell is empty until its run is open.
    runs: Mutex<HashMap<u64, Arc<OnceCell<Arc<OpenRun>>>>>,
    /// The data that was asked for, by the digest of its manifest.
    data: Mutex<HashMap<String, Arc<PreparedData>>>,
    /// The files that are on their way.
    arrivals: PendingDownloads,
    /// The scripts that run, by the number of the job.
    jobs: Mutex<HashMap<u64, AbortHandle>>,
}

/// A run whose scripts can be started.
struct OpenRun {
    executor: Executor,
    /// Folders that this run's scripts cannot read, apart from those files in them that are their data.
    closed: Vec<PathBuf>,
}

/// Serves until the program says goodbye, is silent for too long, or this process is told to end.
///
/// # Errors
/// The cache cannot be used; or the program has another version, is silent, or sends what cannot be read.
pub async fn serve(
    setup: &RunnerSetup,
    source: impl AsyncRead + Send + Unpin + 'static,
    mut sink: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Trouble> {
    let cache_folder = cache_folder()?;
    let cache = open_cache(setup, &cache_folder.join("data"))?;
    let folder = OwnFolder::new(&cache_folder)?;
    let machine = machine().await;
    let mut frames = Frames::new(source);
    let welcomed = greeting(&mut frames).await?;
    let cannot = |error| Trouble::new(format!("cannot write to the program: {error}"), "");
    sink.write_all(MAGIC).await.map_err(cannot)?;
    let (out, written) = channel();
    out.send(&FromRunner::Hello(Box::new(hello(&machine).await)), &[]);
    let writing = tokio::spawn(written.write_to(sink, FromRunner::Alive));
    let server = Arc::new(Server {
        out: out.clone(),
        cache,
        folder: folder.path.clone(),
        machine,
        environments: Mutex::default(),
        runs: Mutex::default(),
        data: Mutex::default(),
        arrivals: PendingDownloads::default(),
        jobs: Mutex::default(),
    });
    let heard = LastHeard::now();
    if let Err(trouble) = welcomed {
        // `Hello` has to arrive: the program sees the other version in it, and tells its user.
        tokio::time::sleep(FINAL_MESSAGE_TIMEOUT).await;
        return Err(trouble);
    }
    let ended = tokio::select! {
        ended = listen(&server, frames, &heard) => ended,
        () = heard.wait_for_silence(MAX_IDLE) => Err(Trouble::new("nothing was heard from the program", "")),
        signal = end_signal() => {
            out.send(&FromRunner::Leaving { reason: format!("it received {signal}") }, &[]);
            tokio::time::sleep(FINAL_MESSAGE_TIMEOUT).await;
            Ok(())
        }
    };
    writing.abort();
    server.end().await;
    ended
}

/// Waits for the first message of the program. The outer error: it is missing or not readable. The
/// inner error: the program has another version.
async fn greeting(frames: &mut Frames<impl AsyncRead + Unpin>) -> Result<Result<(), Trouble>, Trouble> {
    let hint = "`mle-star run` starts this command with the `runners` of a config file, see docs/machines.md";
    let first = timeout(GREETING_TIMEOUT, frames.next::<Value>(|| ())).await;
    let nobody = |error: &str| Trouble::new(format!("no program speaks to this runner: {error}"), hint);
    let first = first.map_err(|_| nobody("its input is silent"))?;
    let first = first.map_err(|error| nobody(&error.to_string()))?;
    let (first, _) = first.ok_or_else(|| nobody("its input is empty"))?;
    if is_ours(&first) {
        return Ok(Ok(()));
    }
    let message = format!(
        "the program is mle-star {} with protocol {}, this runner is mle-star {VERSION} with protocol {PROTOCOL}",
        first["version"].as_str().unwrap_or("of an unknown version"),
        first["protocol"]
    );
    Ok(Err(Trouble::new(message, "install the same version on both machines")))
}

/// Handles the messages of the program.
async fn listen(
    server: &Arc<Server>,
    mut frames: Frames<impl AsyncRead + Unpin>,
    heard: &LastHeard,
) -> Result<(), Trouble> {
    let damaged = |error| Trouble::new(format!("the program cannot be understood: {error}"), "");
    while let Some((message, bytes)) = frames.next(|| heard.note_arrival()).await.map_err(damaged)? {
        heard.note_arrival();
        match message {
            ToRunner::Welcome { .. } => {}
            ToRunner::Ping { number } => server.out.send(&FromRunner::Pong { number }, &[]),
            ToRunner::Open(setup) => server.spawn_open(*setup),
            ToRunner::Close { run } => drop(lock(&server.runs).remove(&run)),
            ToRunner::Data { data } => server.spawn_prepare(data),
            ToRunner::Piece { digest, offset, is_last } => {
                heard.during(server.arrivals.deliver_chunk(&digest, (offset, bytes, is_last))).await;
            }
            ToRunner::Unreadable { digest, why } => server.arrivals.fail_download(&digest, why).await,
            ToRunner::Script(order) => server.spawn_script(*order, bytes),
            ToRunner::Cancel { job } => {
                let job = lock(&server.jobs).remove(&job);
                job.iter().for_each(AbortHandle::abort);
            }
            ToRunner::Bye => return Ok(()),
        }
    }
    Ok(())
}

impl Server {
    fn spawn_open(self: &Arc<Self>, setup: RunSetup) {
        let server = Arc::clone(self);
        tokio::spawn(async move {
            let run = setup.run;
            let message = match server.open(setup).await {
                Ok(environment) => FromRunner::Opened { run, environment },
                Err(Trouble { message, hint, .. }) => {
                    FromRunner::NotOpened { run, message, is_final: hint == OTHER_PYTHON }
                }
            };
            server.out.send(&message, &[]);
        });
    }

    async fn open(&self, setup: RunSetup) -> Result<Environment, Trouble> {
        let progress = |text: &str| {
            self.out.send(&FromRunner::Progress { text: text.to_owned() }, &[]);
        };
        let choice = match setup.environment.origin {
            Origin::Own => EnvironmentChoice::Own,
            Origin::Given => EnvironmentChoice::Given(setup.environment.python.clone()),
        };
        let environment = self.environment(choice, &progress).await?;
        if !setup.any_python {
            same_python(&setup.environment, &environment)?;
        }
        let folder = self.folder.join(setup.run.to_string());
        let closed: Vec<PathBuf> =
            setup.closed.into_iter().chain([self.cache.folder().to_owned(), self.folder.clone()]).collect();
        let executor = ExecutorSetup {
            folder: folder.clone(),
            environment: environment.clone(),
            machine: self.machine.clone(),
            slots: setup.slots,
            memory_limit_mib: setup.memory_limit_mib,
            isolation: Isolation::new(network(setup.network)),
            warm_start: setup.warm_start.then(|| WarmStart::on(&self.machine)),
        };
        fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        let executor = Executor::new(executor, &closed)?;
        let open = Arc::new(OpenRun { executor, closed });
        let cell = Arc::clone(lock(&self.runs).entry(setup.run).or_default());
        // Opened twice, it stays as it was.
        let _ = cell.set(open);
        Ok(environment)
    }

    /// The Python environment for this choice, inspected once and shared by all runs, because starting an interpreter
    /// is slow.
    async fn environment(
        &self,
        choice: EnvironmentChoice,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Environment, Trouble> {
        let cell = Arc::clone(lock(&self.environments).entry(choice.clone()).or_default());
        cell.get_or_try_init(|| python_environment(choice, progress)).await.cloned()
    }

    fn run(&self, run: u64) -> Option<Arc<OpenRun>> {
        lock(&self.runs).get(&run)?.get().cloned()
    }

    /// Ends all scripts.
    async fn end(&self) {
        let jobs: Vec<AbortHandle> = lock(&self.jobs).drain().map(|(_, job)| job).collect();
        jobs.iter().for_each(AbortHandle::abort);
        while !jobs.iter().all(AbortHandle::is_finished) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Dropping a run ends the workers of its scripts.
        lock(&self.runs).clear();
    }
}

/// What to do about versions that differ.
const OTHER_PYTHON: &str =
    "install the same versions, name another interpreter with `python`, or set `any_python: true`";

/// Checks that the versions on the runner, `here`, are those on the program's machine, `there`, so that scores do not
/// depend on where a script ran. The program shows the error, so its "it" is the runner and "this machine" the program's.
fn same_python(there: &Environment, here: &Environment) -> Result<(), Trouble> {
    same_version(&there.version, &here.version)?;
    let (ours, theirs) = (here.libraries.iter(), &there.libraries);
    let known: HashMap<&str, &str> = ours.map(|(name, version)| (&**name, &**version)).collect();
    let other = theirs.iter().find(|(name, version)| known.get(&**name) != Some(&&**version));
    let Some((name, version)) = other else { return Ok(()) };
    let has = known.get(&**name).map_or_else(|| format!("no {name}"), |has| format!("{name} {has}"));
    Err(Trouble::new(format!("it has {has}, and this machine has {name} {version}"), OTHER_PYTHON))
}

/// Checks that the minor version of Python on the program's machine, `there`, is that of the runner, `here`.
pub(super) fn same_version(there: &str, here: &str) -> Result<(), Trouble> {
    let minor = |version: &str| version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    if minor(there) == minor(here) {
        return Ok(());
    }
    Err(Trouble::new(format!("it has Python {here}, and this machine has {there}"), OTHER_PYTHON))
}

async fn hello(machine: &Machine) -> Hello {
    let isolation = Isolation::new(mle_star_process::sandbox::Network::Denied);
    Hello {
        protocol: PROTOCOL,
        version: VERSION.to_owned(),
        host: nix::unistd::gethostname().map_or_else(|_| String::new(), |name| name.to_string_lossy().into()),
        machine: machine.clone(),
        isolation: isolation.line(),
        closes_reads: isolation.closes_reads(),
        python: python_on_path().await,
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

fn open_cache(setup: &RunnerSetup, folder: &Path) -> Result<Cache, Trouble> {
    let cannot = |error| Trouble::io("create", folder, &error);
    fs::create_dir_all(folder).map_err(cannot)?;
    let limit = setup.cache_limit_gib.map(|gib| gib.saturating_mul(1 << 30));
    Cache::new(folder, limit, !setup.copy_data).map_err(cannot)
}

/// A new folder for this process, removed when dropped. The lock shows others that it is in use.
struct OwnFolder {
    path: PathBuf,
    _lock: (File, Lock),
}

impl OwnFolder {
    /// Removes the folders of runners of this machine that are gone, and creates one.
    fn new(cache: &Path) -> Result<Self, Trouble> {
        let all = cache.join("runners");
        let make = || {
            fs::create_dir_all(&all)?;
            // Held until the new folder is locked: until then it looks abandoned.
            let _one_at_a_time = locked(&cache.join("runners.lock"))?;
            for other in fs::read_dir(&all)?.flatten().map(|entry| entry.path()) {
                let lock = other.join("lock");
                let is_free = |file: File| matches!(try_lock(&file, &lock), Ok(Some(_)));
                if File::open(&lock).map_or_else(|error| error.kind() == io::ErrorKind::NotFound, is_free) {
                    // What cannot be removed now is left for the next one.
                    let _ = remove_tree(&other);
                }
            }
            let path = tempfile::Builder::new().prefix("runner-").tempdir_in(&all)?.keep();
            let lock = locked(&path.join("lock"))?;
            Ok(Self { path, _lock: lock })
        };
        make().map_err(|error| Trouble::io("create", &all, &error))
    }
}

fn locked(path: &Path) -> io::Result<(File, Lock)> {
    let file = File::create(path)?;
    let lock = wait_for_lock(&file, path)?;
    Ok((file, lock))
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // The next runner removes what is left.
        let _ = remove_tree(&self.path);
    }
}

/// Waits for a signal that ends this process, and names it.
async fn end_signal() -> &'static str {
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => "SIGTERM",
        () = wait(SignalKind::interrupt()) => "SIGINT",
        () = wait(SignalKind::hangup()) => "SIGHUP",
    }
}
