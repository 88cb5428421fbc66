//! The lock on a run folder: one process works in it.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{JournalError, image};
use crate::layout::LOCK as FILE;

/// How long a glance at a run's lock is waited out.
const LOOKS: Duration = Duration::from_millis(300);

/// A run folder that no other process works in while this lives.
#[derive(Debug)]
pub struct Hold {
    folder: PathBuf,
    _file: File,
}

/// Takes hold of a run folder, which exists; whoever tries after this is told which process has it.
///
/// # Errors
/// Another process has it, or its lock cannot be written.
pub fn hold(folder: &Path) -> Result<Hold, JournalError> {
    let path = folder.join(FILE);
    loop {
        let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
        wait_for(&mut file)?;
        // The folder may have been removed, and made again, by who had it before.
        if !is_at(&path, &file)? {
            continue;
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(this_process().as_bytes())?;
        file.flush()?;
        return Ok(Hold { folder: folder.to_owned(), _file: file });
    }
}

/// Keeps others from writing for as long as the file lives; `None` while a process works there.
pub(super) fn look(folder: &Path) -> Option<File> {
    let file = image::open_regular(&folder.join(FILE)).ok()?;
    file.try_lock_shared().is_ok().then_some(file)
}

/// Does this very process work in the folder?
pub(super) fn is_ours(folder: &Path) -> bool {
    let Ok(file) = image::open_regular(&folder.join(FILE)) else { return false };
    let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let mut holder = String::new();
    is_held && file.take(64).read_to_string(&mut holder).is_ok() && holder == this_process()
}

fn this_process() -> String {
    format!("process {}", std::process::id())
}

impl Hold {
    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn wait_for(file: &mut File) -> Result<(), JournalError> {
    let deadline = Instant::now() + LOOKS;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            // Whoever only looks at a run may hold its lock for a moment.
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                return Err(JournalError::Held { holder });
            }
        }
    }
}

fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    let here = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (here.dev(), here.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
