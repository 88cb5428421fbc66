//! Agents behind the `claude` command line, driven over stream-json on its standard streams.
//!
//! [`ClaudeAgents`] implements [`AgentBackend`] with one process and one conversation per call. From the top down:
//! [`attempts`] repeats `conversation`, which is one attempt, and `classify` says how it
//! ended from the `transcript`. `client` holds what the calls of a run share, `invocation` builds the command line,
//! `child` runs it in a `work_dir`, and `cache` marks what
//! the service should keep. `protocol` is the message format;
//! `permission`, `shell` and `paths` decide what an agent may do with its tools. `os` names the imports for child
//! processes.

mod cache;
mod child;
mod classify;
mod client;
mod conversation;
mod invocation;
mod os;
mod paths;
mod permission;
mod protocol;
mod setup;
mod shell;
mod transcript;
mod work_dir;

pub use classify::MIN_CLAUDE_VERSION;
pub use setup::ClaudeSetup;

use async_trait::async_trait;
use mle_star::attempts;
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest};
use mle_star_domain::trouble::Trouble;

use client::Client;
use conversation::Conversations;

/// Agents that ask a language model.
pub struct ClaudeAgents(Client);

impl ClaudeAgents {
    /// Agents for one run.
    ///
    /// # Errors
    /// The data cannot be read, or the folder cannot be created.
    pub fn new(setup: ClaudeSetup) -> Result<Self, Trouble> {
        Client::new(setup).map(Self)
    }
}

#[async_trait]
impl AgentBackend for ClaudeAgents {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let mut attempts = Conversations { client: &self.0, request, events, used: 0.0 };
        attempts::ask(&mut attempts, &self.0.retry_policy, request, events).await
    }
}
