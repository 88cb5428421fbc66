//! A small task, the real binary, and the invariants to check after every fault.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fastrand::Rng;
use mle_star::journal::{EffectRecord, EffectState, Kind, read};
use mle_star_needs::python_with_libraries;
use serde_json::Value;

/// A result with any error.
pub type Res<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Ends a function with an error unless an invariant holds.
macro_rules! must {
    ($holds:expr, $($problem:tt)*) => {
        if !$holds {
            return Err(format!($($problem)*).into());
        }
    };
}
pub(crate) use must;

/// The search: two candidates, a merge, two paths of two attempts, two rounds of ensembles.
const SEARCH: &str = "--set num_retrieved_models=2 --set outer_loop_steps=1 --set inner_loop_steps=2 \
    --set max_debug_attempts=1 --set num_parallel_solutions=2 --set ensemble_rounds=2 --agents offline \
    --time-limit 1200";
/// How long a single command may take.
const PATIENCE: Duration = Duration::from_secs(120);

const FILES: [(&str, &str); 4] = [
    ("data/train.csv", "id,size,town,price\n1,10,a,1.5\n2,20,b,2.5\n3,30,a,3.5\n4,40,b,4.5\n"),
    ("data/test.csv", "id,size,town\n5,15,a\n6,25,b\n"),
    ("data/sample_submission.csv", "id,price\n5,0\n6,0\n"),
    ("data/description.md", "Predict the price.\n\n# Evaluation\n\nRoot mean squared error.\n"),
];

/// The interpreter, with `PATH` for its own path.
const PYTHON: &str = r#"#!/bin/sh
case "$*" in
  *importlib.metadata*) echo '[["scikit-learn", "1.0"]]' ;;
  *sysconfig*) echo '["PATH", [3, 11, 0], "linux-x86_64"]' ;;
  *) sum=$(cksum < solution.py); sleep 0.03; mkdir -p final
    cp input/sample_submission.csv final/submission.csv || exit 1
    printf 'id,price\n1,1.%s\n2,2.%s\n3,3.5\n4,9.%s\n' ${sum%% *} ${sum##* } ${sum%% *} \
      > final/validation_predictions.csv
    echo "Final Validation Performance: 0.${sum%% *}" ;;
esac
"#;

/// Fields of a result that differ from run to run: times, paths, and what depends on where scripts run.
const LEFT_OUT: &str = "task config durations total_duration_seconds submission_path created_at at \
    interrupted_calls kept_from seconds";

/// An undisturbed run.
pub struct Baseline {
    outcome: Value,
    places: BTreeSet<String>,
    /// The time it took.
    pub took: Duration,
    /// Its folder.
    pub world: World,
}

/// A folder with the task, an interpreter and a runs directory, for one fault.
pub struct World {
    dir: tempfile::TempDir,
    binary: PathBuf,
    /// The fault's number in its family.
    pub number: usize,
    /// The source of all random choices.
    pub random: Rng,
    /// The fault, for messages.
    pub what: String,
    pub figures: Figures,
}

/// Counters of faults.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Faults injected.
    pub injected: usize,
    /// Runs that ended with the undisturbed result afterwards.
    pub completed: usize,
    /// Files refused, untouched.
    pub refused: usize,
    /// Effects that had ended, were in the journal, and were done again.
    pub repeated: usize,
    /// Effects that were in progress at the fault, or lost with the end of a file, and were done again.
    pub redone: usize,
    /// Faults that this machine does not allow to be injected.
    pub skipped: usize,
    /// Descriptions of violated invariants.
    pub failed: Vec<String>,
}

/// The outcome of a command. Displayed without its events.
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Baseline {
    /// Solves the task without faults. Cargo puts the binary one folder above its examples.
    pub fn make() -> Res<Self> {
        let example = std::env::current_exe()?;
        let folder = example.parent().and_then(Path::parent).ok_or("no folder above that of the examples")?;
        let world = World::new(&folder.join("mle-star"), 0, 0)?;
        let began = Instant::now();
        world.run(&world.begin("r"))?.ended(0)?;
        let places = world.records().iter().filter(|record| is_done(record)).map(place).collect();
        Ok(Self { outcome: outcome(&world.path("runs/r"))?, places, took: began.elapsed(), world })
    }

    /// A random moment of a run.
    pub fn moment(&self, world: &mut World) -> Duration {
        self.took.mul_f64(world.random.f64())
    }
}

