//! Agents that ask an endpoint, and what they need.

use std::collections::BTreeMap;
use std::time::Duration;

use mle_star::attempts::RetryPolicy;
use mle_star_domain::config::Price;
use mle_star_domain::trouble::Trouble;

use crate::endpoint::Endpoint;
use crate::http::Http;
use crate::question::Refused;

/// The hint if every connection breaks off.
const KEEPS_DYING: &str = "check the endpoint with `mle-star doctor`, then resume the run";

/// What [`OpenAiAgents`] need.
#[derive(Clone, Debug)]
pub struct OpenAiSetup {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The variable that holds the key, for hints.
    pub key_variable: String,
    /// How long one call may wait for a busy endpoint.
    pub max_wait: Duration,
    /// How long the endpoint may be silent before the call is repeated. An answer without a stream comes as a whole within it.
    pub stall: Duration,
    /// The most tokens of one answer; `None` for the endpoint's own limit.
    pub max_tokens: Option<u64>,
    /// Prices by model. Calls of other models have an unknown cost.
    pub prices: BTreeMap<String, Price>,
    /// The command that searches the web, with its arguments; empty for none.
    pub search_command: Vec<String>,
    /// Sites whose pages the agent that looks up models may not see.
    pub blocked_domains: Vec<String>,
}

/// Agents that ask an endpoint.
#[derive(Debug)]
pub struct OpenAiAgents {
    pub(crate) setup: OpenAiSetup,
    pub(crate) http: Http,
    /// What the endpoint refused before, and is not sent again.
    pub(crate) refused: Refused,
    /// How long, and how often, calls are repeated.
    pub(crate) retry_policy: RetryPolicy,
}

impl OpenAiAgents {
    /// Agents for one run.
    ///
    /// # Errors
    /// The system offers no secure connections.
    pub fn new(setup: OpenAiSetup) -> Result<Self, Trouble> {
        let retry_policy = RetryPolicy::new(setup.max_wait, fastrand::f64, KEEPS_DYING);
        Ok(Self { http: Http::new(&setup.endpoint)?, refused: Refused::default(), retry_policy, setup })
    }
}
