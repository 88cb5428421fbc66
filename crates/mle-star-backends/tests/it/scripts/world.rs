//! A run folder, a data folder and an interpreter for one test.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_backends::script::evaluation::EvaluationSetup;
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::slot::Slot;
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;
use mle_star_tables::metrics::Metric;
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::stat::Mode;

/// The place of the tests' scripts, and the stem of its files.
pub const PLACE: &str = "phase1/candidate-0/run";
pub const STEM: &str = "phase1.candidate-0.run";

/// The variable with a folder that scripts may write to, in a process started by a test.
pub const SHARED: &str = "MLE_STAR_TEST_SHARED";

/// Where scripts of the world in `folder` may write and tests may read.
pub fn shared(folder: &Path) -> PathBuf {
    folder.join("shared")
}

/// A Python expression that is true in a process forked by a worker: the kernel shows the worker's environment,
/// which has its folder.
pub const IS_WARM: &str = "b'worker-' in open('/proc/self/environ', 'rb').read()";

pub fn warm_start(modules: &[&str]) -> WarmStart {
    let modules = modules.iter().map(|name| (*name).to_owned()).collect();
    WarmStart { modules, stall: Duration::from_secs(60) }
}

/// Scores by this metric and the labels of the column `y` in this table, whose rows have IDs.
pub fn evaluation(train: PathBuf, metric: Metric) -> EvaluationSetup {
    EvaluationSetup {
        metric,
        metric_file: None,
        train,
        columns: LabelColumns::new(Some("id".to_owned()), "y"),
        header: vec!["id".to_owned(), "y".to_owned()],
        id_column: Some("id".to_owned()),
        subsample_limit: 30_000,
        split: None,
        test_rows: None,
        test_groups: None,
        recomputes: true,
        holdout: None,
        seasonal_naive: None,
        folds: None,
        periods: None,
        mean_over_periods: false,
        test_labels: None,
        last_fold: None,
        closed: Vec::new(),
    }
}

pub struct World {
    pub folder: tempfile::TempDir,
    pub setup: ScriptSetup,
}

impl World {
    /// The working folders of scripts that are left.
    pub fn working(&self) -> Vec<String> {
        let names = fs::read_dir(self.file("work")).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name != layout::PLANE).collect()
    }

    pub async fn new() -> Self {
        Self::below(&std::env::temp_dir()).await
    }

    /// With its folder in this one.
    pub async fn below(parent: &Path) -> Self {
        let folder = tempfile::tempdir_in(parent).unwrap();
        let data_dir = folder.path().join("data");
        fs::create_dir(&data_dir).unwrap();
        fs::write(data_dir.join("train.csv"), "id,y\n1,0\n").unwrap();
        fs::write(folder.path().join("sample.csv"), "id,y\n1,0.5\n2,0.5\n").unwrap();
        let mut isolation = Isolation::new(Network::Denied);
        // A part of the free space by default. Tests make large files with holes on disks that are nearly full.
        isolation.disk_limit_mib = Some(10 << 10);
        let others = std::env::var_os(SHARED).map(PathBuf::from);
        isolation.writable = others.into_iter().chain([shared(folder.path())]).collect();
        let given = EnvironmentChoice::Given("python3".into());
        let setup = ScriptSetup {
            run_folder: folder.path().join("run"),
            readable: vec![data_dir.clone()],
            data_dir,
            environment: python_environment(given, &|_| ()).await.unwrap(),
            machine: Machine { cores: 2, memory_mib: 1000, gpus: Vec::new() },
            slots: 1,
            sample_submission: Some(folder.path().join("sample.csv")),
            id_column: None,
            memory_limit_mib: None,
            warm_start: None,
            isolation,
            evaluation: None,
            fleet: None,
        };
        Self { folder, setup }
    }

    pub fn runner(&self) -> ScriptBackend {
        ScriptBackend::new(self.setup.clone()).unwrap()
    }

    /// A runner whose worker with these modules is ready.
    pub async fn warm_runner(&self, modules: &[&str]) -> ScriptBackend {
        let warm_start = Some(warm_start(modules));
        let runner = ScriptBackend::new(ScriptSetup { warm_start, ..self.setup.clone() }).unwrap();
        runner.warmed_up(0).await;
        runner
    }

    pub async fn run(&self, script: &str) -> ScriptOutcome {
        self.runner().run(&request(script, Duration::from_secs(60))).await.unwrap()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.setup.run_folder.join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }
}

/// The time that a question has.
pub const TIME: Duration = Duration::from_secs(60);

pub fn request(script: &str, timeout: Duration) -> ScriptRequest {
    let place = Place::from(PLACE);
    ScriptRequest {
        place,
        script: script.to_owned(),
        purpose: Purpose::Score,
        timeout,
        time_left: timeout,
        slot: Slot::here(0),
        data: DataView::Search,
    }
}

/// A named pipe that all of a script's processes hold open. It receives what they write and ends when the last one
/// dies.
pub struct Pulse {
    pub path: PathBuf,
    reader: File,
}

impl Pulse {
    pub fn new(folder: &Path) -> Self {
        fs::create_dir_all(shared(folder)).unwrap();
        let path = shared(folder).join("pulse");
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        let reader = fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
        Self { path, reader }
    }

    /// Waits for the next bytes; empty at the end of the last writer.
    fn next(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut ready = [PollFd::new(self.reader.as_fd(), PollFlags::POLLIN)];
            match poll(&mut ready, u16::try_from(left.as_millis()).unwrap()) {
                Err(Errno::EINTR) => continue,
                ready => (ready.unwrap() > 0).then_some(())?,
            }
            let mut bytes = vec![0; 64];
            match self.reader.read(&mut bytes) {
                Ok(length) => {
                    bytes.truncate(length);
                    return Some(bytes);
                }
                // It was ready because the pipe had no writer, and then one opened it before the read.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Waits until a process has written.
    pub fn wait_for_life(&mut self) {
        let heard = self.next(Duration::from_secs(30)).expect("no process wrote");
        assert!(!heard.is_empty(), "ended before a process wrote");
    }

    /// Like [`Self::wait_for_life`], without blocking the thread.
    pub async fn alive(mut self) -> Self {
        let waited = tokio::task::spawn_blocking(move || {
            self.wait_for_life();
            self
        });
        waited.await.unwrap()
    }

    /// Whether all writers are dead or die within `timeout`.
    pub fn is_dead_within(&mut self, timeout: Duration) -> bool {
        while let Some(bytes) = self.next(timeout) {
            if bytes.is_empty() {
                return true;
            }
        }
        false
    }

    /// A script that starts a child and a daemon, both ignoring SIGTERM, reports to the pipe, and then does
    /// `last`.
    pub fn family(&self, last: &str) -> String {
        format!(
            r#"
import os, signal, subprocess, sys, time
pulse = os.open({:?}, os.O_WRONLY)
ready, tell = os.pipe()
def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    deaf()
    for stream in (0, 1, 2):
        os.close(stream)
    os.write(tell, b"d")
    time.sleep(600)
os.read(ready, 1)
child = subprocess.Popen(["sleep", "600"], pass_fds=[pulse], preexec_fn=deaf)
print("started", flush=True)
os.write(pulse, b"!")
{last}
"#,
            self.path
        )
    }
}
