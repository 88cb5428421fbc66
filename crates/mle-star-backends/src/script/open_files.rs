//! How many files the program may have open.
//!
//! A script that has no processes of its own to see reaches the program, and may lower this (`prlimit`). Then nothing
//! could be looked at any more: neither what the script takes, nor what others do.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{Resource as Limited, getrlimit, setrlimit};

use super::watch::{Excess, Resource};

/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(100);

/// As it was when the first script was to run.
static AT_FIRST: OnceLock<u64> = OnceLock::new();
/// How often it was found lower than that, by whichever script's watch.
static LOWERED: AtomicU64 = AtomicU64::new(0);

/// How often somebody lowered the limit. It is as it was again.
///
/// # Errors
/// It cannot be raised.
pub(super) fn times_lowered() -> io::Result<u64> {
    let (now, most) = getrlimit(Limited::RLIMIT_NOFILE)?;
    let at_first = *AT_FIRST.get_or_init(|| now);
    if now < at_first {
        LOWERED.fetch_add(1, Ordering::Relaxed);
        setrlimit(Limited::RLIMIT_NOFILE, at_first, most.max(at_first))?;
    }
    Ok(LOWERED.load(Ordering::Relaxed))
}

/// Returns once somebody has lowered the limit more often than `before`.
pub(super) async fn lowered(before: u64) -> Excess {
    while times_lowered().is_ok_and(|times| times == before) {
        tokio::time::sleep(EVERY).await;
    }
    let said =
        "stopped: while it ran, the limit of this program's open files was lowered (prlimit)".to_owned();
    Excess { said, of: Resource::OpenFiles }
}
