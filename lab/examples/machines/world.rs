//! A run folder, data, and fleets whose runners are the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star::event::RunnerState;
use mle_star::slots::{Exclusivity, Lease, Share, Slots};
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::runners::entry::{RunnerEntry, selected};
use mle_star_backends::runners::fleet::Fleet;
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_domain::effects::{DataView, Purpose, ScriptEnd, ScriptOutcome, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::slot::Slot;
use mle_star_process::machine::machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;
use serde_json::json;

use super::{Failure, Words};

/// Fails unless a worker forked the process: only a worker freezes what it has imported.
const IS_WARM: &str = "import gc\nprint('warm' if gc.get_freeze_count() else 'cold')\n";

pub struct World {
    folder: tempfile::TempDir,
    setup: ScriptSetup,
    command: Vec<String>,
    /// Every script has its own place.
    places: AtomicUsize,
}

/// A fleet without slots on this machine, with the run that uses it.
pub struct OnFleet {
    pub fleet: Fleet,
    pub share: Share,
    pub scripts: ScriptBackend,
}

impl World {
    /// With a small table as data.
    pub async fn new(words: &Words, is_warm: bool) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("data"))?;
        fs::write(folder.path().join("data/train.csv"), "id,y\n1,0\n".repeat(1000))?;
        let cache = format!("MLE_STAR_CACHE={}", folder.path().join("cache").display());
        let program = words.program.canonicalize().map_err(|error| {
            format!("{}: {error}; `cargo build --release` makes it", words.program.display())
        })?;
        let runner = ["env".to_owned(), cache, program.display().to_string(), "runner".to_owned()];
        let given = EnvironmentChoice::Given(words.python.clone());
        let setup = ScriptSetup {
            run_folder: folder.path().join("run"),
            data_dir: folder.path().join("data"),
            environment: python_environment(given, &|_| ()).await?,
            machine: machine().await,
            slots: 1,
            sample_submission: None,
            id_column: None,
            memory_limit_mib: None,
            warm_start: is_warm.then(WarmStart::default),
            isolation: Isolation::new(Network::Denied),
            evaluation: None,
            fleet: None,
        };
        let command = words.prefix.iter().cloned().chain(runner).collect();
        Ok(Self { folder, setup, command, places: AtomicUsize::new(0) })
    }

    pub fn data(&self) -> &Path {
        &self.setup.data_dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A run whose scripts run here.
    pub fn here(&self) -> Result<ScriptBackend, Failure> {
        Ok(ScriptBackend::new(ScriptSetup { run_folder: self.path("run-here"), ..self.setup.clone() })?)
    }

    /// A run whose scripts run on so many runners.
    pub fn fleet(&self, count: usize, options: &[&str]) -> Result<OnFleet, Failure> {
        let command: Vec<&str> =
            self.command.iter().map(String::as_str).chain(options.iter().copied()).collect();
        let entries = json!([{"name": "near", "command": command, "count": count, "idle_timeout": 600}]);
        let entries: Vec<RunnerEntry> = serde_json::from_value(entries)?;
        let slots = Slots::new(0);
        let share = slots.share(0);
        let fleet = Fleet::new(selected(&entries, &[])?, slots);
        let run_folder = self.path(&format!("run-{count}"));
        let setup = ScriptSetup { run_folder, fleet: Some(fleet.clone()), ..self.setup.clone() };
        Ok(OnFleet { fleet, share, scripts: ScriptBackend::new(setup)? })
    }

    /// The entry of one runner.
    pub fn entry(&self) -> Result<RunnerEntry, Failure> {
        Ok(serde_json::from_value(json!({"name": "near", "command": self.command}))?)
    }

    /// Runs a script. Fails if the script does.
    pub async fn run(
        &self,
        scripts: &ScriptBackend,
        script: &str,
        slot: Slot,
    ) -> Result<ScriptOutcome, Failure> {
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        let request = ScriptRequest {
            place: Place::from(format!("phase1/candidate-{number}/run").as_str()),
            script: script.to_owned(),
            purpose: Purpose::Score,
            timeout: Duration::from_secs(600),
            slot,
            data: DataView::Search,
        };
        let outcome = scripts.run(&request).await?;
        if outcome.end != (ScriptEnd::Exited { code: 0 }) || !outcome.notes.is_empty() {
            return Err(
                format!("{}: {:?} {}", outcome.end.words(), outcome.notes, outcome.stderr.text()).into()
            );
        }
        Ok(outcome)
    }

    /// Whether a worker forks a script.
    pub async fn is_warm(&self, scripts: &ScriptBackend, slot: Slot) -> Result<bool, Failure> {
        Ok(self.run(scripts, IS_WARM, slot).await?.stdout.head.starts_with("warm"))
    }
}

impl OnFleet {
    /// A slot of a runner, within a minute.
    pub async fn lease(&self) -> Result<Lease, Failure> {
        let lease = self.share.lease(None, Exclusivity::Shared);
        match tokio::time::timeout(Duration::from_secs(120), lease).await {
            Ok(lease) => Ok(lease),
            Err(_) => Err(format!("no slot became free: {:?}", self.fleet.watch().0).into()),
        }
    }

    /// Slots of so many runners.
    pub async fn leases(&self, count: usize) -> Result<Vec<Lease>, Failure> {
        futures_util::future::join_all((0..count).map(|_| self.lease())).await.into_iter().collect()
    }

    /// Starts all runners, and waits until the workers of all of them are ready.
    pub async fn warm_up(&self, world: &World, count: usize) -> Result<(), Failure> {
        for lease in self.leases(count).await? {
            // A worker that is not ready now is not waited for by a script.
            let mut tries = 0;
            while !world.is_warm(&self.scripts, lease.slot()).await? {
                tries += 1;
                if tries > 100 {
                    return Err("scripts of a runner do not start warm".into());
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        }
        Ok(())
    }

    /// Ends the runners. Fails if one was lost before.
    pub async fn end(&self) -> Result<(), Failure> {
        let lost = self.fleet.watch().0.into_iter().find(|one| one.state != RunnerState::Ready);
        self.fleet.end().await;
        lost.map_or(Ok(()), |lost| Err(format!("a runner was lost: {lost:?}").into()))
    }
}
