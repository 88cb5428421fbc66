//! How many processes a child has, and how much memory they use together. Without `/proc`, nothing is counted.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::statvfs::fstatvfs;
use tokio::task::spawn_blocking;

use crate::disk::bytes;
use crate::excess::{Excess, Resource};
use crate::proc;

/// How often processes are counted, and their memory measured unless that takes long.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Measuring takes at most this part of the time.
const SHARE: u32 = 20;
/// Memory is scarce when less than this part of the machine's is available.
const SCARCE: u64 = 32;

/// How much memory and how many processes one child may have.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The memory limit in MiB.
    pub memory_mib: u64,
    /// The child's share of the machine's memory in MiB. It counts only when memory is scarce.
    pub share_mib: u64,
    /// The number of processes.
    pub processes: u64,
}

/// How many processes of this machine the kernel had killed at one moment because memory ran out.
#[derive(Clone, Copy, Debug)]
pub struct KernelKills(Option<u64>);

impl KernelKills {
    /// The number until now.
    pub fn so_far() -> Self {
        Self(proc::out_of_memory_kills())
    }

    /// Were there any since? No, if the kernel does not count them.
    pub fn any_since(self) -> bool {
        self.0.zip(Self::so_far().0).is_some_and(|(before, now)| now > before)
    }
}

/// The most memory that a child was seen to use, in MiB.
#[derive(Debug, Default)]
pub(crate) struct Peak(AtomicU64);

impl Peak {
    fn note(&self, mib: u64) {
        self.0.fetch_max(mib, Ordering::Relaxed);
    }

    /// `None` if nothing was measured.
    pub fn mib(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|mib| *mib > 0)
    }
}

/// Returns once the descendants of process `root` exceed `limits`. `peak` is updated all the time.
pub(crate) async fn exceeded(root: u32, limits: Limits, peak: Arc<Peak>) -> Excess {
    // Measuring the memory of a fork bomb takes long; counting its processes must not wait for that.
    tokio::select! {
        message = too_many(root, limits.processes) => Excess { message, resource: Resource::Processes },
        message = too_large(root, limits, peak) => Excess { message, resource: Resource::Memory },
    }
}

async fn too_many(root: u32, most: u64) -> String {
    let population = Population::below(root);
    while population.count(most) <= most {
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    format!("stopped: it had more than {most} processes at once, which is the limit")
}

async fn too_large(root: u32, limits: Limits, peak: Arc<Peak>) -> String {
    let mut folder = None;
    loop {
        let started = Instant::now();
        let peak = Arc::clone(&peak);
        let measure = move || {
            // Opened early and kept: the child may later change its root folder.
            folder = folder.or_else(|| own_shared_memory(root));
            (memory_excess(root, limits, folder.as_ref(), &peak), folder)
        };
        let (message, kept) = spawn_blocking(measure).await.unwrap_or_default();
        if let Some(message) = message {
            return message;
        }
        folder = kept;
        tokio::time::sleep(CHECK_INTERVAL.max(started.elapsed() * SHARE)).await;
    }
}

fn memory_excess(root: u32, limits: Limits, folder: Option<&File>, peak: &Peak) -> Option<String> {
    let processes = proc::descendants(root, limits.processes);
    let limit = limits.memory_mib;
    let files = folder.map_or(0, files_kib);
    let used = match used_mib(&processes, files) {
        // Searching open files takes long, so it is done only if the machine has enough such memory to matter.
        used if used <= limit && used + proc::machine_memory().shared_kib / 1024 > limit => {
            used_mib(&processes, files + proc::unnamed_files_kib(&processes))
        }
        used => used,
    };
    peak.note(used);
    if used > limit {
        return Some(format!("stopped: it used {used} MiB of memory, the limit is {limit} MiB"));
    }
    let share = limits.share_mib;
    (used > share && is_scarce()).then(|| {
        format!(
            "stopped: it used {used} MiB of memory when the machine had almost none left; its share is {share} MiB"
        )
    })
}

/// The processes below a supervisor.
struct Population {
    root: u32,
    /// The `/proc` of the child's own process namespace: it lists all processes, however they are related.
    list: Option<File>,
}

impl Population {
    fn below(root: u32) -> Self {
        let seen_from = |process: &u32| File::open(format!("/proc/{process}/root/proc")).ok();
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
        let child = proc::children(root).into_iter().next();
        let own = child.filter(|child| namespace(&child.to_string()) != namespace("self"));
        Self { root, list: own.as_ref().and_then(seen_from) }
    }

    /// The number of processes without the supervisor. Counting stops a little above `most`.
    fn count(&self, most: u64) -> u64 {
        let Some(list) = &self.list else { return proc::descendants(self.root, most).len() as u64 };
        // Only counts names: `procfs` would open each process of a fork bomb.
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

/// What the processes use, or their `files_kib` in shared memory if that is more: a file need not be mapped.
fn used_mib(processes: &[u32], files_kib: u64) -> u64 {
    let (mut private, mut shared) = (0, 0);
    for process in processes {
        let memory = proc::memory(*process);
        private += memory.private_kib;
        shared += memory.shared_kib;
    }
    (private + shared.max(files_kib)) / 1024
}

/// The `/dev/shm` of what is below `root`, if it is not the system's.
fn own_shared_memory(root: u32) -> Option<File> {
    let device = |folder: &File| folder.metadata().map(|meta| meta.dev()).ok();
    let system = File::open("/dev/shm").ok().and_then(|folder| device(&folder));
    let all = std::iter::once(root).chain(proc::children(root));
    let folders = all.filter_map(|process| File::open(format!("/proc/{process}/root/dev/shm")).ok());
    folders.into_iter().find(|folder| device(folder) != system)
}

fn files_kib(folder: &File) -> u64 {
    let size = fstatvfs(folder);
    size.map_or(0, |size| {
        bytes(size.blocks().saturating_sub(size.blocks_free()), size.fragment_size()) / 1024
    })
}

fn is_scarce() -> bool {
    let memory = proc::machine_memory();
    memory.available_kib > 0 && memory.available_kib < memory.total_kib / SCARCE
}
