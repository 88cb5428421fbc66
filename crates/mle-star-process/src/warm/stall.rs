//! Detects a child that makes no progress. A child that was forked while a thread held a lock may wait forever.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use crate::proc;

/// The maximum number of a child's processes to inspect.
const MAX_PROCESSES: u64 = 4096;

/// Returns once the descendants of process `root` have neither used a processor nor written to `logs` for as long as
/// `limit`. Never returns if the system does not report processor use.
pub(crate) async fn stalled(root: u32, logs: &[PathBuf; 2], limit: Duration) {
    let mut last = (Vec::new(), [0; 2]);
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(limit / 8).await;
        let now =
            (processor_use(root), logs.each_ref().map(|log| fs::metadata(log).map_or(0, |meta| meta.len())));
        if now != last || now.0.is_empty() {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= limit {
            return;
        }
    }
}

/// How long each thread ran, and waited to run, in nanoseconds.
fn processor_use(root: u32) -> Vec<(u64, u64)> {
    proc::descendants(root, MAX_PROCESSES).into_iter().flat_map(proc::thread_times).collect()
}
