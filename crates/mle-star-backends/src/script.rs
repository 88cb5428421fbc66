//! Runs scripts in a Python environment and checks what they submit.
//!
//! [`environment`] finds or creates the interpreter, [`local`] is the
//! [`ScriptRunner`](mle_star::effects::ScriptRunner) of this machine, and [`submission`] checks submissions. The
//! processes themselves are those of `mle-star-process`; the other modules here translate between it and the
//! algorithms.

use mle_star::config::Switch;
use mle_star_process::sandbox::Network;

pub mod environment;
pub mod evaluation;
pub mod local;
mod out_of_memory;
mod refusals;
pub mod submission;
mod traceback;
pub(crate) mod workplace;

/// The network setting of a configuration, for the isolation of scripts.
pub fn network(switch: Switch) -> Network {
    match switch {
        Switch::On => Network::Allowed,
        Switch::Off => Network::Denied,
    }
}
