//! Removes folders with everything below them.
//!
//! [`remove_tree`] works on open folders, never on paths below them, so that a process that replaces folders by links
//! meanwhile cannot redirect it. It is not `std::fs::remove_dir_all` because that fails on folders without permissions,
//! and its stack and open files grow with the depth.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Opens a folder without following a link.
const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// How often a folder is listed again while other processes create files in it.
const MAX_ATTEMPTS: usize = 10;

/// Removes a folder with everything below it, however deep, including folders without permissions.
///
/// No link is followed, not even one that another process creates meanwhile; only the folder's parent is opened by its
/// path. Nested folders are moved up before they are emptied, so neither paths nor open files nor the stack grow with
/// the depth.
///
/// # Errors
/// Something cannot be removed, or other processes keep creating files in the folder.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    };
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    let above: OwnedFd = match File::open(above) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?.into(),
    };
    let name = CString::new(name.as_bytes())?;
    if unlink(&above, &name)? {
        return Ok(());
    }
    let top = open_up(&above, &name)?;
    let (mut moved, mut tries) = (0, 0);
    loop {
        let before = moved;
        each(&top, |name| {
            if !unlink(&top, name)? {
                empty(&open_up(&top, name)?, &top, &mut moved)?;
                remove_empty(&top, name)?;
            }
            Ok(())
        })?;
        tries = if moved > before { 0 } else { tries + 1 };
        match remove_empty(&above, &name) {
            // Entries that were moved or created there meanwhile may be missing from the list.
            Err(Errno::ENOTEMPTY) if tries < MAX_ATTEMPTS => {}
            done => return Ok(done?),
        }
    }
}

/// Removes the contents of `folder`. Folders that are not empty are moved to `top` and get a number as their name.
fn empty(folder: &OwnedFd, top: &OwnedFd, moved: &mut u64) -> nix::Result<()> {
    each(folder, |name| {
        if unlink(folder, name)? || remove_empty(folder, name).is_ok() {
            return Ok(());
        }
        // Only a writable folder can be moved to another one.
        let below = open_up(folder, name)?;
        match move_up(folder, name, top, moved) {
            // Folders of a lower overlay layer, another volume or another quota cannot be moved.
            Err(Errno::EXDEV) => {
                empty(&below, top, moved)?;
                remove_empty(folder, name)
            }
            done => done,
        }
    })
}

/// Calls `see` with the name of every entry of `folder`. An entry that changes meanwhile is skipped; if it stays, the
/// next listing has it.
fn each(folder: &OwnedFd, mut see: impl FnMut(&CStr) -> nix::Result<()>) -> nix::Result<()> {
    for entry in Dir::openat(folder, c".", FOLDER, Mode::empty())?.iter() {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        match see(entry.file_name()) {
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::EISDIR | Errno::ELOOP | Errno::ENOTEMPTY) => {}
            done => done?,
        }
    }
    Ok(())
}

/// Removes an entry that is not a folder; `false` if it is one.
fn unlink(above: &OwnedFd, name: &CStr) -> nix::Result<bool> {
    match unlinkat(above, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(Errno::EISDIR) => Ok(false),
        Err(error) => Err(error),
    }
}

fn remove_empty(above: &OwnedFd, name: &CStr) -> nix::Result<()> {
    match unlinkat(above, name, UnlinkatFlags::RemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        // Systems differ in which of the two they report.
        Err(Errno::EEXIST) => Err(Errno::ENOTEMPTY),
        Err(error) => Err(error),
    }
}

/// Moves the folder `name` to the next free number in `top`.
fn move_up(above: &OwnedFd, name: &CStr, top: &OwnedFd, moved: &mut u64) -> nix::Result<()> {
    loop {
        *moved += 1;
        match renameat(above, name, top, format!(".{moved}").as_str()) {
            Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
            done => return done,
        }
    }
}

