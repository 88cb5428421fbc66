//! The outside of `mle-star`: the agents that answer and the processes that run scripts.
//!
//! [`agent`] implements [`AgentBackend`](mle_star::effects::AgentBackend), [`script`] implements
//! [`ScriptRunner`](mle_star::effects::ScriptRunner).

pub mod agent;
pub mod process;
pub mod script;
