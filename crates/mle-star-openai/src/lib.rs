//! Agents behind any OpenAI-compatible API: chat completions or responses.
//!
//! [`OpenAiAgents`] implements [`AgentBackend`] with one request per attempt. From the top down: [`attempts`] repeats
//! `conversation`, which is one attempt; `question` builds the request and knows what models have refused, with `chat` and
//! `responses` for the formats; `answer` collects what comes, `sse` splits streams, and `failure` says what
//! follows from errors. `search` runs the user's search command for the retriever. `http` is the only file that sends
//! requests; [`Endpoint`] is where they go. [`look()`] is for checks.
//!
//! Agents have no tools here: they answer from their prompts.

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

use std::collections::BTreeMap;
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
use http::Http;
use question::Refused;

pub use endpoint::{Endpoint, Key};
pub use look::{EndpointStatus, look};

/// The hint if every connection breaks off.
const KEEPS_DYING: &str = "check the endpoint with `mle-star doctor --probe-agents`, then resume the run";

/// What [`OpenAiAgents`] need.
#[derive(Clone, Debug)]
pub struct OpenAiSetup {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The variable that holds the key, for hints.
    pub key_variable: String,
    /// How long one call may wait for a busy endpoint.
    pub max_wait: Duration,
    /// How long the endpoint may be silent before the call is repeated.
    pub stall: Duration,
    /// The most tokens of one answer; `None` for the endpoint's own limit.
    pub max_tokens: Option<u64>,
    /// Prices by model. Calls of other models have an unknown cost.
    pub prices: BTreeMap<String, Price>,
    /// The command that searches the web, with its arguments; empty for none.
    pub search_command: Vec<String>,
    /// Sites whose pages the retriever may not see.
    pub blocked_domains: Vec<String>,
}

/// Agents that ask an endpoint.
#[derive(Debug)]
pub struct OpenAiAgents {
    pub(crate) setup: OpenAiSetup,
    pub(crate) http: Http,
    pub(crate) refused: Refused,
    patience: Patience,
}

impl OpenAiAgents {
    /// Agents for one run.
    ///
    /// # Errors
    /// The system offers no secure connections.
    pub fn new(setup: OpenAiSetup) -> Result<Self, Trouble> {
        let patience = Patience::new(setup.max_wait, fastrand::f64, KEEPS_DYING);
        Ok(Self { http: Http::new(&setup.endpoint)?, refused: Refused::default(), patience, setup })
    }
}

#[async_trait]
impl AgentBackend for OpenAiAgents {
    async fn ask(&self, request: &AgentRequest, events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let mut attempts = Conversations::new(self, request, events);
        attempts::ask(&mut attempts, &self.patience, request, events).await
    }
}
