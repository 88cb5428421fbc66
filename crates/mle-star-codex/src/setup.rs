//! The settings of the agents that run the `codex` command.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use mle_star_domain::config::Price;

/// The settings of [`CodexAgents`](crate::CodexAgents).
#[derive(Clone)]
pub struct CodexSettings {
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
