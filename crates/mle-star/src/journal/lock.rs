//! Locks: only one process works in a folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{JournalError, image};
use crate::layout::LOCK as FILE;

/// How long to wait for a process that only checks the lock.
const LOOKS: Duration = Duration::from_millis(300);
/// How long to wait if the process that the file names has ended: a child that it was just starting has the lock until
/// it closes what it inherited.
const INHERITED: Duration = Duration::from_secs(5);

/// What a lock file says before the number of the process.
const PROCESS: &str = "process ";

/// The lock of a run folder, held until dropped.
#[derive(Debug)]
pub struct Hold {
    folder: PathBuf,
    _file: File,
}

/// Locks an existing run folder. The lock file names this process, so that the error in other processes can show
/// it.
///
/// # Errors
/// Another process holds the lock, or the lock file cannot be written.
pub fn hold(folder: &Path) -> Result<Hold, JournalError> {
    let path = folder.join(FILE);
    loop {
        let file = lock_file(&path)?;
        // The previous holder may have removed the folder, and it may exist again.
        if is_at(&path, &file)? {
            return Ok(Hold { folder: folder.to_owned(), _file: file });
        }
    }
}

/// Locks a file until it is closed, and writes this process into it.
///
/// # Errors
/// Another process holds the lock, or the file cannot be written.
pub fn lock_file(path: &Path) -> Result<File, JournalError> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    wait_for(&mut file)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(this_process().as_bytes())?;
    Ok(file)
}

/// Prevents writers from locking the folder while the returned file is open; `None` while a process works there.
pub(super) fn look(folder: &Path) -> Option<File> {
    let file = image::open_regular(&folder.join(FILE)).ok()?;
    file.try_lock_shared().is_ok().then_some(file)
}

/// Whether this process itself works in the folder.
pub(super) fn is_ours(folder: &Path) -> bool {
    let Ok(file) = image::open_regular(&folder.join(FILE)) else { return false };
    let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let mut holder = String::new();
    is_held && file.take(64).read_to_string(&mut holder).is_ok() && holder == this_process()
}

fn this_process() -> String {
    format!("{PROCESS}{}", std::process::id())
}

impl Hold {
    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn wait_for(file: &mut File) -> Result<(), JournalError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) => {}
        }
        let mut holder = String::new();
        file.rewind()?;
        file.read_to_string(&mut holder)?;
        if started.elapsed() >= if has_ended(&holder) { INHERITED } else { LOOKS } {
            return Err(JournalError::Held { holder });
        }
        std::thread::sleep(Duration::from_millis(20));
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
