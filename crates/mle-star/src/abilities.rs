//! What those who answer prompts can do, by the configuration.

use mle_star_domain::config::AgentsChoice;

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

impl From<AgentsChoice> for Abilities {
    fn from(agents: AgentsChoice) -> Self {
        let are_rules = agents == AgentsChoice::Offline;
        Self { are_free: are_rules, name_more_models: are_rules, search: !are_rules }
    }
}
