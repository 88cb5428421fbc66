//! Does a script get on? One that was forked where something had computed waits for ever, without a sound.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use crate::script::memory::descendants;

/// So many processes of a script are looked at.
const MANY: u64 = 4096;

/// Returns once the descendants of process `root` have neither used a processor nor written to `logs` for
/// `patience`. Never returns where the system does not tell.
pub(in crate::script) async fn stalled(root: u32, logs: &[PathBuf; 2], patience: Duration) {
    let mut last = (Vec::new(), [0; 2]);
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(patience / 8).await;
        let now =
            (processor_use(root), logs.each_ref().map(|log| fs::metadata(log).map_or(0, |meta| meta.len())));
        if now != last || now.0.is_empty() {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= patience {
            return;
        }
    }
}

/// What the system says about the time each thread has run and waited to run.
fn processor_use(root: u32) -> Vec<String> {
    let threads =
        |process: u32| fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let all = descendants(root, MANY).into_iter().flat_map(threads);
    all.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok()).collect()
}
