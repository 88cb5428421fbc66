//! How many processes a script has, and how much memory they use together.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;

/// How often a script is looked at, unless looking takes long.
const EVERY: Duration = Duration::from_millis(100);
/// Looking takes at most this part of the time.
const SHARE: u32 = 20;
/// With less than this part of the machine's memory left, whoever uses more than its share has to go.
const SCARCE: u64 = 32;

/// How much memory and how many processes one script may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// What the user allows it, or nearly all of the machine, in MiB.
    pub(super) memory_mib: u64,
    /// Its share of the machine's memory in MiB; counts when memory is short.
    pub(super) share_mib: u64,
    /// The most processes.
    pub(super) processes: u64,
}

/// What a script has too much of.
#[derive(Debug)]
pub(super) struct Excess {
    /// A sentence that says so.
    pub(super) said: String,
    /// Memory, and not something else.
    pub(super) of_memory: bool,
}

/// Returns once the descendants of process `root` have more than `limits` allow.
pub(super) async fn exceeded(root: u32, limits: Limits) -> Excess {
    let mut pause = EVERY;
    loop {
        tokio::time::sleep(pause).await;
        let started = Instant::now();
        if let Some(excess) = excess(root, limits) {
            return excess;
        }
        pause = EVERY.max(started.elapsed() * SHARE);
    }
}

fn excess(root: u32, limits: Limits) -> Option<Excess> {
    let most = limits.processes;
    let processes = descendants(root, most);
    if processes.len() as u64 > most {
        let said = format!("stopped: it had more than {most} processes at once, which is the limit");
        return Some(Excess { said, of_memory: false });
    }
    let used = used_mib(&processes);
    let limit = limits.memory_mib;
    if used > limit {
        let said = format!("stopped: it used {used} MiB of memory, the limit is {limit} MiB");
        return Some(Excess { said, of_memory: true });
    }
    let share = limits.share_mib;
    (used > share && is_scarce()).then(|| Excess {
        said: format!(
            "stopped: it used {used} MiB of memory when the machine had hardly any left; its share is {share} MiB"
        ),
        of_memory: true,
    })
}

/// What the processes use, with what lies in their own shared memory and is used by none just now.
fn used_mib(processes: &[u32]) -> u64 {
    let (mut private, mut shared) = (0, 0);
    for process in processes {
        let (more_private, more_shared) = kib(*process);
        private += more_private;
        shared += more_shared;
    }
    let lying = processes.first().map_or(0, |process| own_shared_memory_kib(*process));
    (private + shared.max(lying)) / 1024
}

/// What lies in the `/dev/shm` of `process`, when that is not the system's.
fn own_shared_memory_kib(process: u32) -> u64 {
    let folder = PathBuf::from(format!("/proc/{process}/root/dev/shm"));
    let device = |folder: &Path| fs::metadata(folder).map(|meta| meta.dev()).ok();
    let own = device(&folder).filter(|own| Some(*own) != device(Path::new("/dev/shm")));
    let Some(Ok(size)) = own.map(|_| statvfs(&folder)) else { return 0 };
    size.blocks().saturating_sub(size.blocks_free()) * size.fragment_size() / 1024
}

fn is_scarce() -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let (total, available) = (sum(&text, &["MemTotal"]), sum(&text, &["MemAvailable"]));
    available > 0 && available < total / SCARCE
}

/// Every process below `root`, without `root` itself; a few more than `most` when there are more. A fork bomb must
/// not keep whoever looks at it busy.
fn descendants(root: u32, most: u64) -> Vec<u32> {
    let mut found = children(root);
    let mut next = 0;
    while let Some(&process) = found.get(next).filter(|_| found.len() as u64 <= most) {
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

/// Memory that ends with the process, private and shared, in KiB: anonymous pages, swap and shared memory, but no
/// mapped files. What several processes share, as after a fork, is divided among them.
fn kib(process: u32) -> (u64, u64) {
    let file = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
    match file("smaps_rollup") {
        Ok(text) if text.contains("Pss_Anon:") => {
            (sum(&text, &["Pss_Anon", "SwapPss"]), sum(&text, &["Pss_Shmem"]))
        }
        // Older kernels, and processes that may not be looked into: shared pages count for each.
        _ => {
            let text = file("status").unwrap_or_default();
            (sum(&text, &["RssAnon", "VmSwap"]), sum(&text, &["RssShmem"]))
        }
    }
}

fn sum(text: &str, names: &[&str]) -> u64 {
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name).then_some(())?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(value).sum()
}
