//! Runs work that reads standard input.

use mle_star_run::RunError;
use mle_star_run::runtime::cannot_start;
use tokio::runtime::Builder;

/// Runs work that reads standard input. What still waits for it at the end is left alone.
///
/// # Errors
/// The runtime cannot be started.
pub fn listen_for<T>(work: impl Future<Output = T>) -> Result<T, RunError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| cannot_start(&error))?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}
