//! Locks: only one process works in a folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::owner::{self, OwnerFile};
use super::{JournalError, files};
use mle_star_domain::layout::LOCK as FILE;

/// How long to wait for a process that only checks the lock.
const LOOKS: Duration = Duration::from_millis(300);
/// How long to wait if the process that the file names has ended: a child that it was just starting has the lock until
/// it closes what it inherited.
const INHERITED_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(20);

/// What a lock file says before the number of the process.
const PROCESS: &str = "process ";

/// The lock of a run folder, held until dropped.
#[derive(Debug)]
pub struct RunLock {
    folder: PathBuf,
    _lock: (File, Lock),
}

/// The exclusive lock on a file, held until this and the file are dropped.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "removes its file when dropped")] Option<OwnerFile>);

/// Locks an existing run folder. The lock file names this process, so that the error in other processes can show
/// it.
///
/// # Errors
/// Another process holds the lock, or the lock file cannot be written.
pub fn hold(folder: &Path) -> Result<RunLock, JournalError> {
    let path = folder.join(FILE);
    loop {
        let (file, lock) = lock_file(&path)?;
        // The previous holder may have removed the folder, and it may exist again.
        if is_at(&path, &file)? {
            return Ok(RunLock { folder: folder.to_owned(), _lock: (file, lock) });
        }
    }
}

/// Locks a file until it is closed, and writes this process into it.
///
/// # Errors
/// Another process holds the lock, or the file cannot be written.
pub fn lock_file(path: &Path) -> Result<(File, Lock), JournalError> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    let lock = wait_for(&mut file, path)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(this_process().as_bytes())?;
    Ok((file, lock))
}

/// Locks an open file at `path`, also on a file system without locks; `None` if it is locked.
///
/// # Errors
/// The file cannot be locked.
pub fn try_lock(file: &File, path: &Path) -> io::Result<Option<Lock>> {
    match file.try_lock() {
        // Another machine may have mounted the file system without locks.
        Ok(()) => Ok((!owner::is_held(path)).then_some(Lock(None))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) if is_unsupported(&error) => {
            Ok(owner::take(path)?.map(|owner| Lock(Some(owner))))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Like [`try_lock`], but waits until the file is free.
///
/// # Errors
/// The file cannot be locked.
pub fn wait_for_lock(file: &File, path: &Path) -> io::Result<Lock> {
    loop {
        if let Some(lock) = try_lock(file, path)? {
            return Ok(lock);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether a process has locked an open file at `path`.
pub fn is_locked(file: &File, path: &Path) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) || owner::is_held(path)
}

/// Whether an error says that the file system has no locks. Lustre answers ENOSYS, NFS without its lock service ENOLCK.
pub fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK))
}

/// Whether this process itself works in the folder.
pub(super) fn is_ours(folder: &Path) -> bool {
    let path = folder.join(FILE);
    let Ok(file) = files::open_regular(&path) else { return false };
    let is_held = is_locked(&file, &path);
    let mut holder = String::new();
    is_held && file.take(64).read_to_string(&mut holder).is_ok() && holder == this_process()
}

fn this_process() -> String {
    format!("{PROCESS}{}", std::process::id())
}

impl RunLock {
    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn wait_for(file: &mut File, path: &Path) -> Result<Lock, JournalError> {
    let started = Instant::now();
    loop {
        if let Some(lock) = try_lock(file, path)? {
            return Ok(lock);
        }
        if let Some(holder) = owner::uncheckable(path) {
            return Err(JournalError::HeldElsewhere { holder, file: owner::file_of(path) });
        }
        let mut holder = String::new();
        file.rewind()?;
        file.read_to_string(&mut holder)?;
        if started.elapsed() >= if has_ended(&holder) { INHERITED_TIMEOUT } else { LOOKS } {
            return Err(JournalError::Held { holder });
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether the process is known to have ended. Needs `/proc`.
fn has_ended(holder: &str) -> bool {
    let processes = Path::new("/proc");
    holder
        .strip_prefix(PROCESS)
        .is_some_and(|id| processes.join("self").exists() && !processes.join(id).exists())
}

fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    let here = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (here.dev(), here.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
