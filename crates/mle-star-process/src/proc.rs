//! What `/proc` tells about running processes and the machine. An entry that cannot be read counts as empty:
//! processes end at any moment.
//!
//! Two things are read without `procfs`. It rejects the whole `status` of a process whose name is not UTF-8, and a
//! hostile process chooses its name; and it does not give the size of open files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use procfs::process::{MountInfo, Process, all_processes};
use procfs::{Current, Meminfo};

/// Whether this process ignores SIGHUP, as under `nohup`.
pub fn ignores_hangup() -> bool {
    let status = Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| status.sigign & 1 == 1)
}

/// The direct children of a process, those of all its threads.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let tasks = open(process).and_then(|process| process.tasks().ok());
    tasks.into_iter().flatten().flatten().flat_map(|task| task.children().unwrap_or_default()).collect()
}

/// Every process below `root`, without `root` itself; a few more than `most` if there are more.
pub(crate) fn descendants(root: u32, most: u64) -> Vec<u32> {
    let mut found = children(root);
    let mut next = 0;
    while let Some(&process) = found.get(next).filter(|_| found.len() as u64 <= most) {
        found.extend(children(process));
        next += 1;
    }
    found
}

/// The child of a process that has one.
pub(crate) fn only_child(process: u32) -> Option<u32> {
    children(process).first().copied()
}

/// Every process that was started with the variable `name` set to `value`.
pub(crate) fn with_variable(name: &str, value: &str) -> Vec<i32> {
    let carries = |process: &Process| {
        process.environ().is_ok_and(|all| all.get(OsStr::new(name)).is_some_and(|found| found == value))
    };
    all_processes().into_iter().flatten().flatten().filter(carries).map(|process| process.pid()).collect()
}

/// How long each thread of a process has run and waited to run, in nanoseconds.
pub(crate) fn thread_times(process: u32) -> Vec<(u64, u64)> {
    let tasks = open(process).and_then(|process| process.tasks().ok());
    let times = tasks.into_iter().flatten().flatten().filter_map(|task| task.schedstat().ok());
    times.map(|times| (times.sum_exec_runtime, times.run_delay)).collect()
}

/// The memory of a process that is freed when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) private_kib: u64,
    pub(crate) shared_kib: u64,
}

/// Anonymous pages, swap, page tables and shared memory, but no mapped files. Pages that several processes share, as
/// after a fork, are divided among them.
pub(crate) fn memory(process: u32) -> Memory {
    let (process, status) = visible(process);
    let sum = |names: &[&str]| names.iter().filter_map(|name| kib(&status, name)).sum::<u64>();
    let rollup = open(process).and_then(|process| process.smaps_rollup().ok());
    let rollup = rollup.and_then(|rollup| rollup.memory_map_rollup.0.into_iter().next());
    let tables = sum(&["VmPTE"]);
    match rollup.map(|rollup| rollup.extension.map).filter(|sizes| sizes.contains_key("Pss_Anon")) {
        Some(sizes) => {
            let of = |name: &str| sizes.get(name).copied().unwrap_or(0) / 1024;
            Memory { private_kib: tables + of("Pss_Anon") + of("SwapPss"), shared_kib: of("Pss_Shmem") }
        }
        // Older kernels, and processes that may not be inspected: shared pages count for each process.
        None => Memory { private_kib: tables + sum(&["RssAnon", "VmSwap"]), shared_kib: sum(&["RssShmem"]) },
    }
}

/// The size of the files in memory that have no name (`memfd_create`, `memfd_secret`) and are open in `processes`.
pub(crate) fn unnamed_files_kib(processes: &[u32]) -> u64 {
    let open_files = |process: &u32| {
        fs::read_dir(format!("/proc/{}/fd", visible(*process).0)).into_iter().flatten().flatten()
    };
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
        processes.iter().flat_map(open_files).filter_map(|entry| size(&entry.path())).collect();
    sizes.values().sum::<u64>() / 1024
}

/// The machine's memory in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MachineMemory {
    pub(crate) total_kib: u64,
    pub(crate) available_kib: u64,
    /// Shared memory, files in memory, and memory that can never be swapped out.
    pub(crate) shared_kib: u64,
}

/// The machine's memory; all 0 if unknown.
pub(crate) fn machine_memory() -> MachineMemory {
    let Ok(memory) = Meminfo::current() else { return MachineMemory::default() };
    let kib = |bytes: Option<u64>| bytes.unwrap_or(0) / 1024;
    MachineMemory {
        total_kib: memory.mem_total / 1024,
        available_kib: kib(memory.mem_available),
        shared_kib: kib(memory.shmem) + kib(memory.unevictable),
    }
}

/// How many processes the kernel has killed because memory ran out; `None` if it does not count them.
pub(crate) fn out_of_memory_kills() -> Option<u64> {
    procfs::vmstat().ok()?.get("oom_kill").and_then(|count| u64::try_from(*count).ok())
}

/// The version 2 control group of this process and where version 2 groups are mounted: the group's path, and root and
/// mount point of each mount.
pub(crate) fn control_group() -> Option<(PathBuf, Vec<(PathBuf, PathBuf)>)> {
    let this = Process::myself().ok()?;
    let group = this.cgroups().ok()?.0.into_iter().find(|group| group.hierarchy == 0)?;
    let is_v2 = |mount: &MountInfo| mount.fs_type == "cgroup2";
    let mounts = this.mountinfo().ok()?.0.into_iter().filter(is_v2);
    Some((group.pathname.into(), mounts.map(|mount| (mount.root.into(), mount.mount_point)).collect()))
}

fn open(process: u32) -> Option<Process> {
    Process::new(i32::try_from(process).ok()?).ok()
}

/// The thread whose entry in `/proc` shows the memory of a process, and its status: the first, or another one if the
/// first has ended.
fn visible(process: u32) -> (u32, String) {
    let look = |thread: u32| {
        let status = fs::read(format!("/proc/{thread}/status")).unwrap_or_default();
        (thread, String::from_utf8_lossy(&status).into_owned())
    };
    let has_memory = |(_, status): &(u32, String)| kib(status, "RssAnon").is_some();
    let first = look(process);
    if has_memory(&first) {
        return first;
    }
    let tasks = open(process).and_then(|process| process.tasks().ok());
    let threads = tasks.into_iter().flatten().flatten().filter_map(|task| u32::try_from(task.tid).ok());
    threads.map(look).find(has_memory).unwrap_or(first)
}

fn kib(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}
