//! Warm start: Python processes that have imported the usual libraries and fork a new process for each script.
//!
//! Each slot has one [`Worker`], which is the supervisor of the script it runs. If anything fails, a script starts cold;
//! after two failures of workers, all do. `python/worker.py` is the worker's side.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::machine::Machine;
use crate::process_tree::ProcessTree;
pub use failure::Failure;
use modules::{DEFAULT, TORCH, packages, worth_importing};
pub use worker::{BusyWorker, Worker, WorkerSetup, remove_left};

mod confinement_fields;
mod failure;
mod modules;
pub(crate) mod stall;
mod worker;

/// The limit on workers of this process. Each takes the memory of its libraries.
static WORKERS: Semaphore = Semaphore::const_new(16);
/// After this many failures of workers, all scripts start cold.
const MAX_FAILURES: u32 = 2;
/// How long a script waits for a worker that has its libraries and forks the next process. Usually it takes ten
/// milliseconds.
const FORK_TIMEOUT: Duration = Duration::from_millis(250);

/// How scripts are started warm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarmStart {
    /// Modules to import before it is known what the scripts import. Modules that are not installed are skipped.
    pub modules: Vec<String>,
    /// A script that neither uses a processor nor prints for this long is assumed to hang because of the warm start.
    /// It is killed and run cold once.
    pub stall: Duration,
}

impl Default for WarmStart {
    fn default() -> Self {
        let modules = DEFAULT.iter().map(|name| (*name).to_owned()).collect();
        Self { modules, stall: Duration::from_secs(60) }
    }
}

impl WarmStart {
    /// For scripts on this machine. Where there are GPUs, they use torch sooner or later, and it takes longer to import
    /// than most of these scripts wait for a language model.
    pub fn on(machine: &Machine) -> Self {
        let mut start = Self::default();
        if !machine.gpus.is_empty() {
            start.modules.extend(TORCH.map(str::to_owned));
        }
        start
    }
}

/// The workers of all slots.
#[derive(Debug)]
pub struct WarmWorkers {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    slots: HashMap<usize, Slot>,
    /// The modules that workers import.
    wanted: BTreeSet<String>,
    failures: u32,
    /// A sentence about the last failure, for people.
    note: Option<String>,
}

/// The workers of one slot.
#[derive(Debug, Default)]
struct Slot {
    /// The worker that is being started.
    new: Option<Starting>,
    /// The worker that ran a script and prepares for the next; `None` while it runs one.
    old: Option<Starting>,
    /// The packages that the newest worker imports.
    packages: BTreeSet<String>,
}

/// A worker that will be ready. Dropping this ends it.
#[derive(Debug)]
struct Starting(JoinHandle<Result<Worker, Failure>>);

impl WarmWorkers {
    /// Workers that import `modules` at first.
    pub fn new(modules: &[String]) -> Self {
        let wanted = modules.iter().cloned().collect();
        Self { state: Mutex::new(State { wanted, ..State::default() }) }
    }

    /// Starts a worker for `slot` in the background, unless it has one with the packages that the scripts import,
    /// workers have failed too often, or there are too many.
    pub fn warm_up(&self, slot: usize, setup: impl FnOnce() -> WorkerSetup) {
        let mut state = self.state();
        let (wanted, packages) = (state.wanted.clone(), packages(&state.wanted));
        let mine = state.slots.entry(slot).or_default();
        let has_one = mine.new.is_some() || mine.old.is_some() && packages.is_subset(&mine.packages);
        if state.failures >= MAX_FAILURES || has_one {
            return;
        }
        if let Ok(permit) = WORKERS.try_acquire() {
            let start = Worker::start(setup(), wanted, permit);
            let mine = state.slots.entry(slot).or_default();
            (mine.new, mine.packages) = (Some(Starting(tokio::spawn(start))), packages);
        }
    }

