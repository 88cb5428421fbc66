//! Agents that ask a language model through `codex`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mle_star::attempts::RetryPolicy;
use mle_star_domain::trouble::Trouble;

use crate::invocation::Files;
use crate::setup::CodexSettings;

/// The hint if every `codex` dies.
const KEEPS_DYING: &str = "check that codex works with `codex exec hello`, then resume the run";
/// What stands for a key in texts.
const HIDDEN: &str = "[key]";

/// Agents that ask a language model through `codex`.
pub struct CodexAgents {
    pub(crate) setup: CodexSettings,
    pub(crate) files: Files,
    /// Models whose service takes no schema.
    without_schema: Mutex<BTreeSet<String>>,
    pub(crate) retry_policy: RetryPolicy,
}

impl CodexAgents {
    /// Agents for one run.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(setup: CodexSettings) -> Result<Self, Trouble> {
        let files = Files::new(&setup.folder, setup.key.is_some());
        let files = files.map_err(|error| Trouble::io("create", &setup.folder, &error))?;
        let retry_policy = RetryPolicy::new(setup.max_wait, fastrand::f64, KEEPS_DYING);
        Ok(Self { setup, files, without_schema: Mutex::default(), retry_policy })
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
