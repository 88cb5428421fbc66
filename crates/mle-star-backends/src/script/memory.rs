//! How many processes a script has, and how much memory they use together. Where there is no `/proc` nothing is seen.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;
use tokio::task::spawn_blocking;

use super::disk::bytes;
use super::watch::{Excess, Resource};

/// How often processes are counted, and their memory looked at unless that takes long.
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

/// Returns once the descendants of process `root` have more than `limits` allow, with a sentence that says so.
pub(super) async fn exceeded(root: u32, limits: Limits) -> Excess {
    // Among the processes of a fork bomb, looking at their memory takes long; counting them must not wait for that.
    tokio::select! {
        said = too_many(root, limits.processes) => Excess { said, of: Resource::Processes },
        said = too_large(root, limits) => Excess { said, of: Resource::Memory },
    }
}

async fn too_many(root: u32, most: u64) -> String {
    let population = Population::below(root);
    while population.count(most) <= most {
        tokio::time::sleep(EVERY).await;
    }
    format!("stopped: it had more than {most} processes at once, which is the limit")
}

async fn too_large(root: u32, limits: Limits) -> String {
    let mut pause = EVERY;
    loop {
        tokio::time::sleep(pause).await;
        let started = Instant::now();
        if let Ok(Some(said)) = spawn_blocking(move || memory_excess(root, limits)).await {
            return said;
        }
        pause = EVERY.max(started.elapsed() * SHARE);
    }
}

fn memory_excess(root: u32, limits: Limits) -> Option<String> {
    let processes = descendants(root, limits.processes);
    let limit = limits.memory_mib;
    let used = match used_mib(&processes, 0) {
        // Looked for only when there is so much shared memory on the machine.
        used if used <= limit && used + shared_mib() > limit => {
            used_mib(&processes, nameless_kib(&processes))
        }
        used => used,
    };
    if used > limit {
        return Some(format!("stopped: it used {used} MiB of memory, the limit is {limit} MiB"));
    }
    let share = limits.share_mib;
    (used > share && is_scarce()).then(|| {
        format!("stopped: it used {used} MiB of memory when the machine had hardly any left; its share is {share} MiB")
    })
}

/// The processes below a guard.
struct Population {
    root: u32,
    /// The `/proc` of their own numbering: it lists them all, however they are related.
    list: Option<File>,
}

impl Population {
    fn below(root: u32) -> Self {
        let seen_from = |process: &u32| File::open(format!("/proc/{process}/root/proc")).ok();
        let numbering = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
        let script = children(root).into_iter().next();
        let own = script.filter(|script| numbering(&script.to_string()) != numbering("self"));
        Self { root, list: own.as_ref().and_then(seen_from) }
    }

    /// The guard is not counted. Far more than `most` are not counted either.
    fn count(&self, most: u64) -> u64 {
        let Some(list) = &self.list else { return descendants(self.root, most).len() as u64 };
        let entries = fs::read_dir(format!("/proc/self/fd/{}", list.as_raw_fd()));
        let is_process = |name: &[u8]| name.first().is_some_and(u8::is_ascii_digit);
        let processes = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| is_process(entry.file_name().as_encoded_bytes()));
        (processes.count() as u64).saturating_sub(1)
    }
}

/// What the processes use, with what lies in their own shared memory and in `nameless` files, and is used by none
/// just now.
fn used_mib(processes: &[u32], nameless_kib: u64) -> u64 {
    let (mut private, mut shared) = (0, 0);
    for process in processes {
        let (more_private, more_shared) = kib(*process);
        private += more_private;
        shared += more_shared;
    }
    let lying = processes.first().map_or(0, |process| own_shared_memory_kib(*process)) + nameless_kib;
    (private + shared.max(lying)) / 1024
}

/// What lies in the `/dev/shm` of `process`, when that is not the system's.
fn own_shared_memory_kib(process: u32) -> u64 {
    let folder = PathBuf::from(format!("/proc/{process}/root/dev/shm"));
    let device = |folder: &Path| fs::metadata(folder).map(|meta| meta.dev()).ok();
    let own = device(&folder).filter(|own| Some(*own) != device(Path::new("/dev/shm")));
    let Some(Ok(size)) = own.map(|_| statvfs(&folder)) else { return 0 };
    bytes(size.blocks().saturating_sub(size.blocks_free()), size.fragment_size()) / 1024
}

/// The files in memory that have no name (`memfd_create`) and are open in `processes`.
fn nameless_kib(processes: &[u32]) -> u64 {
    let open = |process: &u32| fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let is_nameless = |link: &Path| {
        fs::read_link(link).is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"/memfd:"))
    };
    let links = processes.iter().flat_map(open).map(|entry| entry.path()).filter(|link| is_nameless(link));
    let files = links.filter_map(|link| fs::metadata(link).ok());
    let sizes: BTreeMap<(u64, u64), u64> =
        files.map(|file| ((file.dev(), file.ino()), file.blocks() * 512)).collect();
    sizes.values().sum::<u64>() / 1024
}

/// All that is shared or lies in memory of this machine.
fn shared_mib() -> u64 {
    sum(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), &["Shmem"]) / 1024
}

fn is_scarce() -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let (total, available) = (sum(&text, &["MemTotal"]), sum(&text, &["MemAvailable"]));
    available > 0 && available < total / SCARCE
}

/// Every process below `root`, without `root` itself; a few more than `most` when there are more.
pub(super) fn descendants(root: u32, most: u64) -> Vec<u32> {
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
