//! What the runs of one process use together: the machine, Python environments, slots.

use std::collections::HashMap;
use std::path::PathBuf;

use mle_star::config::Config;
use mle_star::slots::Slots;
use mle_star_backends::script::environment::{
    Environment, EnvironmentChoice, check_python, python_environment,
};
use mle_star_process::machine::{Machine, machine};
use tokio::sync::{Mutex, OnceCell};

use crate::exit::Failure;

/// Found out or made when the first run needs it. The process has as many slots as the run that wants most; no run
/// holds more than its own configuration says.
pub struct Shared {
    machine: OnceCell<Machine>,
    environments: Mutex<HashMap<Option<PathBuf>, Environment>>,
    script_slots: OnceCell<Slots>,
    agent_slots: Slots,
    /// Of each run; `None`: what suits the machine.
    most_scripts: Vec<Option<u32>>,
}

impl Shared {
    /// For runs with these configurations.
    pub fn new(configs: &[&Config]) -> Self {
        let most_agents = configs.iter().map(|config| config.max_concurrent_agents).max().unwrap_or(1);
        Self {
            machine: OnceCell::new(),
            environments: Mutex::default(),
            script_slots: OnceCell::new(),
            agent_slots: Slots::new(most_agents as usize),
            most_scripts: configs.iter().map(|config| config.max_concurrent_scripts).collect(),
        }
    }

    /// Is nothing shared with other runs?
    pub fn is_for_one_run(&self) -> bool {
        self.most_scripts.len() == 1
    }

    /// This machine.
    pub async fn machine(&self) -> &Machine {
        self.machine.get_or_init(machine).await
    }

    /// Where scripts run.
    pub async fn script_slots(&self) -> &Slots {
        let made = async {
            let suitable = self.machine().await.gpus.len().max(1);
            let each = self.most_scripts.iter().map(|most| most.map_or(suitable, |most| most as usize));
            Slots::new(each.max().unwrap_or(1))
        };
        self.script_slots.get_or_init(|| made).await
    }

    /// Who may be asked at the same time.
    pub fn agent_slots(&self) -> &Slots {
        &self.agent_slots
    }

    /// The environment of the interpreter that was given, or the program's own; `say` hears of its making.
    ///
    /// # Errors
    /// No usable Python, or an environment that cannot be made.
    pub async fn environment(
        &self,
        python: Option<&PathBuf>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Environment, Failure> {
        let mut known = self.environments.lock().await;
        if let Some(environment) = known.get(&python.cloned()) {
            return Ok(environment.clone());
        }
        let made = environment(python.cloned(), say).await?;
        known.insert(python.cloned(), made.clone());
        Ok(made)
    }
}

/// A missing or unusable interpreter is the user's to mend; an own environment that cannot be made is not.
async fn environment(given: Option<PathBuf>, say: &(dyn Fn(&str) + Sync)) -> Result<Environment, Failure> {
    if let Some(python) = given {
        return Ok(python_environment(EnvironmentChoice::Given(python), say).await?);
    }
    check_python().await?;
    python_environment(EnvironmentChoice::Own, say).await.map_err(Failure::failed)
}