/// Opens a folder and gives its owner all permissions.
fn open_up(above: &OwnedFd, name: &CStr) -> nix::Result<OwnedFd> {
    let open = || openat(above, name, FOLDER, Mode::empty());
    let folder = match open() {
        Err(Errno::EACCES) => {
            allow_owner(above, name)?;
            open()?
        }
        opened => opened?,
    };
    // Fails for another user's folder; its entries may be removable all the same.
    let _ = fchmod(&folder, Mode::S_IRWXU);
    Ok(folder)
}

/// Gives the owner all permissions on a folder that cannot be opened.
fn allow_owner(above: &OwnedFd, name: &CStr) -> nix::Result<()> {
    use nix::fcntl::AT_FDCWD;
    use std::os::fd::AsRawFd;
    // An `O_PATH` descriptor cannot be changed itself, but its path in `/proc` can.
    let folder = openat(above, name, FOLDER | OFlag::O_PATH, Mode::empty())?;
    let named = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fchmodat(AT_FDCWD, named.as_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_folder_is_removed_with_everything_below_it() {
        let check = |fill: &dyn Fn(&Path)| {
            let parent = tempfile::tempdir().unwrap();
            let (folder, outside) = (parent.path().join("folder"), parent.path().join("outside"));
            fs::create_dir(&folder).unwrap();
            fs::write(&outside, "x").unwrap();
            fill(&folder);
            remove_tree(&folder).unwrap();
            assert!(fs::symlink_metadata(&folder).is_err() && outside.exists());
        };
        check(&|folder| fs::remove_dir(folder).unwrap());
        check(&|folder| {
            fs::remove_dir(folder).unwrap();
            symlink("outside", folder).unwrap();
        });
        check(&|folder| {
            fs::create_dir_all(folder.join("a/b/c/d")).unwrap();
            fs::write(folder.join("a/b/c/x"), "x").unwrap();
            // Names that moved folders could get.
            fs::write(folder.join(".1"), "x").unwrap();
            fs::create_dir_all(folder.join(".2/x/y")).unwrap();
            symlink("../../outside", folder.join("a/link")).unwrap();
            symlink("../..", folder.join("a/back")).unwrap();
            for (name, mode) in [("a/b/c/d", 0o000), ("a/b/c", 0o000), ("a/b", 0o300), ("a", 0o000)] {
                fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
            }
        });
        // Deeper than a path can be long and than files can be open: created from the inside out.
        check(&|folder| {
            let (inner, outer) = (folder.join("inner"), folder.join("outer"));
            fs::create_dir(&inner).unwrap();
            for _ in 0..5_000 {
                fs::create_dir(&outer).unwrap();
                fs::rename(&inner, outer.join("inner")).unwrap();
                fs::rename(&outer, &inner).unwrap();
            }
        });
    }

    /// Replaces folders in `folder` by links to `victim`, and links by folders.
    fn swap(folder: &Path, victim: &Path, done: &AtomicBool) {
        let names: Vec<_> = (0..100).map(|number| folder.join(format!("d{number}"))).collect();
        while !done.load(Ordering::Relaxed) {
            for name in &names {
                let _ = fs::remove_dir(name).and_then(|()| symlink(victim, name));
            }
            for name in &names {
                let _ = fs::remove_file(name);
                let _ = fs::create_dir(name);
            }
        }
    }

    #[test]
    fn a_link_that_is_created_meanwhile_is_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, victim) = (parent.path().join("folder"), parent.path().join("victim"));
        fs::create_dir_all(victim.join("below")).unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(victim.join("file"), "x").unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| swap(&folder, &victim, &done));
            for _ in 0..50 {
                let _ = fs::create_dir(&folder);
                for number in 0..100 {
                    let _ = fs::create_dir(folder.join(format!("d{number}")));
                }
                // The folder may never become empty.
                let _ = remove_tree(&folder);
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(victim.join("file").exists() && victim.join("below").exists());
        assert_eq!(fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o755);
        remove_tree(&folder).unwrap();
        assert!(!folder.exists());
    }
}
