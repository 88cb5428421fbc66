//! Agents behind the `codex` command line, asked with `codex exec --json`.
//!
//! [`CodexAgents`] implements [`AgentBackend`] with one process per attempt. From the top down: [`attempts`] repeats
//! `conversation`, which is one attempt; `invocation` builds the command line and its files, `transcript` reads the
//! events, and `classify` says what follows from errors.
//!
//! Agents have no tools here: they answer from their prompts. Only the retriever may search the web. What `codex` does
//! and prints was found by experiment: see `docs/codex.md`.

mod classify;
mod conversation;
mod invocation;
mod transcript;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mle_star::attempts::{self, Patience};
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::config::Price;
use mle_star_domain::effects::{AgentReply, AgentRequest};
use mle_star_domain::trouble::Trouble;

use conversation::Conversations;
use invocation::Files;

/// The hint if every `codex` dies.
const KEEPS_DYING: &str = "check that codex works with `mle-star doctor --probe-agents`, then resume the run";
/// What stands for a key in texts.
const HIDDEN: &str = "[key]";

/// What [`CodexAgents`] need.
#[derive(Clone)]
pub struct CodexSetup {
    /// The `codex` executable.
    pub executable: PathBuf,
    /// The key in `CODEX_API_KEY`, which is never shown. Without it, `codex` uses the login that it has stored.
    pub key: Option<String>,
    /// A scratch folder for the agents, created here and removed when the agents are dropped.
    pub folder: PathBuf,
    /// How long one call may wait for a busy service.
    pub max_wait: Duration,
    /// Prices by model. Calls of other models have an unknown cost.
    pub prices: BTreeMap<String, Price>,
    /// Sites whose pages the retriever may not see.
    pub blocked_domains: Vec<String>,
}

/// Agents that ask a language model through `codex`.
pub struct CodexAgents {
    pub(crate) setup: CodexSetup,
    pub(crate) files: Files,
    /// Models whose service takes no schema.
    without_schema: Mutex<BTreeSet<String>>,
    patience: Patience,
}

impl CodexAgents {
    /// Agents for one run.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(setup: CodexSetup) -> Result<Self, Trouble> {
        let files = Files::new(&setup.folder, setup.key.is_some());
        let files = files.map_err(|error| Trouble::io("create", &setup.folder, &error))?;
        let patience = Patience::new(setup.max_wait, fastrand::f64, KEEPS_DYING);
        Ok(Self { setup, files, without_schema: Mutex::default(), patience })
    }

    pub(crate) fn takes_schema(&self, model: &str) -> bool {
        !self.without_schema.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }

    pub(crate) fn note_refused_schema(&self, model: &str) {
        self.without_schema.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned());
    }

    /// A text of `codex` without the key.
    pub(crate) fn hide(&self, text: &str) -> String {
        match self.setup.key.as_deref().map(str::trim) {
            Some(key) if !key.is_empty() => text.replace(key, HIDDEN),
            _ => text.to_owned(),
        }
    }
}

#[async_trait]
impl AgentBackend for CodexAgents {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let mut attempts = Conversations::new(self, request, events);
        attempts::ask(&mut attempts, &self.patience, request, events).await
    }
}
