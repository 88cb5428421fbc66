//! Agents behind the `codex` command line, asked with `codex exec --json`.
//!
//! [`CodexAgents`] implements [`AgentBackend`] with one process per attempt. From the top down: [`attempts`] repeats
//! `conversation`, which is one attempt; `invocation` builds the command line and its files, `transcript` reads the
//! events, and `classify` says what follows from errors.
//!
//! Agents have no tools here: they answer from their prompts. Only the retriever may search the web. What `codex` does
//! and prints was found by experiment: see `docs/codex.md`.

mod agents;
mod classify;
mod conversation;
mod invocation;
mod setup;
mod transcript;

use async_trait::async_trait;
use mle_star::attempts;
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest};

use conversation::Conversations;

pub use agents::CodexAgents;
pub use setup::CodexSettings;

#[async_trait]
impl AgentBackend for CodexAgents {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let mut attempts = Conversations::new(self, request, events);
        attempts::ask(&mut attempts, &self.retry_policy, request, events).await
    }
}
