//! The abilities of agents, by the configuration: search, tools, models that are kept.

use mle_star_domain::config::{AgentsChoice, Config, Context};
use mle_star_domain::role::AgentType;

/// Whether those who answer are the built-in rules: their calls cost neither money nor noticeable time, they know more models than
/// they are asked for, and they cannot search the web. It follows from the configuration, so that a replay without them asks
/// the same.
pub(crate) fn are_rules(config: &Config) -> bool {
    config.agents == AgentsChoice::Offline
}

/// Whether agents are asked for a submission script that keeps its model. The scripts of the built-in rules do so anyway.
pub(crate) fn asks_for_model(config: &Config) -> bool {
    config.context == Context::Full && !are_rules(config)
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
