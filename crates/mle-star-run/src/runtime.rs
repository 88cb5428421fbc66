//! Runs asynchronous work from synchronous code.

use std::time::Duration;

use mle_star_domain::trouble::Trouble;
use tokio::runtime::Builder;

use crate::error::RunError;

/// Runs work on the current thread.
///
/// # Errors
/// The runtime cannot be started.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, RunError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| cannot_start(&error))?;
    Ok(runtime.block_on(work))
}

/// Drives runs on several threads.
///
/// # Errors
/// The error of the work; the runtime cannot be started.
pub fn drive_with_threads<T, E: From<RunError>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| cannot_start(&error))?;
    let done = runtime.block_on(work);
    // Background tasks belong to runs that have ended.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// The error for a runtime that does not start.
pub fn cannot_start(error: &std::io::Error) -> RunError {
    RunError::failed(Trouble::new(format!("cannot start: {error}"), "free memory, or stop other processes"))
}
