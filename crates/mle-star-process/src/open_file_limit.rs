//! Guards the program's limit of open files (`RLIMIT_NOFILE`) against children that lower it.
//!
//! A child without its own process namespace can see the program and lower this limit (`prlimit`). Then the program
//! could no longer measure what its children use.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{Resource as RlimitResource, getrlimit, setrlimit};

use crate::error::Error;
use crate::excess::{Excess, Resource};

/// How often the limit is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The limit when the first child was started.
static INITIAL_LIMIT: OnceLock<u64> = OnceLock::new();
/// How often the limit was found lower than that.
static TIMES_LOWERED: AtomicU64 = AtomicU64::new(0);

/// Raises the limit again if it is lower than when the first child was started. Returns how often it was lowered since then.
///
/// # Errors
/// The limit cannot be raised.
pub fn restore_limit() -> Result<u64, Error> {
    let raise = || -> io::Result<()> {
        let (soft_limit, hard_limit) = getrlimit(RlimitResource::RLIMIT_NOFILE)?;
        let initial = *INITIAL_LIMIT.get_or_init(|| soft_limit);
        if soft_limit < initial {
            TIMES_LOWERED.fetch_add(1, Ordering::Relaxed);
            setrlimit(RlimitResource::RLIMIT_NOFILE, initial, hard_limit.max(initial))?;
        }
        Ok(())
    };
    raise().map_err(Error::OpenFileLimit)?;
    Ok(TIMES_LOWERED.load(Ordering::Relaxed))
}

/// Returns once the limit was lowered more often than `before`.
pub(crate) async fn wait_until_lowered(before: u64) -> Excess {
    while restore_limit().is_ok_and(|times| times == before) {
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    let message = "stopped: while it ran, this program's open-file limit was lowered (prlimit)".to_owned();
    Excess { message, resource: Resource::OpenFiles }
}
