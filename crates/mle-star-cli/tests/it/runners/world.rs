//! A run folder with data, and a fleet whose runners are the real binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::slots::{Exclusivity, Lease, Slots};
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::runners::entry::{RunnerEntry, selected};
use mle_star_backends::runners::fleet::Fleet;
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_backends::script::evaluation::{EvaluationSetup, HoldoutSetup};
use mle_star_domain::effects::{DataView, Purpose, ScriptRequest};
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::slot::Slot;
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_tables::metrics::Metric;
use serde_json::{Value, json};

pub const PLACE: &str = "phase1/candidate-0/run";

pub struct World {
    pub folder: tempfile::TempDir,
    setup: ScriptSetup,
}

/// A fleet without slots on this machine.
pub struct TestFleet {
    pub fleet: Fleet,
    slots: Slots,
}

impl World {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data");
        fs::create_dir_all(data_dir.join("images")).unwrap();
        fs::write(data_dir.join("train.csv"), "id,y\n1,0\n2,1\n").unwrap();
        fs::write(data_dir.join("images/a.png"), [0_u8; 3000]).unwrap();
        fs::write(data_dir.join("empty.txt"), "").unwrap();
        fs::write(folder.path().join("sample.csv"), "id,y\n1,0.5\n2,0.5\n").unwrap();
        let given = EnvironmentChoice::Given("python3".into());
        let setup = ScriptSetup {
            run_folder: folder.path().join("run"),
            readable: vec![data_dir.clone()],
            data_dir,
            environment: python_environment(given, &|_| ()).await.unwrap(),
            machine: Machine { cores: 2, memory_mib: 4000, gpus: Vec::new() },
            slots: 1,
            sample_submission: Some(folder.path().join("sample.csv")),
            id_column: None,
            memory_limit_mib: None,
            warm_start: None,
            isolation: Isolation::new(Network::Denied),
            evaluation: None,
            fleet: None,
        };
        Self { folder, setup }
    }

    /// Holds out rows of a table with 3,000 rows, whose labels are 918273640000 and so on. Returns the folder with all rows.
    pub fn hold_out(&mut self) -> PathBuf {
        let root = self.folder.path().canonicalize().unwrap();
        let (original, folder) = (root.join("all"), root.join("run").join(layout::HOLDOUT));
        let (input, compared) = (folder.join(layout::INPUT), folder.join(layout::COMPARED));
        for folder in [&original, &input, &compared] {
            fs::create_dir_all(folder).unwrap();
        }
        let table = |path: PathBuf, header: &str, rows: &[u64], cells: fn(u64) -> String| {
            let rows: String = rows.iter().map(|n| format!("{n},{}\n", cells(*n))).collect();
            fs::write(path, format!("{header}\n{rows}")).unwrap();
        };
        let (held, kept): (Vec<u64>, Vec<u64>) = (0..3_000).partition(|row| row % 20 < 3);
        let (all, own): (Vec<u64>, Vec<u64>) = ((0..3_000).collect(), (3_000..3_400).collect());
        for (folder, train, test) in [(&original, &all, &own), (&input, &kept, &[&held[..], &own].concat())] {
            table(folder.join("train.csv"), "id,x,y", train, |n| {
                format!("{},{}", n % 7, 918_273_640_000 + n)
            });
            table(folder.join("test.csv"), "id,x", test, |n| (n % 7).to_string());
            table(folder.join("sample_submission.csv"), "id,y", test, |_| "0.5".to_owned());
        }
        let labels = folder.join(layout::LABELS);
        table(labels.clone(), "id,y", &held, |n| (918_273_640_000 + n).to_string());
        let (data_dir, sample) = (original.clone(), original.join("sample_submission.csv"));
        let closed = vec![original.clone()];
        let held_out = HoldoutSetup { data_dir, sample, is_period: false, labels, compared };
        let evaluation = Self::evaluation(input.join("train.csv"));
        self.setup.evaluation = Some(EvaluationSetup { holdout: Some(held_out), closed, ..evaluation });
        self.setup.sample_submission = Some(input.join("sample_submission.csv"));
        self.setup.id_column = Some("id".to_owned());
        (self.setup.data_dir, self.setup.readable) = (input, vec![original.clone()]);
        original
    }

    fn evaluation(train: PathBuf) -> EvaluationSetup {
        let (id, target) = (Some("id".to_owned()), "y".to_owned());
        EvaluationSetup {
            metric: Metric::Mae,
            metric_file: None,
            train,
            columns: LabelColumns { id, target, ..LabelColumns::default() },
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

    /// A number that no other test uses.
    pub fn number(&self) -> u64 {
        let digest = self.folder.path().as_os_str().as_encoded_bytes().iter();
        500_000 + digest.fold(0_u64, |sum, byte| (sum * 31 + u64::from(*byte)) % 400_000)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The cache of the runners.
    pub fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// The command of a runner with its own cache.
    pub fn command(&self, options: &[&str]) -> Vec<String> {
        let cache = format!("MLE_STAR_CACHE={}", self.cache().display());
        let words = ["env", &cache, env!("CARGO_BIN_EXE_mle-star"), "runner"];
        words.iter().chain(options).map(|word| (*word).to_owned()).collect()
    }

    /// The processes of its runners, by their cache: other tests have runners, too. Forks of a runner have its name.
    pub fn runners(&self) -> Vec<i32> {
        let cache = format!("MLE_STAR_CACHE={}", self.cache().display());
        let is_ours = |pid: &i32| {
            let found = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&found).contains(&cache)
        };
        let mut all = pids_with(&format!("{} runner", env!("CARGO_BIN_EXE_mle-star")));
        all.retain(is_ours);
        all
    }

    /// The same through a shell, which sees the runner as `"$@"`.
    pub fn through(&self, shell: &str, options: &[&str]) -> Vec<String> {
        let words = ["sh", "-c", shell, "sh"].map(str::to_owned);
        words.into_iter().chain(self.command(options)).collect()
    }

    pub fn fleet(&self, command: &[String], count: u32) -> TestFleet {
        self.fleet_of(json!([{"name": "near", "command": command, "count": count}]))
    }

    pub fn fleet_of(&self, entries: Value) -> TestFleet {
        self.fleet_with(entries, 0)
    }

    /// A fleet beside slots on this machine.
    pub fn fleet_with(&self, entries: Value, here: usize) -> TestFleet {
        let entries: Vec<RunnerEntry> = serde_json::from_value(entries).unwrap();
        let slots = Slots::new(here);
        TestFleet { fleet: Fleet::new(selected(&entries, &[]).unwrap(), slots.clone()), slots }
    }

    pub fn scripts(&self, fleet: Option<&TestFleet>) -> ScriptBackend {
        self.scripts_in("run", fleet)
    }

    pub fn scripts_in(&self, run: &str, fleet: Option<&TestFleet>) -> ScriptBackend {
        let fleet = fleet.map(|fleet| fleet.fleet.clone());
        let run_folder = self.path(run);
        ScriptBackend::new(ScriptSetup { fleet, run_folder, ..self.setup.clone() }).unwrap()
    }

    pub fn scripts_that_score(&self, fleet: Option<&TestFleet>) -> ScriptBackend {
        let evaluation = Self::evaluation(self.setup.data_dir.join("train.csv"));
        let fleet = fleet.map(|fleet| fleet.fleet.clone());
        ScriptBackend::new(ScriptSetup { fleet, evaluation: Some(evaluation), ..self.setup.clone() }).unwrap()
    }

    pub fn request(&self, script: &str, slot: Slot, timeout: Duration) -> ScriptRequest {
        self.request_at(PLACE, script, slot, timeout)
    }

    pub fn request_at(&self, place: &str, script: &str, slot: Slot, timeout: Duration) -> ScriptRequest {
        ScriptRequest {
            place: Place::from(place),
            script: script.to_owned(),
            purpose: Purpose::Score,
            timeout,
            time_left: timeout,
            slot,
            data: DataView::Search,
        }
    }

    /// The output of the last script.
    pub fn logs(&self) -> [Vec<u8>; 2] {
        let stem = Place::from(PLACE).file_stem();
        // Tracebacks name the folder of the script.
        ["stdout", "stderr"].map(|stream| {
            let log = fs::read(self.path(&format!("run/logs/{stem}.{stream}"))).unwrap();
            if stream == "stdout" {
                log
            } else {
                log.split(|byte| *byte == b'\n').next_back().unwrap().to_vec()
            }
        })
    }

    /// The kept predictions of the last script.
    pub fn validation(&self) -> String {
        let files = fs::read_dir(self.path("run/validation")).unwrap();
        let file =
            files.map(|file| file.unwrap().path()).find(|path| path.is_file()).expect("nothing is kept");
        fs::read_to_string(file).unwrap()
    }
}

impl TestFleet {
    pub async fn lease(&self) -> Lease {
        let lease = self.slots.lease(Exclusivity::Shared);
        tokio::time::timeout(Duration::from_secs(60), lease).await.unwrap_or_else(|_| {
            panic!("no slot became free: {:?}", self.details());
        })
    }

    /// The runners with their states.
    pub fn states(&self) -> BTreeMap<String, String> {
        let (runners, _) = self.fleet.watch();
        runners.into_iter().map(|runner| (runner.runner, format!("{:?}", runner.state))).collect()
    }

    /// The runners with what is known of them.
    pub fn details(&self) -> Vec<String> {
        let (runners, _) = self.fleet.watch();
        runners.into_iter().map(|one| format!("{} {:?}: {}", one.runner, one.state, one.detail)).collect()
    }

    /// Waits until a runner has this state, and returns what is known of it.
    pub async fn comes_to(&self, state: &str) -> String {
        for _ in 0..600 {
            let found = self.details().into_iter().find(|detail| detail.contains(&format!(" {state}: ")));
            if let Some(found) = found {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no runner is {state}: {:?}", self.details());
    }

    pub async fn end(&mut self) {
        self.fleet.end().await;
    }
}

/// How many processes have this in their command line.
pub fn processes_with(words: &str) -> usize {
    pids_with(words).len()
}

/// The processes that have this in their command line.
pub fn pids_with(words: &str) -> Vec<i32> {
    let line = |path: &Path| {
        let line = fs::read(path.join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    };
    let all = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let found = all.filter(|path| line(path).is_some_and(|line| line.contains(words)));
    found.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// Waits until a file is there.
pub async fn appears(path: &Path) {
    for _ in 0..600 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} does not appear", path.display());
}
