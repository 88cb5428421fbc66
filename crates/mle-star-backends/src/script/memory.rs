//! How many processes a script has, and how much memory they use together. Where there is no `/proc` nothing is seen.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::fstatvfs;
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
    let mut folder = None;
    loop {
        let started = Instant::now();
        let look = move || {
            // Kept from the start: later the script may have gone where it has another name, or none.
            folder = folder.or_else(|| own_shared_memory(root));
            (memory_excess(root, limits, folder.as_ref()), folder)
        };
        let (said, kept) = spawn_blocking(look).await.unwrap_or_default();
        if let Some(said) = said {
            return said;
        }
        folder = kept;
        tokio::time::sleep(EVERY.max(started.elapsed() * SHARE)).await;
    }
}

fn memory_excess(root: u32, limits: Limits, folder: Option<&File>) -> Option<String> {
    let processes = descendants(root, limits.processes);
    let limit = limits.memory_mib;
    let lying = folder.map_or(0, lying_kib);
    let used = match used_mib(&processes, lying) {
        // Looked for only when there is so much of such memory on the machine.
        used if used <= limit && used + shared_mib() > limit => {
            used_mib(&processes, lying + nameless_kib(&processes))
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

/// What the processes use, with the `lying_kib` of their own files in memory, which may be used by none just now.
fn used_mib(processes: &[u32], lying_kib: u64) -> u64 {
    let (mut private, mut shared) = (0, 0);
    for process in processes {
        let (more_private, more_shared) = kib(*process);
        private += more_private;
        shared += more_shared;
    }
    (private + shared.max(lying_kib)) / 1024
}

/// The `/dev/shm` of what is below `root`, when that is not the system's.
fn own_shared_memory(root: u32) -> Option<File> {
    let device = |folder: &File| folder.metadata().map(|meta| meta.dev()).ok();
    let system = File::open("/dev/shm").ok().and_then(|folder| device(&folder));
    let all = std::iter::once(root).chain(children(root));
    let folders = all.filter_map(|process| File::open(format!("/proc/{process}/root/dev/shm")).ok());
    folders.into_iter().find(|folder| device(folder) != system)
}

fn lying_kib(folder: &File) -> u64 {
    let size = fstatvfs(folder);
    size.map_or(0, |size| {
        bytes(size.blocks().saturating_sub(size.blocks_free()), size.fragment_size()) / 1024
    })
}

/// The files in memory that have no name (`memfd_create`, `memfd_secret`) and are open in `processes`.
fn nameless_kib(processes: &[u32]) -> u64 {
    let open = |process: &u32| fs::read_dir(seen(*process).0.join("fd")).into_iter().flatten().flatten();
    let size = |link: &Path| {
        let (target, file) = (fs::read_link(link).ok()?, fs::metadata(link).ok()?);
        let size = match target.as_os_str().as_bytes() {
            name if name.starts_with(b"/memfd:") => file.blocks() * 512,
            // It has no blocks.
            name if name.starts_with(b"/secretmem") => file.size(),
            _ => return None,
        };
        Some(((file.dev(), file.ino()), size))
    };
    let sizes: BTreeMap<(u64, u64), u64> =
        processes.iter().flat_map(open).filter_map(|entry| size(&entry.path())).collect();
    sizes.values().sum::<u64>() / 1024
}

/// All that is shared or lies in memory of this machine, or can never leave it.
fn shared_mib() -> u64 {
    sum(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), &["Shmem", "Unevictable"]) / 1024
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

/// Memory that ends with the process, private and shared, in KiB: anonymous pages, swap, page tables and shared memory,
/// but no mapped files. What several processes share, as after a fork, is divided among them.
fn kib(process: u32) -> (u64, u64) {
    let (folder, status) = seen(process);
    let tables = sum(&status, &["VmPTE"]);
    match fs::read_to_string(folder.join("smaps_rollup")) {
        Ok(text) if text.contains("Pss_Anon:") => {
            (tables + sum(&text, &["Pss_Anon", "SwapPss"]), sum(&text, &["Pss_Shmem"]))
        }
        // Older kernels, and processes that may not be looked into: shared pages count for each.
        _ => (tables + sum(&status, &["RssAnon", "VmSwap"]), sum(&status, &["RssShmem"])),
    }
}

/// Where in `/proc` a process can be looked at, with its status: as itself, or, when its first thread has ended, as
/// another of its threads.
fn seen(process: u32) -> (PathBuf, String) {
    let own = PathBuf::from(format!("/proc/{process}"));
    let looked = |folder: PathBuf| {
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        (folder, status)
    };
    let has_memory = |(_, status): &(PathBuf, String)| status.contains("\nRssAnon:");
    let first = looked(own.clone());
    if has_memory(&first) {
        return first;
    }
    let threads = fs::read_dir(own.join("task")).into_iter().flatten().flatten();
    threads.map(|thread| looked(thread.path())).find(has_memory).unwrap_or(first)
}

fn sum(text: &str, names: &[&str]) -> u64 {
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name).then_some(())?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(value).sum()
}