impl Figures {
    /// Adds other counters.
    pub fn add(&mut self, other: Self) {
        self.injected += other.injected;
        self.completed += other.completed;
        self.refused += other.refused;
        self.repeated += other.repeated;
        self.redone += other.redone;
        self.skipped += other.skipped;
        self.failed.extend(other.failed);
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { injected, completed, refused, repeated, redone, skipped, failed } = self;
        let failed = failed.len();
        write!(
            to,
            "{injected:>8} {completed:>9} {refused:>7} {repeated:>8} {redone:>6} {skipped:>7} {failed:>6}"
        )
    }
}

impl Said {
    /// It must have ended with this exit code.
    pub fn ended(self, code: i32) -> Res<Self> {
        must!(self.code == Some(code), "not {code}, but {self}");
        Ok(self)
    }
}

impl fmt::Display for Said {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.stderr.lines().rev().take(6).collect();
        write!(to, "exit {:?}, last lines first: {}", self.code, lines.join(" | "))
    }
}

impl World {
    fn new(binary: &Path, seed: u64, number: usize) -> Res<Self> {
        let dir = tempfile::Builder::new().prefix("faults").tempdir()?;
        let figures = Figures { injected: 1, ..Figures::default() };
        let (random, what) = (Rng::with_seed(seed), format!("number {number}"));
        let world = Self { dir, binary: binary.to_owned(), number, random, what, figures };
        fs::create_dir_all(world.path("data"))?;
        for (name, text) in FILES {
            fs::write(world.path(name), text)?;
        }
        let python = world.path("python");
        fs::write(&python, PYTHON.replace("PATH", &python.display().to_string()))?;
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755))?;
        Ok(world)
    }

    /// A fresh world with the same program.
    pub fn another(&self, seed: u64, number: usize) -> Res<Self> {
        Self::new(&self.binary, seed, number)
    }

    /// Counts a fault that this machine does not allow.
    pub fn skip(&mut self) {
        (self.figures.injected, self.figures.skipped) = (0, 1);
    }

    /// Says what the fault is.
    pub fn tell(&mut self, what: impl fmt::Display) {
        self.what = format!("{}, {what}", self.what);
    }

    /// A path in the task folder. It has the same name in every world, because a task without a name is named
    /// after its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("small").join(name)
    }

    /// The command line that begins a run.
    pub fn begin(&self, id: &str) -> String {
        let python = self.path("python");
        format!("run data --run-id {id} --json --set python={} {SEARCH} --jobs 2", python.display())
    }

    /// The command line that begins a run whose scripts all run on the runners of `runners.yaml`.
    pub fn begin_elsewhere(&self, id: &str) -> String {
        self.begin(id).replace("--jobs 2", "--set max_concurrent_scripts=0 --config runners.yaml")
    }

    /// The program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The command line that continues run `r`: a new start if it was interrupted before it had a journal.
    pub fn go_on(&self) -> String {
        let known = read(&self.path("runs/r")).is_ok();
        if known { "resume r --json".to_owned() } else { self.begin("r") }
    }

    /// The binary with a command line, in a clean environment.
    pub fn command(&self, line: &str) -> Command {
        self.sealed(&self.binary, &line.split_whitespace().collect::<Vec<_>>())
    }

    /// A shell script in the same environment, with `$BINARY`, and with `$BEGIN` for the begin of run `r`.
    pub fn shell(&self, script: &str) -> Command {
        self.sealed(Path::new("sh"), &["-c", script])
    }

    /// The same in its own mount namespace.
    pub fn mounting_shell(&self, script: &str) -> Command {
        self.sealed(Path::new("unshare"), &["-rm", "sh", "-c", script])
    }

    fn sealed(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path("")).env_clear().env("HOME", self.path(""));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("BINARY", &self.binary);
        command.env("BEGIN", self.begin("r")).stdin(Stdio::null());
        command.env("MLE_STAR_DATA_PYTHON", python_with_libraries());
        command
    }

    /// Starts the binary, its streams going to `NAME.out` and `NAME.err`.
    pub fn start(&self, line: &str, name: &str) -> Res<Child> {
        self.start_command(self.command(line), name)
    }

    /// Starts any command in this way.
    pub fn start_command(&self, mut command: Command, name: &str) -> Res<Child> {
        let file = |stream: &str| File::create(self.path(&format!("{name}.{stream}")));
        Ok(command.stdout(file("out")?).stderr(file("err")?).spawn()?)
    }

    /// Waits for the command started under this name.
    pub fn finish(&self, mut child: Child, name: &str) -> Res<Said> {
        let ended = ended_within(&mut child, PATIENCE)?;
        if !ended {
            child.kill()?;
        }
        let code = child.wait()?.code();
        let said = Said {
            code,
            stdout: self.text(&format!("{name}.out"))?,
            stderr: self.text(&format!("{name}.err"))?,
        };
        must!(ended, "no end after {PATIENCE:?}: {said}");
        Ok(said)
    }

    /// Runs the binary to its end, with the name `said`.
    pub fn run(&self, line: &str) -> Res<Said> {
        self.finish(self.start(line, "said")?, "said")
    }

    /// A file's text.
    pub fn text(&self, name: &str) -> Res<String> {
        let bytes = fs::read(self.path(name)).map_err(|error| format!("{name}: {error}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Waits until this many events were printed. Returns whether the command still runs.
    pub fn wait_for_events(&self, child: &mut Child, name: &str, lines: usize) -> Res<bool> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && child.try_wait()?.is_none() {
            if self.text(&format!("{name}.out"))?.lines().count() >= lines {
                return Ok(true);
            }
            sleep(Duration::from_millis(3));
        }
        Ok(false)
    }

    /// The records of `r`; empty if it has no journal yet.
    pub fn records(&self) -> Vec<EffectRecord> {
        read(&self.path("runs/r")).map(|snapshot| snapshot.effects).unwrap_or_default()
    }

    /// Checks a run folder that should be like the undisturbed one; `before` is what its journal held at the fault.
    pub fn check(&mut self, baseline: &Baseline, folder: &str, before: &[EffectRecord]) -> Res<()> {
        let folder = self.path(folder);
        must!(outcome(&folder)? == baseline.outcome, "the result is another one");
        let snapshot = read(&folder)?;
        must!(snapshot.damage.is_none(), "{:?}", snapshot.damage);
        let mut places = BTreeSet::new();
        for place in snapshot.effects.iter().filter(|record| is_done(record)).map(place) {
            self.figures.repeated += usize::from(places.contains(&place));
            must!(places.insert(place.clone()), "{place} ended twice");
        }
        must!(places == baseline.places, "other places: {places:?}");
        for record in before.iter().filter(|record| record.state == EffectState::Ended) {
            must!(snapshot.effects.contains(record), "the record of {} was lost", record.place);
        }
        self.figures.redone +=
            snapshot.effects.iter().filter(|record| record.state == EffectState::Void).count();
        self.figures.completed += 1;
        Ok(())
    }

    /// Every effect whose end was printed must be in the journal, and no process may be left.
    pub fn check_cut(&self, name: &str) -> Res<()> {
        let ended = ended(&self.records());
        for (event, place) in self.events(name)? {
            let is_end = event == "agent_ended" || event == "script_ended";
            must!(!is_end || ended.contains(&place), "the end of {place} was printed but not recorded");
        }
        self.check_left()
    }

    /// The command called `name` must not have started an effect that had ended before.
    pub fn check_not_repeated(&mut self, before: &[EffectRecord], name: &str) -> Res<()> {
        let ended = ended(before);
        let is_again =
            |(event, place): &(String, String)| event.ends_with("_started") && ended.contains(place);
        let again: Vec<_> = self.events(name)?.into_iter().filter(is_again).collect();
        self.figures.repeated += again.len();
        must!(again.is_empty(), "done again: {again:?}");
        Ok(())
    }

    /// The events of a command and their places.
    fn events(&self, name: &str) -> Res<Vec<(String, String)>> {
        let event = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap_or_default();
            let field = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            (field("event"), field("place"))
        };
        Ok(self.text(&format!("{name}.out"))?.lines().map(event).collect())
    }

    /// Resumes the run to its end and checks everything.
    pub fn resume_and_check(&mut self, baseline: &Baseline) -> Res<()> {
        let before = self.records();
        self.run(&self.go_on())?.ended(0)?;
        self.check_not_repeated(&before, "said")?;
        self.check(baseline, "runs/r", &before)?;
        self.check_left()
    }

    /// Ten seconds later, no process of this world may be left.
    pub fn check_left(&self) -> Res<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline && !self.processes().is_empty() {
            sleep(Duration::from_millis(20));
        }
        let left = self.processes();
        must!(left.is_empty(), "processes are left: {left:?}");
        Ok(())
    }

    /// The processes that answer questions about predictions.
    pub fn planes(&self) -> Vec<u32> {
        let processes = self.processes().into_iter().map(|(id, _)| id);
        let says = |id: &u32| fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        processes.filter(|id| says(id).contains("mle_star_data")).collect()
    }

    /// Every process that works in this world, or whose command line or environment names it: its ID and name. The
    /// machines of runners are processes of this one.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let folder = self.dir.path().canonicalize().unwrap_or_default();
        let name = self.dir.path().display().to_string();
        let names = |path: PathBuf| {
            let text = fs::read(path).unwrap_or_default();
            text.windows(name.len()).any(|part| part == name.as_bytes())
        };
        let is_here = |process: &PathBuf| {
            names(process.join("cmdline"))
                || names(process.join("environ"))
                || fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
        };
        let known = |process: PathBuf| {
            let name = fs::read_to_string(process.join("comm")).ok()?;
            Some((process.file_name()?.to_str()?.parse().ok()?, name.trim().to_owned()))
        };
        let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
        all.filter(is_here).filter_map(known).collect()
    }
}

