//! Runs the scripts of `mle-star` on this machine: [`script`] implements
//! [`ScriptRunner`](mle_star::effects::ScriptRunner).

pub mod script;
