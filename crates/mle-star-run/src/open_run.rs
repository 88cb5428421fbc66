//! An open run: its inputs are frozen, its journal is open, and its work can begin.

use std::path::{Path, PathBuf};

use mle_star::event::{Event, Outline};
use mle_star::journal::{Frozen, Journal, Opening};
use mle_star::prompts::Prompts;
use mle_star::spending::spending;
use mle_star_backends::runners::entry::RunnerEntry;
use mle_star_offline::OfflineAgents;

use crate::error::RunError;
use crate::prepare::Data;
use crate::provider::Provider;
use mle_star_report::usage;

/// A run whose inputs are frozen and whose journal is open, locked by this process.
pub struct OpenRun {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The inputs of the run.
    pub frozen: Frozen,
    /// The prompt templates.
    pub prompts: Prompts,
    /// The journal.
    pub journal: Journal,
    /// The agents.
    pub chosen: Provider,
    /// The offline agents, if they were chosen.
    pub rules: Option<OfflineAgents>,
    /// The facts about the data.
    pub data: Data,
    /// Runners on other machines.
    pub runners: Vec<RunnerEntry>,
    /// Where its inputs come from and what was inferred, a message each.
    pub opening: Vec<Event>,
}

/// The first messages of a new run, and of one that was only frozen so far.
pub(crate) fn first_opening(folder: &Path, frozen: &Frozen) -> Vec<Event> {
    let run = Event::said(format!("run: {}", folder.display()));
    let Opening { said, details } = &frozen.opening;
    said.iter().map(Event::said).chain(details.iter().map(Event::detail)).chain([run]).collect()
}

impl OpenRun {
    /// What the run will do, and what earlier processes have done.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn outline(&self) -> Result<Outline, RunError> {
        let effects = self.journal.ledger().map_err(|error| RunError::journal(&error))?;
        let spent = spending(&effects, &self.frozen.config).total().usage;
        Ok(Outline::new(&self.frozen, !effects.is_empty(), self.journal.elapsed(), spent))
    }

    /// The cost so far, as a line; `None` if nothing was paid or the journal cannot be read.
    pub fn cost_so_far(&self) -> Option<String> {
        let (effects, config) = (self.journal.ledger().ok()?, &self.frozen.config);
        let spending = usage::without_free_calls(spending(&effects, config), config.agents);
        usage::line(&spending).map(|line| format!("cost so far: {line}"))
    }
}
