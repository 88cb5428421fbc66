//! The agents' roles: names, variants, tools and answer schemas.

use std::sync::{Arc, LazyLock};

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::{DataContaminationResult, ExtractorOutput, LeakageDetectionOutput, RetrieverOutput};

/// The paper's fourteen agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentType {
    /// Finds models worth trying.
    Retriever,
    /// Writes a first solution for one model.
    Init,
    /// Builds one solution into another.
    Merger,
    /// Writes an ablation study.
    Ablation,
    /// Summarizes the study's result.
    Summarize,
    /// Picks the code block that matters most, with a first plan for it.
    Extractor,
    /// Applies a plan to a code block.
    Coder,
    /// Proposes the next plan for a code block.
    Planner,
    /// Proposes how to combine solutions.
    EnsPlanner,
    /// Combines solutions by a plan.
    Ensembler,
    /// Repairs a failing script.
    Debugger,
    /// Finds and corrects data leakage.
    Leakage,
    /// Finds data that a solution leaves unused.
    Data,
    /// Turns a solution into a submission script, and other work on final solutions.
    Test,
}

/// The tasks of `leakage` and `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Leakage: find it.
    Detection,
    /// Leakage: rewrite a block without it.
    Correction,
    /// Test: find the block that subsamples.
    SubsamplingExtract,
    /// Test: rewrite the block without subsampling.
    SubsamplingRemove,
    /// Test: check whether the solution is a copy of a discussion.
    Contamination,
}

/// The fixed properties of an agent: its task in one sentence and its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// The agent.
    pub agent: AgentType,
    /// Its task in one sentence.
    pub description: &'static str,
    /// The tools it may use; empty for none.
    pub tools: &'static [&'static str],
}

static RETRIEVER: Schema = LazyLock::new(|| Arc::new(schema_for!(RetrieverOutput).to_value()));
static EXTRACTOR: Schema = LazyLock::new(|| Arc::new(schema_for!(ExtractorOutput).to_value()));
static LEAKAGE_DETECTION: Schema = LazyLock::new(|| Arc::new(schema_for!(LeakageDetectionOutput).to_value()));
static CONTAMINATION: Schema = LazyLock::new(|| Arc::new(schema_for!(DataContaminationResult).to_value()));

/// Generated once, because generation is slow and every call needs a schema.
type Schema = LazyLock<Arc<Value>>;

/// The fixed properties of one task of an agent.
pub struct Form {
    /// Tools that the agent may use; empty for none.
    pub tools: &'static [&'static str],
    /// The JSON schema of a structured answer.
    pub schema: Option<Arc<Value>>,
}

impl Form {
    /// The tools and the schema of an agent's task.
    pub fn of(agent: AgentType, variant: Option<Variant>) -> Self {
        let tools = agent.definition().tools;
        let structured = |schema: &Schema| Self { tools, schema: Some(Arc::clone(schema)) };
        match (agent, variant) {
            (AgentType::Retriever, _) => structured(&RETRIEVER),
            (AgentType::Extractor, _) => structured(&EXTRACTOR),
            (AgentType::Leakage, Some(Variant::Detection)) => structured(&LEAKAGE_DETECTION),
            (AgentType::Test, Some(Variant::Contamination)) => {
                Self { tools: &[], ..structured(&CONTAMINATION) }
            }
            (AgentType::Test, Some(_)) => Self { tools: &[], schema: None },
            _ => Self { tools, schema: None },
        }
    }
}

/// Whether an agent needs the task and the data for its work. The others judge or shorten a given text.
pub fn needs_task(agent: AgentType, variant: Option<Variant>) -> bool {
    let judges = matches!(agent, AgentType::Leakage | AgentType::Summarize);
    !judges && (agent != AgentType::Test || variant.is_none())
}

/// Whether an agent that needs the task needs the data. Those of Phase 3 combine whole solutions, which read it already.
pub fn needs_data(agent: AgentType) -> bool {
    !matches!(agent, AgentType::EnsPlanner | AgentType::Ensembler)
}

