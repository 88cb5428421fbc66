//! Runs blocking disk writes without delaying the other runs of the process.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Does work that syncs a file to the disk. On a multi-threaded runtime, other tasks continue on another thread.
pub(super) fn for_disk<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}
