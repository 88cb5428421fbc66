//! Locks on file systems whose kernel has none, such as Lustre as it is usually mounted.
//!
//! The owner of a lock creates a file beside it, which is atomic everywhere, and removes it at the end. The file says
//! which process of which machine that is, so the next process on the same machine recognises an owner that was killed.
//! Whether an owner on another machine is alive cannot be known.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a lock is a file")]

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files;

/// Longer than what an owner writes.
const MAX_OWNER_BYTES: u64 = 4096;

/// The file of an owner, removed when dropped.
#[derive(Debug)]
pub(super) struct OwnerFile(PathBuf);

/// A process, as others can recognise it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Process {
    host: String,
    /// The machine's ID; empty if it has none.
    machine: String,
    /// Differs after each start of the machine.
    boot: String,
    /// The process namespace: `id` is a number of this one only.
    namespace: String,
    id: u32,
    /// When it started, in ticks since `boot`: process IDs are used again.
    started: String,
}

/// Where the owner of a lock is named.
pub(super) fn file_of(lock: &Path) -> PathBuf {
    lock.with_added_extension("held")
}

/// Makes this process the owner of a lock; `None` if the lock has an owner already.
///
/// # Errors
/// The file cannot be written.
pub(super) fn take(lock: &Path) -> io::Result<Option<OwnerFile>> {
    let path = file_of(lock);
    loop {
        match File::options().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => {
                // Without it, the file may be that of another owner.
                let mut file = opened?;
                let owner = OwnerFile(path);
                file.write_all(&serde_json::to_vec(&Process::this())?)?;
                file.sync_all()?;
                return Ok(Some(owner));
            }
        }
        if is_held(lock) || !remove_left(lock)? {
            return Ok(None);
        }
    }
}

/// Whether a lock has an owner that may be alive.
pub(super) fn is_held(lock: &Path) -> bool {
    let text = read(&file_of(lock));
    !matches!(&text, Err(error) if error.kind() == ErrorKind::NotFound)
        && !text.is_ok_and(|text| has_ended(&text))
}

/// The owner of a lock in words, if nobody can tell here whether it is alive.
pub(super) fn uncheckable(lock: &Path) -> Option<String> {
    let text = read(&file_of(lock)).ok()?;
    let Ok(owner) = serde_json::from_str::<Process>(&text) else {
        return Some("another process".to_owned());
    };
    (!owner.can_be_checked_here()).then(|| format!("process {} on {}", owner.id, owner.host))
}

impl Drop for OwnerFile {
    fn drop(&mut self) {
        // If it stays, the next process on this machine sees that its owner has ended.
        let _ = fs::remove_file(&self.0);
    }
}

impl Process {
    fn this() -> Self {
        let line = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let id = std::process::id();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self {
            host: line("/proc/sys/kernel/hostname"),
            machine: line("/etc/machine-id"),
            boot: line("/proc/sys/kernel/random/boot_id"),
            namespace: namespace.to_string_lossy().into_owned(),
            id,
            started: start_of(id).unwrap_or_default(),
        }
    }

    /// Whether this process can find out if that one has ended.
    fn can_be_checked_here(&self) -> bool {
        let here = Self::this();
        let is_this_machine =
            !self.machine.is_empty() && (&self.machine, &self.host) == (&here.machine, &here.host);
        is_this_machine && (self.boot != here.boot || self.namespace == here.namespace)
    }

    fn has_ended(&self) -> bool {
        let is_of_this_boot = self.boot == Self::this().boot;
        self.can_be_checked_here() && !(is_of_this_boot && start_of(self.id).as_ref() == Some(&self.started))
    }
}

fn has_ended(text: &str) -> bool {
    serde_json::from_str::<Process>(text).is_ok_and(|owner| owner.has_ended())
}

/// When a living process started.
fn start_of(id: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_alive = fields.next().is_some_and(|state| !matches!(state, "Z" | "X"));
    fields.nth(18).filter(|_| is_alive).map(str::to_owned)
}

/// Removes the file of an owner that has ended; `false` if another process is just doing so.
fn remove_left(lock: &Path) -> io::Result<bool> {
    let path = file_of(lock);
    // Only processes of the same machine recognise such an owner, so a name that only one of them can have at a time
    // keeps them from removing each other's files. The kernel gives it back when its process ends.
    let name = format!("mle-star/{}", blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex());
    let Ok(_turn) = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?) else {
        return Ok(false);
    };
    match read(&path) {
        Ok(text) if has_ended(&text) => fs::remove_file(&path).map(|()| true),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    files::open_regular(path)?.take(MAX_OWNER_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_that_has_ended_is_recognised_only_where_that_can_be_known() {
        let check = |change: &dyn Fn(&mut Process), is_taken: bool| {
            let folder = tempfile::tempdir().unwrap();
            let lock = folder.path().join("lock");
            let mut left = Process::this();
            change(&mut left);
            fs::write(file_of(&lock), serde_json::to_vec(&left).unwrap()).unwrap();
            assert_eq!(take(&lock).unwrap().is_some(), is_taken, "{left:?}");
            let words = format!("process {} on {}", left.id, left.host);
            assert!(is_taken || left == Process::this() || uncheckable(&lock) == Some(words), "{left:?}");
        };
        check(&|_| {}, false);
        // Numbers of processes end at 4194304.
        check(&|left| left.id = 4_194_305, true);
        check(&|left| left.started = "1".to_owned(), true);
        check(&|left| left.boot = "before".to_owned(), true);
        check(&|left| (left.host, left.id) = ("node17".to_owned(), 4_194_305), false);
        check(&|left| (left.machine, left.id) = ("other".to_owned(), 4_194_305), false);
        check(&|left| (left.machine, left.boot) = (String::new(), "before".to_owned()), false);
        check(&|left| (left.namespace, left.id) = ("pid:[1]".to_owned(), 4_194_305), false);
    }

    #[test]
    fn one_of_many_takes_what_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("lock");
        for _ in 0..50 {
            let left = Process { id: 4_194_305, ..Process::this() };
            fs::write(file_of(&lock), serde_json::to_vec(&left).unwrap()).unwrap();
            let all: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| take(&lock).unwrap())).collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
            });
            assert!(all.len() <= 1, "{all:?}");
            drop(all);
            assert!(take(&lock).unwrap().is_some());
        }
    }
}
