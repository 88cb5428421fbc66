//! One call of an agent: a request, and what came of it. For tests of backends.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::backend::AgentBackend;
use crate::event::{Event, EventSink};
use crate::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer};
use mle_star_domain::place::Place;
use mle_star_domain::role::AgentType;

/// What came of a call.
#[derive(Debug)]
pub struct Called {
    /// The reply, or why the run stops.
    pub reply: Result<AgentReply, Stop>,
    /// What happened meanwhile, in order.
    pub events: Vec<Event>,
}

/// Keeps every event.
#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

/// Asks agents once.
pub async fn ask(agents: &dyn AgentBackend, request: &AgentRequest) -> Called {
    let events = Events::default();
    let reply = agents.ask(request, &events).await;
    Called { reply, events: events.0.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

impl Called {
    /// The answer's text, `failed: ` with the reason, or `stop: ` with the error.
    pub fn said(&self) -> String {
        match &self.reply {
            Ok(AgentReply { answer: Answer::Text { text, .. }, .. }) => text.clone(),
            Ok(AgentReply { answer: Answer::Failed { reason }, .. }) => format!("failed: {reason}"),
            Err(Stop::Agents { trouble, .. }) => format!("stop: {}", trouble.message),
            other => format!("unexpected: {other:?}"),
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

/// A request of the agent `init` with this prompt, without tools and schema, that has a minute.
pub fn request(prompt: &str) -> AgentRequest {
    AgentRequest {
        place: Place::from("phase1/candidate-0/init"),
        agent: AgentType::Init,
        variant: None,
        system: "You solve a toy task.".to_owned(),
        prompt: prompt.to_owned(),
        shared: Vec::new(),
        inputs: Map::new(),
        told: Map::new(),
        tools: &[],
        schema: None,
        model: "m".to_owned(),
        timeout: Duration::from_secs(60),
        time_left: Duration::from_secs(60),
        max_usd: None,
    }
}

/// The same request with a schema for the answer: an object with these properties, of which `answer` is required.
pub fn structured(request: AgentRequest, properties: &Value) -> AgentRequest {
    let schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "properties": properties, "required": ["answer"],
    });
    AgentRequest { schema: Some(Arc::new(schema)), ..request }
}
