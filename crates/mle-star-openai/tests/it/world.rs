//! Agents of one scenario, and a request to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mle_star::config::{Format, Price};
use mle_star::effects::{AgentBackend, AgentReply, AgentRequest, Answer};
use mle_star::event::{Event, EventSink};
use mle_star::place::Place;
use mle_star::role::AgentType;
use mle_star::stop::{Stop, Trouble};
use mle_star_openai::{Endpoint, Key, OpenAiAgents, OpenAiSetup};
use serde_json::{Map, json};

/// The key of all scenarios. It must not be seen anywhere.
pub const KEY: &str = "sk-very-secret";

/// The outcome of a call.
#[derive(Debug)]
pub struct Called {
    pub reply: Result<AgentReply, Stop>,
    pub events: Vec<Event>,
}

/// Keeps every event.
#[derive(Default)]
pub struct Events(Mutex<Vec<Event>>);

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

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
    let events = Events::default();
    let reply = agents.ask(request, &events).await;
    let called = Called { reply, events: events.0.into_inner().unwrap() };
    let all = format!("{called:?}{agents:?}");
    assert!(!all.contains("very-secret"), "{all}");
    called
}

impl Called {
    /// The answer's text, `failed: ` with the reason, or `stop: ` with the error.
    pub fn said(&self) -> String {
        match &self.reply {
            Ok(AgentReply { answer: Answer::Text { text, .. }, .. }) => text.clone(),
            Ok(AgentReply { answer: Answer::Failed { reason }, .. }) => format!("failed: {reason}"),
            Ok(reply) => panic!("{reply:?}"),
            Err(Stop::Agents { trouble: Trouble { message, .. }, .. }) => format!("stop: {message}"),
            Err(stop) => panic!("{stop:?}"),
        }
    }

    /// The reasons of all waits.
    pub fn waits(&self) -> Vec<&str> {
        let waits = self.events.iter().filter_map(|event| match event {
            Event::AgentWaits { reason, .. } => Some(reason.as_str()),
            _ => None,
        });
        waits.collect()
    }
}

/// A request without tools and schema.
pub fn request() -> AgentRequest {
    AgentRequest {
        place: Place::from("phase1/candidate-0/init"),
        agent: AgentType::Init,
        variant: None,
        system: "You solve a toy task.".to_owned(),
        prompt: "What is the answer?".to_owned(),
        shared: Vec::new(),
        inputs: Map::new(),
        tools: &[],
        schema: None,
        model: "m".to_owned(),
        timeout: Duration::from_secs(30),
        time_left: Duration::from_secs(60),
    }
}

/// A request that is over soon.
pub fn brief() -> AgentRequest {
    AgentRequest { timeout: Duration::from_millis(1500), ..request() }
}

/// A request for a structured answer.
pub fn structured() -> AgentRequest {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "properties": {"answer": {"type": "number"}}, "required": ["answer"],
    });
    AgentRequest { schema: Some(Arc::new(schema)), ..request() }
}
