//! Removes folders with everything below them.
//!
//! [`remove_tree`] works on opened folders, never on paths below them: a process that got away and still puts links in
//! the place of folders cannot lead it elsewhere.

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

/// How a folder is opened, and nothing that a link leads to.
const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// What a system says that is asked to unlink a folder.
const IS_FOLDER: Errno = if cfg!(target_os = "linux") { Errno::EISDIR } else { Errno::EPERM };
/// How often a folder is gone through again in which others still make files.
const TRIES: usize = 10;

/// Removes a folder with everything below it, folders without permissions included, however deep they lie.
///
/// No link is followed, not even one that somebody else puts there meanwhile; only the folder's own parent is taken by
/// its path. Folders in folders are moved up before they are emptied, so neither the length of a path nor the number
/// of open files nor the stack grows with the depth.
///
/// # Errors
/// The first thing that cannot be removed, or others go on making files there.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has no name"));
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
            // What was moved or made there while it was listed may not have been on the list.
            Err(Errno::ENOTEMPTY) if tries < TRIES => {}
            done => return Ok(done?),
        }
    }
}

/// Removes what is in `folder`, but for folders that are not empty: they go up to `top`, under a number.
fn empty(folder: &OwnedFd, top: &OwnedFd, moved: &mut u64) -> nix::Result<()> {
    each(folder, |name| {
        if unlink(folder, name)? || remove_empty(folder, name).is_ok() {
            return Ok(());
        }
        // Only a folder that can be written is moved elsewhere.
        let below = open_up(folder, name)?;
        match move_up(folder, name, top, moved) {
            // Folders of a lower layer, of another volume or quota stay where they are.
            Err(Errno::EXDEV) => {
                empty(&below, top, moved)?;
                remove_empty(folder, name)
            }
            done => done,
        }
    })
}

/// Calls `see` with the name of everything in `folder`. What changes under its hands comes up again, if it stays.
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

/// Removes what is no folder; `false` when it is one.
fn unlink(above: &OwnedFd, name: &CStr) -> nix::Result<bool> {
    match unlinkat(above, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(IS_FOLDER) => Ok(false),
        Err(error) => Err(error),
    }
}

fn remove_empty(above: &OwnedFd, name: &CStr) -> nix::Result<()> {
    match unlinkat(above, name, UnlinkatFlags::RemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        // Some systems say the one, some the other.
        Err(Errno::EEXIST) => Err(Errno::ENOTEMPTY),
        Err(error) => Err(error),
    }
}

/// Gives the folder `name` the next number in `top` that is not taken.
fn move_up(above: &OwnedFd, name: &CStr, top: &OwnedFd, moved: &mut u64) -> nix::Result<()> {
    loop {
        *moved += 1;
        match renameat(above, name, top, format!(".{moved}").as_str()) {
            Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
            done => return done,
        }
    }
}

/// Opens a folder, in which its owner may do everything from then on.
fn open_up(above: &OwnedFd, name: &CStr) -> nix::Result<OwnedFd> {
    let open = || openat(above, name, FOLDER, Mode::empty());
    let folder = match open() {
        Err(Errno::EACCES) => {
            let_in(above, name)?;
            open()?
        }
        opened => opened?,
    };
    // Where it is another user's, what is in it says itself whether it can be removed.
    let _ = fchmod(&folder, Mode::S_IRWXU);
    Ok(folder)
}

/// Makes a folder its owner's that cannot even be opened.
#[cfg(target_os = "linux")]
fn let_in(above: &OwnedFd, name: &CStr) -> nix::Result<()> {
    use nix::fcntl::AT_FDCWD;
    use std::os::fd::AsRawFd;
    // A descriptor of this kind is neither read nor changed itself; the kernel's name for it is.
    let folder = openat(above, name, FOLDER | OFlag::O_PATH, Mode::empty())?;
    let named = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fchmodat(AT_FDCWD, named.as_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink)
}

/// Makes a folder its owner's that cannot even be opened.
#[cfg(not(target_os = "linux"))]
fn let_in(above: &OwnedFd, name: &CStr) -> nix::Result<()> {
    fchmodat(above, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_folder_goes_with_all_below_it() {
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
            // Names that folders could get which are moved up.
            fs::write(folder.join(".1"), "x").unwrap();
            fs::create_dir_all(folder.join(".2/x/y")).unwrap();
            symlink("../../outside", folder.join("a/link")).unwrap();
            symlink("../..", folder.join("a/back")).unwrap();
            for (name, mode) in [("a/b/c/d", 0o000), ("a/b/c", 0o000), ("a/b", 0o300), ("a", 0o000)] {
                fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
            }
        });
        // Deeper than a path can say and than files can be open: made from the inside out.
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

    /// Set for the process in which a lower layer can be mounted.
    #[cfg(target_os = "linux")]
    const LAYERED: &str = "MLE_STAR_TEST_LAYERED";

    /// What lies in a lower layer of an overlay cannot be moved.
    #[test]
    #[cfg(target_os = "linux")]
    fn folders_that_cannot_be_moved_go_as_well() {
        let Ok(parent) = std::env::var(LAYERED) else {
            let parent = tempfile::tempdir().unwrap();
            let mount = "mount -t tmpfs none . && cd \"$PWD\" && mkdir -p low/folder/a/b/c up work all && echo x > low/folder/a/b/c/x &&
                         mount -t overlay -o lowerdir=low,upperdir=up,workdir=work,userxattr none all && exec \"$@\"";
            let status = std::process::Command::new("unshare")
                .args(["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"])
                .arg(std::env::current_exe().unwrap())
                .args(["data::removal::tests::folders_that_cannot_be_moved_go_as_well", "--exact"])
                .env(LAYERED, parent.path())
                .current_dir(parent.path())
                .status();
            assert!(status.unwrap().success());
            return;
        };
        let folder = Path::new(&parent).join("all/folder");
        assert!(folder.join("a/b/c/x").exists());
        assert!(fs::rename(folder.join("a/b"), folder.join("b")).is_err(), "this shows nothing");
        remove_tree(&folder).unwrap();
        assert!(!folder.exists());
    }

    /// Puts links to `victim` in the place of folders in `folder`, and folders in the place of links.
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
    fn a_link_that_is_put_there_meanwhile_is_not_followed() {
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
                // It may be that it never becomes empty.
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
