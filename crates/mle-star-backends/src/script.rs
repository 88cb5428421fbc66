//! Runs scripts in a Python environment and checks what they submit.
//!
//! [`environment`] finds or creates the interpreter, [`backend`](crate::backend) is the
//! [`ScriptRunner`](mle_star::backend::ScriptRunner), [`executor`] runs its scripts on this machine, and [`submission`]
//! checks submissions. The processes themselves are those of `mle-star-process`; the other modules here translate
//! between it and the algorithms.

use mle_star_domain::config::Switch;
use mle_star_domain::trouble::Trouble;
use mle_star_process::sandbox::Network;
use tokio::task::spawn_blocking;

pub mod environment;
pub mod evaluation;
pub mod executor;
pub mod gpus;
pub mod plane;
pub mod submission;
pub(crate) mod watch;

/// The network setting of a configuration, for the isolation of scripts.
pub fn network(switch: Switch) -> Network {
    match switch {
        Switch::On => Network::Allowed,
        Switch::Off => Network::Denied,
    }
}

/// Runs blocking file work on another thread.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Trouble> {
    spawn_blocking(work).await.map_err(|error| {
        Trouble::new(
            format!("a background task failed: {error}"),
            "this is a defect of mle-star, please report it",
        )
    })
}
