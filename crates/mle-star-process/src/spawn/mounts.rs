//! Which files a confined child sees: all are read-only except its own folders, and most are hidden.
//!
//! An empty folder is mounted over each hidden one, and only what the child needs is mounted into it again. Hidden
//! files cannot be read, and hidden sockets cannot be connected to, which Landlock has no rule for.
//!
//! The newer mount calls have no safe wrapper in nix.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sys::stat::Mode;
use nix::unistd::{chdir, mkdir, symlinkat};

/// Where programs write that do not know TMPDIR.
pub(crate) const TMP: &CStr = c"/tmp";

/// What is mounted in a child's own namespace. All paths are absolute.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    /// The only writable folders; the child runs in the first. If empty, nothing is made read-only.
    pub(crate) writable: Vec<CString>,
    /// Folders that hold nothing except what follows.
    pub(crate) hidden: Vec<CString>,
    /// Folders to create in hidden ones, parents first.
    pub(crate) parents: Vec<CString>,
    /// Links to create in hidden folders: target and path.
    pub(crate) links: Vec<(CString, CString)>,
    /// What is mounted at `/tmp`, which is then writable and not among the hidden folders.
    pub(crate) temporary: Option<CString>,
    /// What is mounted into hidden folders; none of it lies within another.
    pub(crate) shown: Vec<ShownPath>,
}

/// A folder or file that stays visible in a hidden folder.
#[derive(Debug)]
pub(crate) struct ShownPath {
    pub(crate) path: CString,
    pub(crate) is_folder: bool,
    /// A descriptor of its mount, between hiding and showing.
    held: AtomicI32,
}

impl ShownPath {
    /// Whatever lies at `path` when the child is started.
    pub(crate) fn new(path: CString, is_folder: bool) -> Self {
        Self { path, is_folder, held: AtomicI32::new(-1) }
    }

    fn hold(&self) -> io::Result<()> {
        let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE.cast_unsigned();
        // SAFETY: the path outlives the call.
        let held = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, self.path.as_ptr(), flags) };
        let held = Errno::result(held)?;
        self.held.store(i32::try_from(held).map_err(|_| Errno::EBADF)?, Ordering::Relaxed);
        Ok(())
    }

    fn show(&self) -> io::Result<()> {
        if self.is_folder {
            mkdir(self.path.as_c_str(), Mode::from_bits_truncate(0o755))?;
        } else {
            drop(open(self.path.as_c_str(), OFlag::O_CREAT | OFlag::O_CLOEXEC, Mode::S_IRUSR)?);
        }
        let held = self.held.load(Ordering::Relaxed);
        // SAFETY: the paths outlive the call.
        let done = unsafe {
            let (path, flags) = (self.path.as_ptr(), libc::MOVE_MOUNT_F_EMPTY_PATH);
            libc::syscall(libc::SYS_move_mount, held, c"".as_ptr(), libc::AT_FDCWD, path, flags)
        };
        Errno::result(done)?;
        // SAFETY: nothing else uses this descriptor.
        drop(unsafe { OwnedFd::from_raw_fd(held) });
        Ok(())
    }
}

impl Mounts {
    pub(super) fn is_empty(&self) -> bool {
        self.writable.is_empty() && self.hidden.is_empty()
    }

    /// Mounts everything. This process must already have its own mount namespace.
    pub(super) fn arrange(&self) -> io::Result<()> {
        self.close()?;
        self.shown.iter().try_for_each(ShownPath::hold)?;
        if let Some(own) = &self.temporary {
            mount(Some(own.as_c_str()), TMP, None::<&CStr>, MsFlags::MS_BIND, None::<&CStr>)?;
        }
        let bare = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        for folder in &self.hidden {
            mount(Some(c"tmpfs"), folder.as_c_str(), Some(c"tmpfs"), bare, Some(c"size=1m,mode=755"))?;
        }
        for folder in &self.parents {
            mkdir(folder.as_c_str(), Mode::from_bits_truncate(0o755))?;
        }
        for (target, link) in &self.links {
            symlinkat(target.as_c_str(), nix::fcntl::AT_FDCWD, link.as_c_str())?;
        }
        self.shown.iter().try_for_each(ShownPath::show)?;
        for folder in &self.hidden {
            set(folder, libc::MOUNT_ATTR_RDONLY, 0, 0)?;
        }
        // The current folder is still the one below the new mount.
        self.writable.first().map_or(Ok(()), |own| Ok(chdir(own.as_c_str())?))
    }

    /// Makes everything read-only except the writable folders. Landlock does not protect modes, owners and times.
    fn close(&self) -> io::Result<()> {
        if self.writable.is_empty() {
            return Ok(());
        }
        for folder in &self.writable {
            let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount(Some(folder.as_c_str()), folder.as_c_str(), None::<&CStr>, bind, None::<&CStr>)?;
        }
        set(c"/", libc::MOUNT_ATTR_RDONLY, 0, libc::AT_RECURSIVE)?;
        self.writable
            .iter()
            .try_for_each(|folder| set(folder, 0, libc::MOUNT_ATTR_RDONLY, libc::AT_RECURSIVE))
    }
}

/// Makes the mount at `/proc` writable again, but nothing that is mounted below it.
pub(super) fn open_proc() -> io::Result<()> {
    set(c"/proc", 0, libc::MOUNT_ATTR_RDONLY, 0)
}

/// Makes `paths`, the machine's settings in `/proc`, read-only; those that do not exist are skipped.
pub(super) fn close_kernel_settings(paths: &[CString]) -> io::Result<()> {
    let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
    for path in paths {
        match mount(Some(path.as_c_str()), path.as_c_str(), None::<&CStr>, bind, None::<&CStr>) {
            Err(Errno::ENOENT) => {}
            bound => {
                bound?;
                set(path, libc::MOUNT_ATTR_RDONLY, 0, libc::AT_RECURSIVE)?;
            }
        }
    }
    Ok(())
}

/// Sets and clears attributes of the mount at `path`, with `AT_RECURSIVE` also of every mount below it.
fn set(path: &CStr, set: u64, clear: u64, flags: libc::c_int) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    let size = size_of::<libc::mount_attr>();
    // SAFETY: path and attributes outlive the call.
    let done = unsafe {
        let (path, attributes) = (path.as_ptr(), &raw const attributes);
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path, flags, attributes, size)
    };
    Ok(Errno::result(done).map(drop)?)
}
