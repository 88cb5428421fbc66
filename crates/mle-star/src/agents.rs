//! The agents, one file each: typed input, a template, a typed answer.
//!
//! Loops and retries belong to the pipeline. The result of each function tells a failed answer apart: `None` where
//! the algorithm continues without one. [`reply`] parses the models' replies.

mod ablation;
mod coder;
mod data;
mod debugger;
mod definitions;
mod ens_planner;
mod ensembler;
mod extractor;
mod history;
mod init;
mod leakage;
mod merger;
mod planner;
pub mod reply;
mod retriever;
mod summarize;
mod test;

use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::definitions::definitions;
pub(crate) use self::{
    ablation::ablation,
    coder::coder,
    data::data,
    debugger::debugger,
    ens_planner::ens_planner,
    ensembler::ensembler,
    extractor::{Extraction, Question, extractor},
    init::init,
    leakage::{correct_leakage, detect_leakage},
    merger::merger,
    planner::planner,
    retriever::{Search, failure, models_of, retriever},
    summarize::summarize,
    test::{contamination, subsampling_extract, subsampling_remove, test},
};
use crate::place::Name;
use crate::role::{AgentType, Form, Variant};

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
    pub tools: &'static [&'static str],
    pub schema: Option<Arc<Value>>,
}

impl Call {
    /// A call of the agent's default task, at a place named like the agent.
    fn new(agent: AgentType, template: &'static str, inputs: Value) -> Self {
        let inputs = if let Value::Object(inputs) = inputs { inputs } else { Map::new() };
        let Form { tools, schema } = Form::of(agent, None);
        let (rendered_only, name) = (Map::new(), Name::Agent(agent));
        Self { name, agent, variant: None, template, inputs, rendered_only, tools, schema }
    }

    fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    fn variant(self, variant: Variant) -> Self {
        let Form { tools, schema } = Form::of(self.agent, Some(variant));
        Self { variant: Some(variant), tools, schema, ..self }
    }

    fn tools(self, tools: &'static [&'static str]) -> Self {
        Self { tools, ..self }
    }

    fn rendering(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.rendered_only.insert(name.to_owned(), value.into());
        self
    }
}
