//! Agents behind the `claude` command line, driven over stream-json on its standard streams.
//!
//! [`ClaudeAgents`] implements [`AgentBackend`] with one process and one conversation per call. From the top down:
//! `retry` makes attempts until a call is over, `conversation` is one attempt, and `verdict` classifies how it
//! ended from the `transcript`. `client` holds what the calls of a run share, `invocation` builds the command line,
//! `child` runs it in a `work_dir`, and `prefetch` starts processes early. `protocol` is the message format;
//! `permission`, `shell` and `paths` decide what an agent may do with its tools.

mod child;
mod client;
mod conversation;
mod deadline;
mod invocation;
mod paths;
mod permission;
mod prefetch;
mod protocol;
mod retry;
mod setup;
mod shell;
mod transcript;
mod verdict;
mod work_dir;

pub use setup::ClaudeSetup;
pub use verdict::OLDEST;

use async_trait::async_trait;
use mle_star::effects::{AgentBackend, AgentReply, AgentRequest};
use mle_star::event::EventSink;
use mle_star::stop::{Stop, Trouble};
// The only imports of the crate that starts child processes.
use mle_star_backends::process::{Ending, Streams, Tree};
use mle_star_backends::script::variables::is_secret;

use client::Client;

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
        retry::ask(&self.0, request, events).await
    }

    fn prefetch(&self, likely: &[AgentRequest]) {
        self.0.prefetch(likely);
    }
}
