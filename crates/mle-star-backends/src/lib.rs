//! Runs the scripts of `mle-star`: [`backend`] implements [`ScriptRunner`](mle_star::backend::ScriptRunner), [`script`]
//! runs one on this machine, and [`runners`] on others. [`file_agents`] implements
//! [`AgentBackend`](mle_star::backend::AgentBackend) for people and other programs.

pub mod backend;
pub mod file_agents;
pub mod runners;
pub mod script;
