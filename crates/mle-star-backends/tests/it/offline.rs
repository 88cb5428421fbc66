//! The offline agents: every role's answer parses and keeps its promises.

mod python;
mod roles;
mod tasks;

use std::time::Duration;

use mle_star::agents::{AgentType, Variant};
use mle_star::effects::{AgentBackend, AgentRequest, Answer};
use mle_star::place::Place;
use mle_star_backends::agent::offline::OfflineAgents;
use serde_json::Value;

/// One question to the agents, answered as text.
pub(crate) struct Asked<'a> {
    pub(crate) agents: &'a OfflineAgents,
    pub(crate) place: &'a str,
}

impl Asked<'_> {
    pub(crate) fn ask(&self, agent: AgentType, variant: Option<Variant>, inputs: Value) -> String {
        let Value::Object(inputs) = inputs else { panic!("inputs are a map") };
        let request = AgentRequest {
            place: Place::from(self.place),
            agent,
            variant,
            system: String::new(),
            prompt: "a prompt that a user may have changed".to_owned(),
            inputs,
            tools: &[],
            schema: None,
            model: "offline".to_owned(),
            timeout: Duration::from_secs(60),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let reply = runtime.block_on(self.agents.ask(&request)).unwrap();
        assert_eq!(reply.usage.cost_usd, Some(0.0));
        match reply.answer {
            Answer::Text { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn code(&self, agent: AgentType, variant: Option<Variant>, inputs: Value) -> String {
        code_of(&self.ask(agent, variant, inputs))
    }

    pub(crate) fn json(&self, agent: AgentType, variant: Option<Variant>, inputs: Value) -> Value {
        serde_json::from_str(&self.ask(agent, variant, inputs)).unwrap()
    }
}

/// The code of a reply that is one fenced block and nothing else.
pub(crate) fn code_of(reply: &str) -> String {
    let inside = reply.trim().strip_prefix("```python\n").and_then(|rest| rest.strip_suffix("\n```"));
    let code = inside.unwrap_or_else(|| panic!("not one fenced block: {reply}"));
    assert!(!code.contains("```"), "{reply}");
    code.to_owned()
}
