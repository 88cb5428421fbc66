//! How much memory a script and everything it started use together.

use std::fs;
use std::time::Duration;

/// How often a limited script is looked at.
const EVERY: Duration = Duration::from_millis(250);

/// Returns once the descendants of process `root` use more than `limit_mib` together, with the MiB seen.
pub(super) async fn exceeded(root: u32, limit_mib: u64) -> u64 {
    loop {
        tokio::time::sleep(EVERY).await;
        let used = descendants(root).into_iter().map(private_kib).sum::<u64>() / 1024;
        if used > limit_mib {
            return used;
        }
    }
}

/// Every process below `root`, without `root` itself.
fn descendants(root: u32) -> Vec<u32> {
    let mut found = children(root);
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        found.extend(children(process));
        next += 1;
    }
    found
}

fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Memory that ends with the process: anonymous pages, shared memory and swap, but no mapped files.
fn private_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        ["RssAnon", "RssShmem", "VmSwap"].contains(&name).then_some(())?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    status.lines().filter_map(value).sum()
}
