//! A small task, the real binary, and the invariants to check after every fault.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mle_star::journal::{EffectRecord, EffectState, Kind, Snapshot, read};
use serde_json::Value;

use super::Figures;

/// A result with any error.
pub type Res<T> = Result<T, Box<dyn Error + Send + Sync>>;

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

/// An undisturbed run.
pub struct Baseline {
    binary: PathBuf,
    outcome: Value,
    places: BTreeSet<String>,
    /// The time it took.
    pub took: Duration,
    /// Its folder.
    pub world: World,
}

/// A folder with the task, an interpreter and a runs directory.
pub struct World {
    dir: tempfile::TempDir,
    binary: PathBuf,
}

/// The outcome of a command. Displayed without its events.
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Random numbers that a seed determines.
pub struct Random(u64);

impl Baseline {
    /// Solves the task without faults. Cargo puts the binary one folder above its examples.
    pub fn make() -> Res<Self> {
        let example = std::env::current_exe()?;
        let folder = example.parent().and_then(Path::parent).ok_or("no folder above that of the examples")?;
        let binary = folder.join("mle-star");
        let world = World::new(&binary)?;
        let began = Instant::now();
        let said = world.run(&world.begin("r"))?;
        let took = began.elapsed();
        if said.code != Some(0) {
            return Err(format!("{said}").into());
        }
        let (outcome, snapshot) = (outcome(&world.path("runs/r"))?, read(&world.path("runs/r"))?);
        let places = ended(&snapshot).into_keys().collect();
        Ok(Self { binary, outcome, places, took, world })
    }

    /// A fresh world for one fault.
    pub fn fresh(&self) -> Res<World> {
        World::new(&self.binary)
    }

    /// A random moment of a run.
    pub fn moment(&self, random: &mut Random) -> Duration {
        self.took.mul_f64(random.unit())
    }

    /// Checks a run folder that should be like the undisturbed one; `before` is what its journal held at the fault.
    pub fn check(
        &self,
        figures: &mut Figures,
        folder: &Path,
        before: &[EffectRecord],
        what: &str,
    ) -> Res<()> {
        let problems = figures.problems.len();
        figures.must(outcome(folder)? == self.outcome, || format!("{what}: the result is another one"));
        let snapshot = read(folder)?;
        figures.must(snapshot.damage.is_none(), || format!("{what}: {:?}", snapshot.damage));
        let ended = ended(&snapshot);
        let places: BTreeSet<String> = ended.keys().cloned().collect();
        figures.must(places == self.places, || format!("{what}: other places: {places:?}"));
        for (place, times) in ended.iter().filter(|(_, times)| **times > 1) {
            figures.repeated += times - 1;
            figures.problems.push(format!("{what}: {place} ended {times} times"));
        }
        for record in before.iter().filter(|record| record.state == EffectState::Ended) {
            let kept = snapshot.effects.contains(record);
            figures.must(kept, || format!("{what}: the record of {} was lost", record.place));
        }
        figures.redone += snapshot.effects.iter().filter(|record| record.state == EffectState::Void).count();
        if figures.problems.len() == problems {
            figures.completed += 1;
        }
        Ok(())
    }
}

impl fmt::Display for Said {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.stderr.lines().rev().take(6).collect();
        write!(to, "exit {:?}, last lines first: {}", self.code, lines.join(" | "))
    }
}