    /// The worker of `slot`, if one is ready. A script starts cold rather than wait for imports.
    pub async fn take(&self, slot: usize) -> Option<Worker> {
        if let Some(mut new) = self.start_worker(slot) {
            match outcome(&mut new).await {
                Ok(worker) => {
                    let old = self.state().slots.get_mut(&slot).and_then(|slot| slot.old.take());
                    drop(old);
                    return Some(worker);
                }
                Err(failure) => self.failed(&failure.to_string()),
            }
        }
        let mut old = self.state().slots.get_mut(&slot)?.old.take()?;
        match timeout(FORK_TIMEOUT, outcome(&mut old)).await {
            Ok(Ok(worker)) => return Some(worker),
            Ok(Err(failure)) => self.failed(&failure.to_string()),
            Err(_) => self.state().slots.entry(slot).or_default().old = Some(old),
        }
        None
    }

    /// The new worker of `slot`, once it is ready or has failed.
    fn start_worker(&self, slot: usize) -> Option<Starting> {
        let mut state = self.state();
        let mine = state.slots.get_mut(&slot)?;
        mine.new.take_if(|new| new.0.is_finished())
    }

    /// Keeps the worker that ran the script in `tree` for the next script of `slot`.
    pub fn give_back(&self, slot: usize, worker: BusyWorker, tree: ProcessTree) {
        let again = Starting(tokio::spawn(worker.ready_again(tree)));
        self.state().slots.entry(slot).or_default().old = Some(again);
    }

    /// Is a worker of `slot` being started or prepared?
    pub fn is_starting(&self, slot: usize) -> bool {
        let state = self.state();
        let is_starting = |it: &Option<Starting>| it.as_ref().is_some_and(|it| !it.0.is_finished());
        state.slots.get(&slot).is_some_and(|slot| is_starting(&slot.new) || is_starting(&slot.old))
    }

    /// Remembers what `script` imports.
    pub fn learn(&self, script: &str) {
        self.state().wanted.extend(worth_importing(script));
    }

    /// Counts a failure of a worker.
    pub fn failed(&self, reason: &str) {
        let mut state = self.state();
        state.failures += 1;
        let rest = if state.failures < MAX_FAILURES { "" } else { ", and all later ones will be" };
        state.note = Some(format!("warm start failed ({reason}): the script was started cold{rest}"));
    }

    /// A sentence about the last failure for people, once.
    pub fn note(&self) -> Option<String> {
        self.state().note.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn outcome(starting: &mut Starting) -> Result<Worker, Failure> {
    (&mut starting.0).await?
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Settings that libraries read on import. A worker has imported them already.
const READ_AT_IMPORT: [&str; 9] = [
    "_NUM_THREADS",
    "OMP_",
    "KMP_",
    "MKL_",
    "OPENBLAS_",
    "MPLBACKEND",
    "NUMBA_",
    "SCIPY_ARRAY_API",
    "PYTORCH_",
];

/// Does the script behave the same in a worker? One that changes settings before it imports libraries does not.
pub fn can_start_warm(script: &str) -> bool {
    let early = READ_AT_IMPORT.iter().any(|name| script.contains(name));
    let sets = script.split("environ").skip(1).any(|after| !after.starts_with(".get("));
    !(early && (sets || script.contains("putenv"))) && !script.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_a_worker_would_change_start_cold() {
        let check = |script: &str, expected: bool| assert_eq!(can_start_warm(script), expected, "{script:?}");
        check("import os; print(os.environ['HOME'])", true);
        check("import os; os.environ['CUDA_LAUNCH_BLOCKING'] = '1'", true);
        check("print('OMP_NUM_THREADS')", true);
        check("import os; threads = int(os.environ.get('OMP_NUM_THREADS') or 1)", true);
        check("import os; os.environ['OMP_NUM_THREADS'] = '1'", false);
        check("import os; os.environ.setdefault('MPLBACKEND', 'Agg')", false);
        check("print('\0')", false);
    }
}
