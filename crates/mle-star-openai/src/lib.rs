//! Agents behind any OpenAI-compatible API: chat completions or responses.
//!
//! [`OpenAiAgents`] implements [`AgentBackend`] with one request per attempt. From the top down: [`attempts`] repeats
//! `conversation`, which is one attempt; `question` builds the request and knows what models have refused, with `chat` and
//! `responses` for the formats; `answer` collects what comes, `sse` splits streams, and `failure` says what
//! follows from errors. `search` runs the user's search command for the retriever. `http` is the only file that sends
//! requests; [`Endpoint`] is where they go. [`check_endpoint`] is for checks.
//!
//! Agents have no tools here: they answer from their prompts.

mod agents;
mod answer;
mod chat;
mod conversation;
mod endpoint;
mod failure;
mod formats;
mod http;
mod look;
mod question;
mod responses;
mod search;
mod sse;

use async_trait::async_trait;
use mle_star::attempts;
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest};

use conversation::Conversations;

pub use agents::{OpenAiAgents, OpenAiSetup};
pub use endpoint::{Endpoint, Key};
pub use look::{EndpointStatus, check_endpoint};

#[async_trait]
impl AgentBackend for OpenAiAgents {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let mut attempts = Conversations::new(self, request, events);
        attempts::ask(&mut attempts, &self.retry_policy, request, events).await
    }
}