impl World {
    fn new(binary: &Path) -> Res<Self> {
        let dir = tempfile::Builder::new().prefix("faults").tempdir()?;
        let world = Self { dir, binary: binary.to_owned() };
        fs::create_dir_all(world.path("data"))?;
        for (name, text) in FILES {
            fs::write(world.path(name), text)?;
        }
        let python = world.path("python");
        let path = python.display();
        fs::write(
            &python,
            format!(
                "#!/bin/sh\ncase \"$*\" in\n  *importlib.metadata*) echo '[[\"scikit-learn\", \"1.0\"]]' ;;\n  \
                 *sysconfig*) echo '[\"{path}\", [3, 11, 0], \"linux-x86_64\"]' ;;\n  \
                 *) sum=$(cksum < solution.py); sleep 0.03; mkdir -p final\n    \
                 cp input/sample_submission.csv final/submission.csv || exit 1\n    \
                 echo \"Final Validation Performance: 0.${{sum%% *}}\" ;;\nesac\n"
            ),
        )?;
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755))?;
        Ok(world)
    }

    /// A path in the world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// The task folder. It has the same name in every world, because a task without a name is named after its
    /// folder.
    fn root(&self) -> PathBuf {
        self.dir.path().join("small")
    }

    /// The command line that begins a run.
    pub fn begin(&self, id: &str) -> String {
        format!("{} --jobs 2", self.begin_anywhere(id))
    }

    /// The command line that begins a run whose scripts all run on the runners of `runners.yaml`.
    pub fn begin_elsewhere(&self, id: &str) -> String {
        format!("{} --set max_concurrent_scripts=0 --config runners.yaml", self.begin_anywhere(id))
    }

    fn begin_anywhere(&self, id: &str) -> String {
        format!("run data --run-id {id} --json --set python={} {SEARCH}", self.path("python").display())
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
        self.sealed(&self.binary, line.split_whitespace())
    }

    /// A shell script in the same environment, with `$BINARY`.
    pub fn shell(&self, wrapper: &[&str], script: &str) -> Command {
        let (program, rest) = wrapper.split_first().unwrap_or((&"sh", &[]));
        let last = if wrapper.is_empty() { vec!["-c", script] } else { vec!["sh", "-c", script] };
        self.sealed(Path::new(program), rest.iter().copied().chain(last))
    }

    fn sealed<'a>(&self, program: &Path, arguments: impl Iterator<Item = &'a str>) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root()).env_clear().env("HOME", self.root());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("BINARY", &self.binary);
        command.stdin(Stdio::null());
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
        let text = |stream: &str| -> Res<String> {
            Ok(String::from_utf8_lossy(&fs::read(self.path(&format!("{name}.{stream}")))?).into_owned())
        };
        let said = Said { code, stdout: text("out")?, stderr: text("err")? };
        if ended { Ok(said) } else { Err(format!("no end after {PATIENCE:?}: {said}").into()) }
    }

    /// Runs the binary to its end.
    pub fn run(&self, line: &str) -> Res<Said> {
        self.finish(self.start(line, "said")?, "said")
    }

    /// Waits until this many events were printed.
    pub fn wait_for_events(&self, child: &mut Child, name: &str, lines: usize) -> Res<bool> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && child.try_wait()?.is_none() {
            let text = fs::read_to_string(self.path(&format!("{name}.out")))?;
            if text.lines().count() >= lines {
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

    /// Every effect whose end was printed must be in the journal, and no process may be left.
    pub fn check_cut(&self, figures: &mut Figures, name: &str, what: &str) -> Res<()> {
        let ended: BTreeSet<String> = self
            .records()
            .iter()
            .filter(|record| record.state == EffectState::Ended)
            .map(|record| record.place.to_string())
            .collect();
        for line in fs::read_to_string(self.path(&format!("{name}.out")))?.lines() {
            let event: Value = serde_json::from_str(line).unwrap_or_default();
            let ended_event =
                event["event"].as_str().is_some_and(|event| ["agent_ended", "script_ended"].contains(&event));
            let place = event["place"].as_str().unwrap_or_default();
            figures.must(!ended_event || ended.contains(place), || {
                format!("{what}: the end of {place} was printed but not recorded")
            });
        }
        self.check_left(figures, what);
        Ok(())
    }

    /// The command called `name` must not have started an effect that had ended before.
    pub fn check_not_repeated(&self, figures: &mut Figures, before: &[EffectRecord], name: &str) -> Res<()> {
        let ended: BTreeSet<&str> = before
            .iter()
            .filter(|record| record.state == EffectState::Ended && is_effect(record))
            .map(|record| record.place.as_str())
            .collect();
        for line in fs::read_to_string(self.path(&format!("{name}.out")))?.lines() {
            let event: Value = serde_json::from_str(line).unwrap_or_default();
            let begun = event["event"].as_str().is_some_and(|event| event.ends_with("_started"));
            let place = event["place"].as_str().unwrap_or_default();
            if begun && ended.contains(place) {
                figures.repeated += 1;
                figures.problems.push(format!("{place} was done again"));
            }
        }
        Ok(())
    }

    /// Resumes the run to its end and checks everything.
    pub fn resume_and_check(&self, baseline: &Baseline, figures: &mut Figures, what: &str) -> Res<()> {
        let before = self.records();
        let said = self.run(&self.go_on())?;
        figures.must(said.code == Some(0), || format!("{what}: resumed, it ended with {said}"));
        self.check_not_repeated(figures, &before, "said")?;
        if said.code == Some(0) {
            baseline.check(figures, &self.path("runs/r"), &before, what)?;
        }
        self.check_left(figures, what);
        Ok(())
    }

    /// Ten seconds later, no process of this world may be left.
    pub fn check_left(&self, figures: &mut Figures, what: &str) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let left = loop {
            let mut found = self.processes();
            found.extend(self.marked());
            if found.is_empty() || Instant::now() > deadline {
                break found;
            }
            sleep(Duration::from_millis(20));
        };
        figures.must(left.is_empty(), || format!("{what}: processes are left: {left:?}"));
    }

    /// Every process whose command line or environment names this world: its ID and name. The machines of runners
    /// are processes of this one.
    pub fn marked(&self) -> Vec<(i32, String)> {
        let folder = self.dir.path().display().to_string();
        let names = |path: PathBuf| {
            let text = fs::read(path).unwrap_or_default();
            text.windows(folder.len()).any(|part| part == folder.as_bytes())
        };
        running(|process| names(process.join("cmdline")) || names(process.join("environ")))
    }

    /// Every process that works in this world: its ID and name.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let Ok(here) = self.dir.path().canonicalize() else { return Vec::new() };
        running(|process| fs::read_link(process.join("cwd")).is_ok_and(|folder| folder.starts_with(&here)))
    }
}

