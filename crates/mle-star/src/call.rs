//! An agent call before its prompt is rendered: the role, its template and its inputs.

use std::sync::Arc;

use serde_json::{Map, Value};

use mle_star_domain::place::Name;
use mle_star_domain::role::{AgentType, Form, Variant};

/// An agent call before its template is rendered.
pub(crate) struct Call {
    /// The last name of its place.
    pub name: Name,
    pub agent: AgentType,
    pub variant: Option<Variant>,
    pub template: &'static str,
    /// The typed values of the template, which also determine the answer.
    pub inputs: Map<String, Value>,
    /// Values derived from the inputs for the template alone.
    pub rendered_only: Map<String, Value>,
    /// What the agent is told beyond the paper. It comes from earlier effects and from the clock, so it does not belong
    /// to the identity of the call.
    pub context: Map<String, Value>,
    /// Whether an earlier answer to the same inputs in this run counts as the answer.
    pub reads_back: bool,
    pub tools: &'static [&'static str],
    pub schema: Option<Arc<Value>>,
}

impl Call {
    /// A call of the agent's default task, at a place named like the agent.
    pub fn new(agent: AgentType, template: &'static str, inputs: Value) -> Self {
        let inputs = if let Value::Object(inputs) = inputs { inputs } else { Map::new() };
        let Form { tools, schema } = Form::of(agent, None);
        let (rendered_only, context, name) = (Map::new(), Map::new(), Name::Agent(agent));
        let (variant, reads_back) = (None, false);
        Self { name, agent, variant, template, inputs, rendered_only, context, reads_back, tools, schema }
    }

    pub fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    pub fn variant(self, variant: Variant) -> Self {
        let Form { tools, schema } = Form::of(self.agent, Some(variant));
        Self { variant: Some(variant), tools, schema, ..self }
    }

    /// Tells the agent more than the paper does, see [`Context`](mle_star_domain::config::Context).
    pub fn telling(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.context.insert(name.to_owned(), value.into());
        self
    }

    pub fn rendering(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.rendered_only.insert(name.to_owned(), value.into());
        self
    }
}
