//! The agents of one scenario: the `codex` they start, and a request to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::testing::called::{self, Called};
use mle_star_codex::{CodexAgents, CodexSettings};
use mle_star_domain::config::Price;
use mle_star_domain::effects::AgentRequest;
use serde_json::json;

use crate::isolated;

/// The key of all scenarios. It must not be seen anywhere.
pub const KEY: &str = "sk-very-secret";
/// Text that a command line might act on.
pub const PROMPT: &str = "/clear @/etc/hostname $HOME {braces}\n\nWhat is the answer?";

/// A folder, and a `codex` in an isolated environment.
pub struct World {
    folder: tempfile::TempDir,
    pub setup: CodexSettings,
}

impl World {
    /// `codex` is the executable, `url` the base address of the service.
    pub fn new(codex: &Path, url: &str) -> Self {
        let provider = format!(
            "model_providers.loopback={{name=\"loopback\",base_url=\"{url}\",env_key=\"CODEX_API_KEY\"}}"
        );
        let quoted = codex.display();
        Self::through(&format!("exec '{quoted}' \"$@\" -c 'model_provider=\"loopback\"' -c '{provider}'"))
    }

    /// A script in the place of `codex`.
    pub fn through(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let executable = launcher(folder.path(), script);
        let price = Price { input: 2.0, output: 10.0, cached_input: Some(0.5) };
        let setup = CodexSettings {
            executable,
            key: Some(KEY.to_owned()),
            folder: folder.path().join("agents"),
            max_wait: Duration::from_secs(2),
            prices: BTreeMap::from([("m".to_owned(), price)]),
            blocked_domains: vec!["blocked.org".to_owned()],
        };
        Self { folder, setup }
    }

    /// Asks new agents once.
    pub async fn ask(&self, request: &AgentRequest) -> Called {
        let agents = CodexAgents::new(self.setup.clone()).unwrap();
        self.ask_again(&agents, request).await
    }

    /// Asks agents that may have been asked before.
    pub async fn ask_again(&self, agents: &CodexAgents, request: &AgentRequest) -> Called {
        let called = called::ask(agents, request).await;
        let all = format!("{called:?}");
        assert!(!all.contains("very-secret"), "{all}");
        called
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Command lines of scripts in the place of `codex`, and of what they started.
    pub fn alive(&self) -> Vec<String> {
        isolated::alive(self.path())
    }
}

/// A request with these tools.
pub fn request(tools: &'static [&'static str]) -> AgentRequest {
    let system = "You solve a \"toy\" task.".to_owned();
    AgentRequest { system, tools, ..called::request(PROMPT) }
}

/// The same request with a schema for the answer.
pub fn structured(request: AgentRequest) -> AgentRequest {
    called::structured(request, &json!({"answer": {"type": "number"}, "note": {"type": "string"}}))
}

/// A script in the place of `codex`, with none of this process's variables except those that the client sets.
fn launcher(folder: &Path, script: &str) -> PathBuf {
    fs::create_dir(folder.join("home")).unwrap();
    let inner = isolated::script(&folder.join("inner"), script);
    let command = isolated::command(folder, &[("CODEX_API_KEY", KEY)], &inner);
    isolated::script(&folder.join("codex"), &format!("exec {command}"))
}
