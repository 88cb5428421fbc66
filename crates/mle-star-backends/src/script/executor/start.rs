//! Starts a script's process. If its slot has a worker that is ready, a Python process that has imported the usual
//! libraries, the worker forks the script; otherwise the script starts cold, in a new interpreter.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use mle_star_domain::layout;
use mle_star_process::cgroup::Group;
use mle_star_process::sandbox::{Isolation, Network, Sandbox};
use mle_star_process::variables::{Share, variables};
use mle_star_process::warm::{self, BusyWorker, Worker, WorkerSetup};
use mle_star_process::{ProcessTree, Streams, Talk};
use tokio::process::Command;

use super::{Executor, Job, Workplace};

/// How much a module that is talked to may write to one file, in MiB.
const DISK_MIB: u64 = 4 << 10;

/// The variable with the memory that such a module may use, in MiB.
const MEMORY_LIMIT: &str = "MLE_STAR_MEMORY_MIB";

/// A running script.
pub(super) struct StartedScript {
    pub(super) tree: ProcessTree,
    pub(super) streams: Streams,
    /// The worker that forked it; `None` if it started cold.
    pub(super) busy: Option<BusyWorker>,
}

impl Executor {
    /// Begins to start the first slot's worker, so that it may be ready for the first script. The worker of another
    /// slot starts when the slot gets its first script.
    pub fn warm_up(&self) {
        self.warm_up_slot(0);
    }

    /// Waits until the worker of `slot` is ready, or has failed; for measurements.
    pub async fn warmed_up(&self, slot: usize) {
        self.warm_up_slot(slot);
        while self.warm.as_ref().is_some_and(|warm| warm.is_starting(slot)) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    /// The worker for the script, if one is ready.
    pub(super) async fn worker(&self, job: &Job) -> Option<Worker> {
        let suits = job.may_be_warm && warm::can_start_warm(&job.script);
        let warm = self.warm.as_ref().filter(|_| suits)?;
        // The next worker imports what this script does.
        warm.learn(&job.script);
        self.warm_up_slot(job.slot);
        warm.take(job.slot).await
    }

    /// Starts the script, by the worker if there is one.
    pub(super) async fn start(
        &self,
        job: &Job,
        workplace: &Workplace,
        disk_mib: u64,
        group: Option<&Group>,
        worker: Option<Worker>,
    ) -> io::Result<StartedScript> {
        let confinement =
            || self.sandbox.confinement(workplace.folder(), workplace.readable(), disk_mib, group);
        let mut variables = self.variables(job.slot, &workplace.home(), workplace.temporary());
        if !job.modules.is_empty() {
            put_first(&mut variables, &workplace.modules());
        }
        if let Some(worker) = worker {
            // If the worker fails, the script starts cold.
            let started = worker.run(workplace.folder(), &variables, &confinement()?).await;
            if let Ok((tree, streams, busy)) = started {
                return Ok(StartedScript { tree, streams, busy: Some(busy) });
            }
        }
        let command = self.command(workplace.folder(), variables);
        let (tree, streams) = ProcessTree::spawn_confined(command, Stdio::null(), confinement()?)?;
        Ok(StartedScript { tree, streams, busy: None })
    }

    /// Starts a Python module that lies in `folder`, isolated like a script and without network, to talk to it. It may also read `readable`.
    pub(crate) fn talk(
        &self,
        python: &Path,
        module: &str,
        folder: &Path,
        readable: &[PathBuf],
    ) -> io::Result<Talk> {
        let isolation = Isolation { network: Network::Denied, ..self.setup.isolation.clone() };
        let sandbox = Sandbox::new(isolation, python, &[], &self.setup.machine);
        let confinement = sandbox.confinement(folder, readable.iter().cloned(), DISK_MIB, None)?;
        let mut variables = self.variables(0, folder, folder);
        put_first(&mut variables, folder);
        if let Some(most) = self.setup.memory_limit_mib {
            variables.push((MEMORY_LIMIT.into(), most.to_string().into()));
        }
        let mut command = Command::new(python);
        command.args(["-m", module]).current_dir(folder).env_clear().envs(variables);
        Talk::start_confined(command, confinement)
    }

    fn variables(&self, slot: usize, home: &Path, temporary: &Path) -> Vec<(OsString, OsString)> {
        let setup = &self.setup;
        let share = Share::of(&setup.machine, setup.slots, slot);
        variables(env::vars_os(), setup.environment.removed_variables(), &share, home, temporary)
    }

    fn command(&self, folder: &Path, variables: Vec<(OsString, OsString)>) -> Command {
        let mut command = Command::new(&self.setup.environment.python);
        command.arg(layout::SOLUTION).current_dir(folder).env_clear().envs(variables);
        command
    }

    fn warm_up_slot(&self, slot: usize) {
        let Some(warm) = &self.warm else { return };
        warm.warm_up(slot, || {
            let folder = self.setup.folder.join(layout::WORK);
            let variables = self.variables(slot, &folder, &folder);
            let python_path =
                variables.iter().find(|(name, _)| name == "PYTHONPATH").map(|(_, path)| path.clone());
            let command = self.command(&folder, variables);
            WorkerSetup { command, folder, python_path, namespaces: self.sandbox.namespaces() }
        });
    }

    /// Gives the worker back when the script in `tree` has ended, unless the worker caused the end. Returns why the
    /// script then has to be run again, cold.
    pub(super) fn release_worker(
        &self,
        slot: usize,
        busy: Option<BusyWorker>,
        tree: ProcessTree,
        worker_fault: Option<&str>,
    ) -> Option<String> {
        let busy = busy?;
        if let Some(why) = worker_fault {
            return Some(busy.complaint().unwrap_or_else(|| why.to_owned()));
        }
        if let Some(warm) = &self.warm {
            warm.give_back(slot, busy, tree);
        }
        None
    }
}

/// Puts a folder of modules first in PYTHONPATH.
fn put_first(variables: &mut Vec<(OsString, OsString)>, modules: &Path) {
    let mut path = modules.as_os_str().to_owned();
    if let Some(at) = variables.iter().position(|(name, _)| name == "PYTHONPATH") {
        path.push(":");
        path.push(variables.remove(at).1);
    }
    variables.push(("PYTHONPATH".into(), path));
}