/// Waits for a process at most this long. Returns whether it ended.
pub fn ended_within(child: &mut Child, time: Duration) -> Res<bool> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline && child.try_wait()?.is_none() {
        sleep(Duration::from_millis(2));
    }
    Ok(child.try_wait()?.is_some())
}

/// Sends a signal. A process that has already ended is ignored.
pub fn send(signal: &str, process: u32) -> Res<()> {
    Command::new("kill").args([signal, &process.to_string()]).stderr(Stdio::null()).status()?;
    Ok(())
}

/// Is it an agent call or a script with an outcome? Decisions and verdicts cost nothing.
fn is_done(record: &EffectRecord) -> bool {
    matches!(record.kind, Kind::Agent | Kind::Script) && record.outcome.is_some()
}

fn place(record: &EffectRecord) -> String {
    record.place.to_string()
}

/// The places of the agent calls and scripts that have ended.
fn ended(records: &[EffectRecord]) -> BTreeSet<String> {
    let ended = records.iter().filter(|record| is_done(record) && record.state == EffectState::Ended);
    ended.map(place).collect()
}

/// The result and the submission, without times and paths, and without what depends on where scripts run.
fn outcome(folder: &Path) -> Res<Value> {
    let text = |name: &str| fs::read_to_string(folder.join(name));
    let mut result: Value = serde_json::from_str(&text("result.json")?)?;
    timeless(&mut result);
    let (submission, script) = (text("final/submission.csv")?, text("final/solution.py")?);
    Ok(serde_json::json!({"result": result, "submission": submission, "script": script}))
}

fn timeless(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !LEFT_OUT.split(' ').any(|left_out| left_out == key));
            fields.values_mut().for_each(timeless);
        }
        Value::Array(items) => items.iter_mut().for_each(timeless),
        _ => {}
    }
}
