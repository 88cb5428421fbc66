//! The processes around `mle-star`: [`script`] runs scripts as its
//! [`ScriptRunner`](mle_star::effects::ScriptRunner), [`process`] keeps child processes.

pub mod process;
pub mod script;
