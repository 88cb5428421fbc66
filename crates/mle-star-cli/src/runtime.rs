//! Runs asynchronous work from synchronous code.

use mle_star::stop::Trouble;
use tokio::runtime::Builder;

use crate::exit::Failure;

/// Runs work on the current thread.
///
/// # Errors
/// The runtime cannot be started.
pub fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::failed(Trouble::new(
            format!("cannot start: {error}"),
            "free memory, or stop other processes",
        ))
    })?;
    Ok(runtime.block_on(work))
}
