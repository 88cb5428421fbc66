//! How many files the program may have open.
//!
//! A child without its own process namespace can see the program and lower this limit (`prlimit`). Then the program
//! could no longer measure what its children use.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{Resource as Limited, getrlimit, setrlimit};

use crate::error::Error;
use crate::excess::{Excess, Resource};

/// How often the limit is checked.
const EVERY: Duration = Duration::from_millis(100);

/// The limit when the first child was started.
static AT_FIRST: OnceLock<u64> = OnceLock::new();
/// How often the limit was found lower than that.
static LOWERED: AtomicU64 = AtomicU64::new(0);

/// How often the limit was lowered since the first child was started. Raises it again if it is lower now.
///
/// # Errors
/// The limit cannot be raised.
pub fn times_lowered() -> Result<u64, Error> {
    let raise = || -> io::Result<()> {
        let (now, most) = getrlimit(Limited::RLIMIT_NOFILE)?;
        let at_first = *AT_FIRST.get_or_init(|| now);
        if now < at_first {
            LOWERED.fetch_add(1, Ordering::Relaxed);
            setrlimit(Limited::RLIMIT_NOFILE, at_first, most.max(at_first))?;
        }
        Ok(())
    };
    raise().map_err(Error::OpenFileLimit)?;
    Ok(LOWERED.load(Ordering::Relaxed))
}

/// Returns once the limit was lowered more often than `before`.
pub(crate) async fn lowered(before: u64) -> Excess {
    while times_lowered().is_ok_and(|times| times == before) {
        tokio::time::sleep(EVERY).await;
    }
    let message = "stopped: while it ran, this program's open-file limit was lowered (prlimit)".to_owned();
    Excess { message, resource: Resource::OpenFiles }
}
