//! What those who answer prompts can do, by the configuration.

use mle_star_domain::config::{AgentsChoice, Config, Context};
use mle_star_domain::role::AgentType;

/// What those who answer the prompts can do beyond answering. It follows from the configuration, so that a replay without
/// them asks the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// Their calls cost neither money nor noticeable time.
    pub are_free: bool,
    /// They know more models than they are asked for.
    pub name_more_models: bool,
    /// They can search the web.
    pub search: bool,
}

impl Abilities {
    /// Those of the agents of a run.
    pub fn of(config: &Config) -> Self {
        let are_rules = config.agents == AgentsChoice::Offline;
        Self { are_free: are_rules, name_more_models: are_rules, search: !are_rules }
    }
}

/// Whether agents are asked for a submission script that keeps its model. The scripts of the built-in rules do so anyway.
pub(crate) fn asks_for_model(config: &Config) -> bool {
    config.context == Context::Full && !Abilities::of(config).are_free
}

/// Which of its tools an agent gets. Agents that are told about the data need not read it for an ablation study, which changes
/// a script that works. Without tools, its prompt begins as those of coder and planner do, so that services cache the solution
/// once.
pub(crate) fn tools(
    config: &Config,
    agent: AgentType,
    tools: &'static [&'static str],
) -> &'static [&'static str] {
    if agent == AgentType::Ablation && config.context == Context::Full { &[] } else { tools }
}
