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

use modules::{DEFAULT, worth_importing};
pub(super) use worker::{Resting, Worker, WorkerSetup};

mod modules;
pub(super) mod progress;
mod worker;

/// How many workers this process has at most, in all of its runs: each one takes the memory of its libraries.
static WORKERS: Semaphore = Semaphore::const_new(16);
/// After so many failures of workers all scripts start cold.
const FAILURES: u32 = 2;

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
    /// What runs when a slot is free; nothing while its worker runs a script.
    slots: HashMap<usize, Idle>,
    /// What workers are to import.
    wanted: BTreeSet<String>,
    failures: u32,
}

/// The worker of a slot without a script.
#[derive(Debug)]
enum Idle {
    Starting(Starting),
    Ready(Box<Worker>),
}

/// A worker that is being started; dropping this ends it.
#[derive(Debug)]
struct Starting(JoinHandle<Result<Worker, String>>);

impl Warm {
    /// Workers that import `modules` to begin with.
    pub(super) fn new(modules: &[String]) -> Self {
        let wanted = modules.iter().cloned().collect();
        Self { state: Mutex::new(State { wanted, ..State::default() }) }
    }

    /// Starts a worker for `slot` in the background, unless there is one, workers have failed too
    /// often, or there are too many.
    pub(super) fn warm_up(&self, slot: usize, setup: impl FnOnce() -> WorkerSetup) {
        let mut state = self.state();
        if state.failures < FAILURES && !state.slots.contains_key(&slot) {
            let Ok(permit) = WORKERS.try_acquire() else { return };
            let starting = Worker::start(setup(), state.wanted.clone(), permit);
            state.slots.insert(slot, Idle::Starting(Starting(tokio::spawn(starting))));
        }
    }

    /// The worker of `slot` once it is ready; `None` when none was started.
    ///
    /// # Errors
    /// A note on why the start failed.
    pub(super) async fn take(&self, slot: usize) -> Result<Option<Worker>, String> {
        let idle = self.state().slots.remove(&slot);
        let started = match idle {
            None => return Ok(None),
            Some(Idle::Ready(worker)) => return Ok(Some(*worker)),
            Some(Idle::Starting(mut start)) => (&mut start.0).await,
        };
        let started = started.unwrap_or_else(|error| Err(error.to_string()));
        started.map(Some).map_err(|reason| self.failed(&reason))
    }

    /// Keeps the worker for the next script of `slot`, unless it lacks what the run's scripts import.
    pub(super) fn give_back(&self, slot: usize, worker: Worker) {
        let mut state = self.state();
        if state.wanted.is_subset(worker.modules()) {
            state.slots.insert(slot, Idle::Ready(Box::new(worker)));
        }
    }

    /// Remembers what `script` imports.
    pub(super) fn learn(&self, script: &str) {
        self.state().wanted.extend(worth_importing(script));
    }

    /// Counts a failure of a worker; returns a note about it.
    pub(super) fn failed(&self, reason: &str) -> String {
        let mut state = self.state();
        state.failures += 1;
        let rest = if state.failures < FAILURES { "" } else { ", as will be all others" };
        format!("warm start failed ({reason}); the script was started cold{rest}")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Starting {
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