/// Whether an agent writes or changes scripts that are scored, or plans for them.
pub fn needs_validation(agent: AgentType, variant: Option<Variant>) -> bool {
    needs_task(agent, variant) && agent != AgentType::Test
}

impl AgentType {
    /// All agents, in the order of the paper.
    pub const ALL: [Self; 14] = [
        Self::Retriever,
        Self::Init,
        Self::Merger,
        Self::Ablation,
        Self::Summarize,
        Self::Extractor,
        Self::Coder,
        Self::Planner,
        Self::EnsPlanner,
        Self::Ensembler,
        Self::Debugger,
        Self::Leakage,
        Self::Data,
        Self::Test,
    ];

    /// The name in files, places and the agents' environment.
    pub fn name(self) -> &'static str {
        match self {
            Self::Retriever => "retriever",
            Self::Init => "init",
            Self::Merger => "merger",
            Self::Ablation => "ablation",
            Self::Summarize => "summarize",
            Self::Extractor => "extractor",
            Self::Coder => "coder",
            Self::Planner => "planner",
            Self::EnsPlanner => "ens_planner",
            Self::Ensembler => "ensembler",
            Self::Debugger => "debugger",
            Self::Leakage => "leakage",
            Self::Data => "data",
            Self::Test => "test",
        }
    }

    /// The fixed properties of the agent.
    pub fn definition(self) -> AgentDefinition {
        let (description, tools): (_, &[&str]) = match self {
            Self::Retriever => {
                ("Searches the web for models that suit the competition", &["WebSearch", "WebFetch"])
            }
            Self::Init => ("Writes a first solution script for a given model", &["Read"]),
            Self::Merger => ("Builds a reference solution into a base solution", &["Read"]),
            Self::Ablation => ("Writes an ablation study of the current solution", &["Read"]),
            Self::Summarize => ("Puts the result of an ablation study into words", &[]),
            Self::Extractor => {
                ("Picks the most influential code block and proposes a plan for it", &["Read"])
            }
            Self::Coder => ("Agent that implements a refinement plan on a target code block", &[]),
            Self::Planner => (
                "Agent that proposes the next refinement strategy using feedback from previous attempts",
                &[],
            ),
            Self::EnsPlanner => {
                ("Agent that proposes ensemble strategies for combining L solution scripts", &[])
            }
            Self::Ensembler => (
                "Agent that implements an ensemble plan on L solution scripts into a single Python program",
                &["Read"],
            ),
            Self::Debugger => ("Repairs run errors in solution scripts", &["Read", "Bash"]),
            Self::Leakage => ("Finds data leakage in preprocessing code and corrects it", &["Read"]),
            Self::Data => ("Finds supplied data that a script leaves unused", &["Read"]),
            Self::Test => {
                ("Agent that transforms a validation solution into a test submission script", &["Read"])
            }
        };
        AgentDefinition { agent: self, description, tools }
    }
}

impl Variant {
    /// The name in the agents' environment.
    pub fn name(self) -> &'static str {
        match self {
            Self::Detection => "detection",
            Self::Correction => "correction",
            Self::SubsamplingExtract => "subsampling_extract",
            Self::SubsamplingRemove => "subsampling_remove",
            Self::Contamination => "contamination",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fourteen_agents_with_the_names_of_the_paper() {
        let names: std::collections::BTreeSet<_> = AgentType::ALL.map(AgentType::name).into_iter().collect();
        assert_eq!(names.len(), 14);
        for agent in AgentType::ALL {
            assert_eq!(serde_json::to_value(agent).unwrap(), agent.name());
            assert!(!agent.definition().description.is_empty());
        }
    }

    #[test]
    fn tools_are_the_ones_decided() {
        use AgentType::{Coder, Debugger, EnsPlanner, Planner, Retriever, Summarize};
        for agent in AgentType::ALL {
            let expected: &[&str] = match agent {
                Retriever => &["WebSearch", "WebFetch"],
                Debugger => &["Read", "Bash"],
                Summarize | Coder | Planner | EnsPlanner => &[],
                _ => &["Read"],
            };
            assert_eq!(agent.definition().tools, expected, "{agent:?}");
        }
    }
}
