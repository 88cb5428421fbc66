//! Runs the scripts of `mle-star`: [`script`] implements [`ScriptRunner`](mle_star::backend::ScriptRunner), [`runners`]
//! is for scripts on other machines. [`files`] implements
//! [`AgentBackend`](mle_star::backend::AgentBackend) for people and other programs.

pub mod files;
pub mod runners;
pub mod script;