/// The processes whose folder in `/proc` is meant: their IDs and names.
fn running(is_meant: impl Fn(&Path) -> bool) -> Vec<(i32, String)> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let known = |process: PathBuf| {
        let name = fs::read_to_string(process.join("comm")).ok()?;
        Some((process.file_name()?.to_str()?.parse().ok()?, name.trim().to_owned()))
    };
    all.filter(|process| is_meant(process)).filter_map(known).collect()
}

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed);
        random.bits();
        random
    }

    /// 64 bits (splitmix64).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() % (end.max(1) as u64)).unwrap_or_default()
    }

    /// In 0..1.
    pub fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.bits() >> 32).unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
    }
}

/// Waits for a process at most this long. Returns whether it ended.
pub fn ended_within(child: &mut Child, time: Duration) -> Res<bool> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        sleep(Duration::from_millis(2));
    }
    Ok(child.try_wait()?.is_some())
}

/// Is it an agent call or a script? Decisions and verdicts cost nothing.
fn is_effect(record: &EffectRecord) -> bool {
    matches!(record.kind, Kind::Agent | Kind::Script)
}

/// The number of records of each place, including discarded ones.
fn ended(snapshot: &Snapshot) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for effect in &snapshot.effects {
        if is_effect(effect) && effect.outcome.is_some() {
            *times.entry(effect.place.to_string()).or_insert(0) += 1;
        }
    }
    times
}

/// The result and the submission, without times and paths, and without what depends on where scripts run.
fn outcome(folder: &Path) -> Res<Value> {
    let mut result: Value = serde_json::from_str(&fs::read_to_string(folder.join("result.json"))?)?;
    timeless(&mut result);
    let submission = fs::read_to_string(folder.join("final/submission.csv"))?;
    let script = fs::read_to_string(folder.join("final/solution.py"))?;
    Ok(serde_json::json!({"result": result, "submission": submission, "script": script}))
}

fn timeless(value: &mut Value) {
    const LEFT_OUT: [&str; 9] = [
        "task",
        "config",
        "durations",
        "total_duration_seconds",
        "submission_path",
        "created_at",
        "at",
        "interrupted_calls",
        "kept_from",
    ];
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
            fields.values_mut().for_each(timeless);
        }
        Value::Array(items) => items.iter_mut().for_each(timeless),
        _ => {}
    }
}
