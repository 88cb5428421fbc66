//! How a script's process is started: by a worker of its slot when one is ready, cold otherwise.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

use mle_star::effects::ScriptRequest;
use tokio::process::Command;

use super::LocalRunner;
use crate::process::{Streams, Tree};
use crate::script::cgroup::Group;
use crate::script::variables::{Share, variables};
use crate::script::warm::{self, Resting, Worker, WorkerSetup};
use crate::script::workplace::{SCRIPT, Workplace};

/// A running script.
pub(super) struct Started {
    pub(super) tree: Tree,
    pub(super) streams: Streams,
    /// Of the worker that forked it.
    pub(super) resting: Option<Resting>,
}

impl LocalRunner {
    /// Begins to start the first slot's worker, so that it may be ready when the first script comes. The others
    /// are started when their first script comes.
    pub fn warm_up(&self) {
        self.warm_up_slot(0);
    }

    /// Waits until the worker of `slot` is ready, or has failed; for measurements.
    pub async fn warmed_up(&self, slot: usize) {
        self.warm_up_slot(slot);
        while self.warm.as_ref().is_some_and(|warm| warm.is_coming(slot)) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    /// The worker that is to run the script, when there is one that can.
    pub(super) async fn worker(&self, request: &ScriptRequest) -> Option<Worker> {
        let warm = self.warm.as_ref().filter(|_| warm::suits(request))?;
        warm.learn(&request.script);
        self.warm_up_slot(request.slot);
        warm.take(request.slot).await
    }

    /// Starts the script, by the worker when there is one.
    pub(super) async fn start(
        &self,
        slot: usize,
        workplace: &Workplace,
        disk_mib: u64,
        group: Option<&Group>,
        worker: Option<Worker>,
    ) -> io::Result<Started> {
        let confinement = || self.sandbox.confinement(workplace, disk_mib, group);
        let variables = self.variables(slot, &workplace.home(), workplace.temporary());
        if let Some(worker) = worker {
            let started = worker.run(workplace.folder(), &variables, &confinement()?).await;
            if let Ok((tree, streams, resting)) = started {
                return Ok(Started { tree, streams, resting: Some(resting) });
            }
        }
        let command = self.command(workplace.folder(), variables);
        let (tree, streams) = Tree::spawn_confined(command, Stdio::null(), confinement()?)?;
        Ok(Started { tree, streams, resting: None })
    }

    fn variables(&self, slot: usize, home: &Path, temporary: &Path) -> Vec<(OsString, OsString)> {
        let setup = &self.setup;
        let share = Share::of(&setup.machine, setup.slots, slot);
        variables(env::vars_os(), &setup.environment, &share, home, temporary)
    }

    fn command(&self, folder: &Path, variables: Vec<(OsString, OsString)>) -> Command {
        let mut command = Command::new(&self.setup.environment.python);
        command.arg(SCRIPT).current_dir(folder).env_clear().envs(variables);
        command
    }

    fn warm_up_slot(&self, slot: usize) {
        let Some(warm) = &self.warm else { return };
        warm.warm_up(slot, || {
            let folder = self.setup.run_folder.join("work");
            let variables = self.variables(slot, &folder, &folder);
            let python_path =
                variables.iter().find(|(name, _)| name == "PYTHONPATH").map(|(_, path)| path.clone());
            let command = self.command(&folder, variables);
            WorkerSetup { command, folder, python_path, namespaces: self.sandbox.namespaces() }
        });
    }

    /// What becomes of the worker when the script in `tree` has ended: it gets ready for the next one, unless the
    /// end was of its own making. Returns the reason why the script then has to be run again, cold.
    pub(super) fn settle(
        &self,
        slot: usize,
        resting: Option<Resting>,
        tree: Tree,
        spoiled: Option<&str>,
    ) -> Option<String> {
        let resting = resting?;
        if let Some(why) = spoiled {
            return Some(resting.complaint().unwrap_or_else(|| why.to_owned()));
        }
        if let Some(warm) = &self.warm {
            warm.give_back(slot, resting, tree);
        }
        None
    }
}
