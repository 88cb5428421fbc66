//! Runs asynchronous work from synchronous code.

use mle_star_domain::trouble::Trouble;
use tokio::runtime::Builder;

use crate::exit::Failure;

/// Runs work that reads standard input. What still waits for it at the end is left alone.
///
/// # Errors
/// The runtime cannot be started.
pub fn listen_for<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| cannot_start(&error))?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}

/// Runs work on the current thread.
///
/// # Errors
/// The runtime cannot be started.
pub fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| cannot_start(&error))?;
    Ok(runtime.block_on(work))
}

/// The error for a runtime that does not start.
pub fn cannot_start(error: &std::io::Error) -> Failure {
    Failure::failed(Trouble::new(format!("cannot start: {error}"), "free memory, or stop other processes"))
}
