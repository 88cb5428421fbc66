//! Warm start: Python processes that have imported the usual libraries and fork a fresh process for each script.
//!
//! Each slot has one [`Worker`], which is the guard of the script it runs. What cannot go well warm goes cold, and
//! so does everything once workers have failed twice. `python/worker.py` is the worker's side.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mle_star::effects::{Purpose, ScriptRequest};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::process::Tree;
use modules::{DEFAULT, packages, worth_importing};
pub(super) use worker::{Resting, Worker, WorkerSetup, remove_left};

#[cfg(target_os = "linux")]
mod bounds;
mod modules;
pub(super) mod progress;
#[cfg_attr(not(target_os = "linux"), path = "warm/elsewhere.rs")]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody starts a worker there"))]
mod worker;

/// How many workers this process has at most, in all of its runs: each one takes the memory of its libraries.
static WORKERS: Semaphore = Semaphore::const_new(16);
/// After so many failures of workers all scripts start cold.
const FAILURES: u32 = 2;
/// How long a script waits for a worker that has its libraries and forks the next guard: ten milliseconds as a rule.
const FORKING: Duration = Duration::from_millis(250);

/// How scripts are started warm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarmStart {
    /// Modules to import before it is known what the run's scripts import; those that are not installed are left out.
    pub modules: Vec<String>,
    /// A script that neither uses a processor nor prints for so long is taken to hang because of the warm start,
    /// killed and run cold once.
    pub patience: Duration,
}

impl Default for WarmStart {
    fn default() -> Self {
        let modules = DEFAULT.iter().map(|name| (*name).to_owned()).collect();
        Self { modules, patience: Duration::from_secs(60) }
    }
}

/// The workers of a run.
#[derive(Debug)]
pub(super) struct Warm {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    slots: HashMap<usize, Slot>,
    /// What workers are to import.
    wanted: BTreeSet<String>,
    failures: u32,
    /// What people should hear of a failure.
    note: Option<String>,
}

/// The workers of one slot.
#[derive(Debug, Default)]
struct Slot {
    /// The one that is being started.
    new: Option<Coming>,
    /// The one that ran a script and gets ready for the next; away while it runs one.
    old: Option<Coming>,
    /// The packages that the newest one imports.
    packages: BTreeSet<String>,
}

/// A worker that will be ready; dropping this ends it.
#[derive(Debug)]
struct Coming(JoinHandle<Result<Worker, String>>);

impl Warm {
    /// Workers that import `modules` to begin with.
    pub(super) fn new(modules: &[String]) -> Self {
        let wanted = modules.iter().cloned().collect();
        Self { state: Mutex::new(State { wanted, ..State::default() }) }
    }

    /// Starts a worker for `slot` in the background, unless there is one that has the packages that the
    /// run's scripts import, workers have failed too often, or there are too many.
    pub(super) fn warm_up(&self, slot: usize, setup: impl FnOnce() -> WorkerSetup) {
        let mut state = self.state();
        let (wanted, packages) = (state.wanted.clone(), packages(&state.wanted));
        let mine = state.slots.entry(slot).or_default();
        let is_there = mine.new.is_some() || mine.old.is_some() && packages.is_subset(&mine.packages);
        if state.failures >= FAILURES || is_there {
            return;
        }
        if let Ok(permit) = WORKERS.try_acquire() {
            let start = Worker::start(setup(), wanted, permit);
            let mine = state.slots.entry(slot).or_default();
            (mine.new, mine.packages) = (Some(Coming(tokio::spawn(start))), packages);
        }
    }

    /// The worker of `slot`, if one is ready. A script starts cold rather than wait for imports.
    pub(super) async fn take(&self, slot: usize) -> Option<Worker> {
        if let Some(mut new) = self.started(slot) {
            match outcome(&mut new).await {
                Ok(worker) => {
                    let old = self.state().slots.get_mut(&slot).and_then(|slot| slot.old.take());
                    drop(old);
                    return Some(worker);
                }
                Err(reason) => self.failed(&reason),
            }
        }
        let mut old = self.state().slots.get_mut(&slot)?.old.take()?;
        match timeout(FORKING, outcome(&mut old)).await {
            Ok(Ok(worker)) => return Some(worker),
            Ok(Err(reason)) => self.failed(&reason),
            Err(_) => self.state().slots.entry(slot).or_default().old = Some(old),
        }
        None
    }

    /// The new worker of `slot`, once it is ready or has failed.
    fn started(&self, slot: usize) -> Option<Coming> {
        let mut state = self.state();
        let mine = state.slots.get_mut(&slot)?;
        mine.new.take_if(|new| new.0.is_finished())
    }

    /// Keeps the worker that ran the script in `tree` for the next script of `slot`.
    pub(super) fn give_back(&self, slot: usize, worker: Resting, tree: Tree) {
        let again = Coming(tokio::spawn(worker.again(tree)));
        self.state().slots.entry(slot).or_default().old = Some(again);
    }

    /// Is a worker of `slot` on its way?
    pub(super) fn is_coming(&self, slot: usize) -> bool {
        let state = self.state();
        let on_its_way = |coming: &Option<Coming>| coming.as_ref().is_some_and(|it| !it.0.is_finished());
        state.slots.get(&slot).is_some_and(|slot| on_its_way(&slot.new) || on_its_way(&slot.old))
    }

    /// Remembers what `script` imports.
    pub(super) fn learn(&self, script: &str) {
        self.state().wanted.extend(worth_importing(script));
    }

    /// Counts a failure of a worker.
    pub(super) fn failed(&self, reason: &str) {
        let mut state = self.state();
        state.failures += 1;
        let rest = if state.failures < FAILURES { "" } else { ", as are all others from now on" };
        state.note = Some(format!("warm start failed ({reason}): the script was started cold{rest}"));
    }

    /// What people should hear of the last failure, once.
    pub(super) fn note(&self) -> Option<String> {
        self.state().note.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn outcome(coming: &mut Coming) -> Result<Worker, String> {
    (&mut coming.0).await.unwrap_or_else(|error| Err(error.to_string()))
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Settings that libraries read when they are imported; in a worker that has been.
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

/// Is the script one to be started warm? Not the one that makes the submission: it is what the user gets, and runs
/// once as the user will run it.
pub(super) fn suits(request: &ScriptRequest) -> bool {
    let script = &request.script;
    let sets_variables = script.contains("environ") || script.contains("putenv");
    let early = sets_variables && READ_AT_IMPORT.iter().any(|name| script.contains(name));
    request.purpose != Purpose::Submission && !early && !script.contains('\0')
}

#[cfg(test)]
mod tests {
    use mle_star::place::Place;

    use super::*;

    #[test]
    fn scripts_that_a_worker_would_change_start_cold() {
        let check = |script: &str, purpose: Purpose, expected: bool| {
            let (place, script) = (Place::root(), script.to_owned());
            let request = ScriptRequest { place, script, purpose, timeout: Duration::ZERO, slot: 0 };
            assert_eq!(suits(&request), expected, "{request:?}");
        };
        check("import os; print(os.environ['HOME'])", Purpose::Score, true);
        check("import os; os.environ['CUDA_LAUNCH_BLOCKING'] = '1'", Purpose::Ablation, true);
        check("print('OMP_NUM_THREADS')", Purpose::Score, true);
        check("import os; os.environ['OMP_NUM_THREADS'] = '1'", Purpose::Score, false);
        check("import os; os.environ.setdefault('MPLBACKEND', 'Agg')", Purpose::Ablation, false);
        check("print('\0')", Purpose::Score, false);
        check("print(1)", Purpose::Submission, false);
    }
}
