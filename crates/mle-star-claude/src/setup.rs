//! The settings of the client.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

/// What [`ClaudeAgents`](crate::ClaudeAgents) need.
#[derive(Clone, Debug)]
pub struct ClaudeSetup {
    /// The `claude` executable.
    pub executable: PathBuf,
    /// Whether the login works with `--bare`. Stored and subscription logins do not.
    pub bare: bool,
    /// The run ID, for the agents' environment.
    pub run_id: String,
    /// A scratch folder for the agents, created here and removed when the agents are dropped.
    pub folder: PathBuf,
    /// The data, readable by agents with tools.
    pub data_dir: PathBuf,
    /// `permission_mode` of the configuration. `bypassPermissions` means that no person is asked: the program
    /// answers every permission request itself, which also works for root.
    pub permission_mode: String,
    /// How long one call may wait for a busy service.
    pub max_wait: Duration,
    /// Sites that agents may not read.
    pub blocked_domains: Vec<String>,
    /// Commands that agents may not run.
    pub blocked_commands: Vec<String>,
    /// The agents to register with the SDK, by name.
    pub definitions: Map<String, Value>,
}

/// A setup for unit tests.
#[cfg(test)]
pub(crate) fn example(data_dir: &std::path::Path) -> ClaudeSetup {
    ClaudeSetup {
        executable: PathBuf::from("claude"),
        bare: true,
        run_id: "run".to_owned(),
        folder: PathBuf::new(),
        data_dir: data_dir.to_owned(),
        permission_mode: "bypassPermissions".to_owned(),
        max_wait: Duration::ZERO,
        blocked_domains: Vec::new(),
        blocked_commands: mle_star_domain::config::Config::default().blocked_commands,
        definitions: Map::new(),
    }
}
