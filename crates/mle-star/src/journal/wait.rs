//! Waiting for the disk, without holding up the other runs of the process.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Does work that forces something to the disk; where there are several threads, another one goes on with what else
/// there is to do.
pub(super) fn for_disk<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}
