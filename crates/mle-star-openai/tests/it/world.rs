//! Agents of one scenario, and a request to them.

use std::collections::BTreeMap;
use std::time::Duration;

use mle_star::testing::called::{self, Called};
use mle_star_domain::config::{Format, Price};
use mle_star_domain::effects::AgentRequest;
use mle_star_openai::{Endpoint, Key, OpenAiAgents, OpenAiSetup};
use serde_json::json;

/// The key of all scenarios. It must not be seen anywhere.
pub const KEY: &str = "sk-very-secret";

/// A setup that is not patient.
pub fn setup(url: &str) -> OpenAiSetup {
    setup_of(url, Format::Chat)
}

/// A setup for a format.
pub fn setup_of(url: &str, format: Format) -> OpenAiSetup {
    let price = Price { input: 2.0, output: 10.0, cached_input: Some(0.5) };
    OpenAiSetup {
        endpoint: Endpoint::new(url, Key::new(KEY).unwrap(), format).unwrap(),
        key_variable: "OPENAI_API_KEY".to_owned(),
        max_wait: Duration::from_secs(20),
        stall: Duration::from_millis(1500),
        max_tokens: None,
        prices: BTreeMap::from([("m".to_owned(), price)]),
        search_command: Vec::new(),
        blocked_domains: Vec::new(),
    }
}

/// Asks new agents once.
pub async fn ask(setup: OpenAiSetup, request: &AgentRequest) -> Called {
    let agents = OpenAiAgents::new(setup).unwrap();
    ask_again(&agents, request).await
}

/// Asks agents that may have been asked before.
pub async fn ask_again(agents: &OpenAiAgents, request: &AgentRequest) -> Called {
    let called = called::ask(agents, request).await;
    let all = format!("{called:?}{agents:?}");
    assert!(!all.contains("very-secret"), "{all}");
    called
}

/// A request without tools and schema.
pub fn request() -> AgentRequest {
    called::request("What is the answer?")
}

/// A request that is over soon.
pub fn brief() -> AgentRequest {
    AgentRequest { timeout: Duration::from_millis(1500), ..request() }
}

/// A request for a structured answer.
pub fn structured() -> AgentRequest {
    called::structured(request(), &json!({"answer": {"type": "number"}}))
}
