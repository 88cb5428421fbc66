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
pub(super) fn descendants(root: u32) -> Vec<u32> {
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

/// Memory that ends with the process: anonymous pages, shared memory and swap, but no mapped files. What several
/// processes share, as after a fork, is divided among them.
fn private_kib(process: u32) -> u64 {
    let file = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
    match file("smaps_rollup") {
        Ok(text) if text.contains("Pss_Anon:") => sum(&text, ["Pss_Anon", "Pss_Shmem", "SwapPss"]),
        // Older kernels, and processes that may not be looked into: shared pages count for each.
        _ => sum(&file("status").unwrap_or_default(), ["RssAnon", "RssShmem", "VmSwap"]),
    }
}

fn sum(text: &str, names: [&str; 3]) -> u64 {
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name).then_some(())?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(value).sum()
}
