//! Runs the scripts of `mle-star` on this machine: [`script`] implements
//! [`ScriptRunner`](mle_star::effects::ScriptRunner). [`files`] implements
//! [`AgentBackend`](mle_star::effects::AgentBackend) for people and other programs.

pub mod files;
pub mod script;
