//! Short paths for the private TMPDIRs of children whose own paths are too long for sockets.
//!
//! [`ShortLinks`] has a folder in the system's temporary folder, with a link for each child that runs. The program holds
//! a lock on the folder while it lives. An unlocked folder was left by a killed program, and the next program removes
//! it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::dir::Dir;
use nix::fcntl::{AtFlags, OFlag};
use nix::libc;
use nix::sys::stat::fstatat;
use nix::unistd::{Uid, UnlinkatFlags, unlinkat};

/// Prefix of the folders' names.
const PREFIX: &str = "mle-star-tmp-";
/// Random characters after the prefix.
const RANDOM: usize = 6;
/// No other user may use the folders.
const PRIVATE: u32 = 0o700;
/// How often another program may remove a new folder as abandoned before it is locked.
const MAX_ATTEMPTS: usize = 20;

/// Links to children's folders.
#[derive(Debug)]
pub struct ShortLinks {
    temporary: PathBuf,
    /// Created with the first link.
    folder: Mutex<Option<Folder>>,
}

/// Removed when dropped, if it is empty.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The name of the next link.
    next: u64,
    /// Holds the lock.
    _lock: File,
}

impl ShortLinks {
    /// No links yet; they will be created in `temporary`.
    pub fn new(temporary: PathBuf) -> Self {
        Self { temporary, folder: Mutex::default() }
    }

    /// Creates a link to `target` and returns its path. Before the first one, removes what killed programs of this user
    /// left.
    ///
    /// # Errors
    /// The link or its folder cannot be created.
    pub fn link_to(&self, target: &Path) -> io::Result<PathBuf> {
        let mut made = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        // The system may have removed an old folder when it cleaned its temporary folder.
        let folder = match made.take().filter(|folder| folder.path.is_dir()) {
            Some(folder) => folder,
            None => {
                remove_abandoned(&self.temporary);
                Folder::new(&self.temporary)?
            }
        };
        let folder = made.insert(folder);
        let link = folder.path.join(folder.next.to_string());
        folder.next += 1;
        symlink(target, &link)?;
        Ok(link)
    }
}

impl Folder {
    fn new(temporary: &Path) -> io::Result<Self> {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(made) = Self::try_new(temporary)? {
                return Ok(made);
            }
        }
        Err(io::Error::other("other programs keep removing the folder"))
    }

    /// `None` if another program removed the folder as abandoned before it was locked.
    fn try_new(temporary: &Path) -> io::Result<Option<Self>> {
        let mut named = tempfile::Builder::new();
        named.prefix(PREFIX).rand_bytes(RANDOM).permissions(Permissions::from_mode(PRIVATE));
        let path = named.tempdir_in(temporary)?.keep();
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let lock = match open(&path) {
            Err(error) if is_gone(&error) => return Ok(None),
            opened => opened?,
        };
        // Without locks in this file system, no folder is ever removed as abandoned.
        if let Err(error) = lock.lock()
            && !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK))
        {
            return Err(error);
        }
        // A program that removes a folder holds its lock until then.
        match fs::symlink_metadata(&path) {
            Ok(_) => Ok(Some(Self { path, next: 0, _lock: lock })),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Removes what killed programs of this user left, as far as possible.
fn remove_abandoned(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = |random: &[u8]| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric);
        if name.as_bytes().strip_prefix(PREFIX.as_bytes()).is_some_and(is_ours) {
            let _ = remove_if_abandoned(&entry.path());
        }
    }
}

/// Works on the opened, locked and checked folder, wherever its path leads by then.
fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    let folder = open(path)?;
    let about = folder.metadata()?;
    let is_private = about.uid() == Uid::effective().as_raw() && about.mode() & 0o777 == PRIVATE;
    if !is_private || folder.try_lock().is_err() {
        return Ok(());
    }
    let mut listed = Dir::from_fd(folder.try_clone()?.into())?;
    for entry in listed.iter() {
        let entry = entry?;
        let name = entry.file_name();
        let about = fstatat(&folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let is_link = libc::S_IFMT & about.st_mode == libc::S_IFLNK;
        if is_link && name.to_bytes().iter().all(u8::is_ascii_digit) {
            unlinkat(&folder, name, UnlinkatFlags::NoRemoveDir)?;
        }
    }
    // Fails if the folder is not empty, and so was not this program's.
    fs::remove_dir(path)
}

/// Opens a folder without following a link.
fn open(folder: &Path) -> io::Result<File> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::DirBuilderExt;

    use super::*;

    /// A folder as a killed program leaves it, with a link and optionally a file.
    fn left(temporary: &Path, name: &str, link: &str, file: Option<&str>) -> PathBuf {
        let folder = temporary.join(name);
        fs::DirBuilder::new().mode(PRIVATE).create(&folder).unwrap();
        symlink(temporary, folder.join(link)).unwrap();
        file.iter().for_each(|file| fs::write(folder.join(file), "").unwrap());
        folder
    }

    #[test]
    fn only_what_is_this_programs_own_and_abandoned_is_removed() {
        let check = |stays: bool, name: &str, link: &str, file: Option<&str>, change: &dyn Fn(&Path)| {
            let temporary = tempfile::tempdir().unwrap();
            let folder = left(temporary.path(), name, link, file);
            change(&folder);
            let links = ShortLinks::new(temporary.path().to_owned());
            assert!(folder.exists());
            fs::remove_file(links.link_to(temporary.path()).unwrap()).unwrap();
            assert_eq!(folder.exists(), stays, "{name} with {link}, {file:?}");
            drop(links);
            let others = fs::read_dir(temporary.path()).unwrap().count();
            assert_eq!(others, usize::from(stays), "its own folder is gone");
        };
        let nothing = |_: &Path| ();
        check(false, "mle-star-tmp-abcDEF", "0", None, &nothing);
        check(false, "mle-star-tmp-abcDEF", "17", None, &nothing);
        check(true, "mle-star-tmp-abcDEF", "0", Some("1"), &nothing);
        check(true, "mle-star-tmp-abcDEF", "mine", None, &nothing);
        check(true, "mle-star-tmp-of-mine", "0", None, &nothing);
        check(true, "mle-star-tables", "0", None, &nothing);
        check(true, "mle-star-tmp-abcDEF", "0", None, &|folder| {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        });
        if Uid::effective().is_root() {
            check(true, "mle-star-tmp-abcDEF", "0", None, &|folder| {
                std::os::unix::fs::chown(folder, Some(65534), None).unwrap();
            });
        }
    }
}
