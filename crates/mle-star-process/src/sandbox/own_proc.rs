//! What a child may write in `/proc`: CUDA names its threads there, in `/proc/self/task/ID/comm`.
//!
//! Processes and threads that do not exist yet have no files to make rules for, so either all of `/proc` is open to
//! writes or nothing is. Where it is open, the machine's settings in it are read-only by other means.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use nix::unistd::{AccessFlags, access};

use super::layers::Layers;

/// Whoever can write one of these controls the machine. Containers make them read-only for their root.
const POWERFUL: [&str; 2] = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"];

/// May a child write to `/proc`, where the machine has GPUs or not?
///
/// In its own process namespace it only sees itself there. Without one, it sees other processes of its user and could
/// change how likely the kernel is to kill them, so only those who need it get it; and the machine's settings must be
/// read-only, by mounts or because this user may not write them.
pub(super) fn is_open(layers: &Layers, has_gpus: bool) -> bool {
    let are_closed =
        || layers.shared_memory || POWERFUL.iter().all(|path| access(*path, AccessFlags::W_OK).is_err());
    layers.processes || has_gpus && are_closed()
}

/// What is not about processes in `/proc` and root could write, such as `core_pattern` in `/proc/sys`, which names a
/// program that the kernel starts outside of all namespaces.
pub(super) fn settings() -> Vec<CString> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &[u8]| name.iter().all(u8::is_ascii_digit);
    let others = entries.filter(|entry| !is_process(entry.file_name().as_bytes()));
    let is_setting = |entry: &fs::DirEntry| {
        // Not those of the targets of links: they lead to files of processes.
        let is_writable = |meta: &fs::Metadata| meta.is_dir() || meta.permissions().mode() & 0o222 != 0;
        entry.metadata().is_ok_and(|meta| !meta.is_symlink() && is_writable(&meta))
    };
    others
        .filter(is_setting)
        .filter_map(|entry| CString::new(entry.path().as_os_str().as_bytes()).ok())
        .collect()
}
