//! Systems other than Linux have no `/proc`: nothing is known about processes and memory.

use std::path::PathBuf;

/// The memory of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) private_kib: u64,
    pub(crate) shared_kib: u64,
}

/// The machine's memory in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MachineMemory {
    pub(crate) total_kib: u64,
    pub(crate) available_kib: u64,
    pub(crate) shared_kib: u64,
}

/// Whether this process ignores SIGHUP; not known here.
pub fn ignores_hangup() -> bool {
    false
}

pub(crate) fn children(_process: u32) -> Vec<u32> {
    Vec::new()
}

pub(crate) fn descendants(_root: u32, _most: u64) -> Vec<u32> {
    Vec::new()
}

pub(crate) fn only_child(_process: u32) -> Option<u32> {
    None
}

pub(crate) fn with_variable(_name: &str, _value: &str) -> Vec<i32> {
    Vec::new()
}

pub(crate) fn thread_times(_process: u32) -> Vec<(u64, u64)> {
    Vec::new()
}

pub(crate) fn memory(_process: u32) -> Memory {
    Memory::default()
}

pub(crate) fn unnamed_files_kib(_processes: &[u32]) -> u64 {
    0
}

pub(crate) fn machine_memory() -> MachineMemory {
    MachineMemory::default()
}

pub(crate) fn out_of_memory_kills() -> Option<u64> {
    None
}

pub(crate) fn control_group() -> Option<(PathBuf, Vec<(PathBuf, PathBuf)>)> {
    None
}
