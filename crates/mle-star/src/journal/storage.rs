//! The file system of a run folder: whether it has locks, and so how SQLite writes there.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "file systems are tried with files")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;

use super::owner;
use mle_star_domain::layout::LOCK;

/// File systems of which other machines may have the same files. Also those of programs (FUSE), because many of them
/// lead to another machine.
const NETWORK_FS: &str = "9p acfs afs beegfs ceph cifs coda fuse fuseblk gfs2 glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2 \
    panfs smb3 smbfs virtiofs";

/// The abilities of a file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Storage {
    /// The kind of the file system, such as `ext4` or `nfs4`; `None` if the system does not say, as for subvolumes of btrfs.
    pub kind: Option<String>,
    /// Whether the kernel locks files.
    pub has_locks: bool,
    /// Whether the journal keeps a write-ahead log.
    pub has_log: bool,
}

/// How SQLite writes a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// With a write-ahead log. It needs memory that processes of one machine share, and locks.
    Log,
    /// With a rollback journal and no locks of SQLite, under the lock of the run.
    Rollback,
}

impl Mode {
    /// The mode for a folder that this process has locked.
    pub fn of(folder: &Path) -> Self {
        let lock_is_of_kernel = !owner::file_of(&folder.join(LOCK)).exists();
        let has_log = lock_is_of_kernel && !is_of_network(kind(folder).as_deref());
        if has_log { Self::Log } else { Self::Rollback }
    }
}

/// Finds out what the file system of a folder offers, by locking a file that is removed again.
///
/// # Errors
/// The folder cannot be written.
pub fn storage(folder: &Path) -> io::Result<Storage> {
    let path = folder.join(format!(".locks-{}", std::process::id()));
    let file = File::options().write(true).create_new(true).open(&path)?;
    let locked = file.try_lock();
    fs::remove_file(&path)?;
    let (kind, has_locks) = (kind(folder), locked.is_ok());
    let has_log = has_locks && !is_of_network(kind.as_deref());
    Ok(Storage { kind, has_locks, has_log })
}

fn is_of_network(kind: Option<&str>) -> bool {
    kind.is_some_and(|kind| NETWORK_FS.split(' ').any(|one| one == kind) || kind.starts_with("fuse."))
}

/// The kind of the file system in which a folder lies.
fn kind(folder: &Path) -> Option<String> {
    let device = fs::metadata(folder).ok()?.dev();
    let device = format!("{}:{}", libc::major(device), libc::minor(device));
    kind_of(&device, &fs::read_to_string("/proc/self/mountinfo").ok()?)
}

fn kind_of(device: &str, mounts: &str) -> Option<String> {
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    line.split_once(" - ")?.1.split(' ').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_file_system_is_that_of_its_device() {
        let mounts = "27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
                      40 27 0:52 / /scratch rw,relatime shared:9 - lustre 10.0.0.1@tcp:/scratch rw,flock\n\
                      41 27 0:53 / /home/a\\040b rw - fuse.sshfs me@host: rw\n";
        let check = |device: &str, kind: Option<&str>, is_network: bool| {
            assert_eq!(kind_of(device, mounts).as_deref(), kind);
            assert_eq!(is_of_network(kind), is_network, "{kind:?}");
        };
        check("8:1", Some("ext4"), false);
        check("0:52", Some("lustre"), true);
        check("0:53", Some("fuse.sshfs"), true);
        check("0:54", None, false);
    }

    #[test]
    fn a_local_folder_has_locks_and_a_log_and_stays_empty() {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path()).unwrap();
        assert!(storage.has_locks && storage.kind.is_some(), "{storage:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
