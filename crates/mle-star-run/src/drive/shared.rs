//! What the runs of one process share: the machine, Python environments and slots.

use std::collections::HashMap;
use std::path::PathBuf;

use mle_star::slots::Slots;
use mle_star_backends::runners::entry::{RunnerEntry, selected};
use mle_star_backends::runners::fleet::Fleet;
use mle_star_backends::script::environment::Environment;
use mle_star_domain::config::Config;
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::{Machine, machine};
use tokio::sync::{Mutex, OnceCell};

use crate::error::RunError;
use crate::open_run::OpenRun;
use crate::python_environment::environment;

/// Shared by the runs of one process; each part is made when the first run needs it. There are as many slots as the
/// run with the highest limit allows; no run uses more than its own limit.
pub struct Shared {
    machine: OnceCell<Machine>,
    environments: Mutex<HashMap<Option<PathBuf>, Environment>>,
    script_slots: OnceCell<Slots>,
    agent_slots: Slots,
    /// The limit of each run; `None`: the default of the machine.
    script_limits: Vec<Option<u32>>,
    /// The runners of all runs. Each run may use them all.
    runners: Vec<RunnerEntry>,
    fleet: OnceCell<Fleet>,
}

impl Shared {
    /// What these runs share.
    ///
    /// # Errors
    /// Two runs use the same name for different runners.
    pub fn new(runs: &[&OpenRun]) -> Result<Self, Trouble> {
        let configs: Vec<&Config> = runs.iter().map(|run| &run.frozen.config).collect();
        let mut runners: Vec<RunnerEntry> = Vec::new();
        for entry in runs.iter().flat_map(|run| &run.runners) {
            if !runners.contains(entry) {
                runners.push(entry.clone());
            }
        }
        let runners = selected(&runners, &[])?;
        let most_agents = configs.iter().map(|config| config.max_concurrent_agents).max().unwrap_or(1);
        Ok(Self {
            machine: OnceCell::new(),
            environments: Mutex::default(),
            script_slots: OnceCell::new(),
            agent_slots: Slots::new(most_agents as usize),
            script_limits: configs.iter().map(|config| config.max_concurrent_scripts).collect(),
            runners,
            fleet: OnceCell::new(),
        })
    }

    /// Whether there is only one run.
    pub fn is_for_one_run(&self) -> bool {
        self.script_limits.len() == 1
    }

    /// This machine.
    pub async fn machine(&self) -> &Machine {
        self.machine.get_or_init(machine).await
    }

    /// Limits the scripts that run at once.
    pub async fn script_slots(&self) -> &Slots {
        let made = async {
            let suitable = self.machine().await.gpus.len().max(1);
            let each = self.script_limits.iter().map(|most| most.map_or(suitable, |most| most as usize));
            Slots::new(each.max().unwrap_or(1))
        };
        self.script_slots.get_or_init(|| made).await
    }

    /// Runners on other machines; `None` without any.
    pub async fn fleet(&self) -> Option<&Fleet> {
        if self.runners.is_empty() {
            return None;
        }
        let made = async { Fleet::new(self.runners.clone(), self.script_slots().await.clone()) };
        Some(self.fleet.get_or_init(|| made).await)
    }

    /// Ends the runners.
    pub async fn end(&self) {
        if let Some(fleet) = self.fleet.get() {
            fleet.end().await;
        }
    }

    /// Limits the agent calls at once.
    pub fn agent_slots(&self) -> &Slots {
        &self.agent_slots
    }

    /// The environment of the given interpreter, or the program's own; reports its creation to `say`.
    ///
    /// # Errors
    /// No usable Python, or the environment cannot be created.
    pub async fn environment(
        &self,
        python: Option<&PathBuf>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Environment, RunError> {
        let mut known = self.environments.lock().await;
        if let Some(environment) = known.get(&python.cloned()) {
            return Ok(environment.clone());
        }
        let made = environment(python, say).await?;
        known.insert(python.cloned(), made.clone());
        Ok(made)
    }
}
