//! Asynchronous work awaited from the outside.

use mle_star::stop::Trouble;
use tokio::runtime::Builder;

use crate::exit::Failure;

/// Waits for work that needs no threads of its own.
///
/// # Errors
/// The machine has no room for it.
pub fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::failed(Trouble::new(format!("cannot start: {error}"), "free some memory or processes"))
    })?;
    Ok(runtime.block_on(work))
}
