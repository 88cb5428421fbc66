//! What is done between fork and exec so that a child can do no harm: namespaces, limits, rules for files.
//!
//! The program prepares a [`Confinement`], with everything allocated; the forked child only makes system calls
//! with it. [`Confinement::enter`] makes the namespaces and returns in the process that is to become the guard,
//! which sees to it that all in there ends; [`Confinement::apply`] binds the process that is to become the script.

#![expect(
    unsafe_code,
    reason = "clone, and what may be called between fork and exec, is outside what Rust checks"
)]

use std::ffi::{CStr, CString};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, pipe2, read, write};

use super::mounts::{self, Mounts};

/// What root keeps in its namespaces: files look as they do outside. All else goes.
const KEPT_CAPABILITIES: [libc::c_ulong; 5] = [0, 1, 2, 3, 4];
/// No kernel has more capabilities.
const CAPABILITIES: libc::c_ulong = 64;
/// The kernel's `KEYCTL_JOIN_SESSION_KEYRING`.
const JOIN_SESSION_KEYRING: libc::c_long = 1;
/// How gladly the kernel ends a script when memory is short, from -1000 to 1000.
pub(crate) const FIRST_TO_GO: &[u8] = b"500";

/// Everything that binds one child.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    /// The `cgroup.procs` of its control group.
    pub(crate) cgroup: Option<OwnedFd>,
    /// What it has for itself.
    pub(crate) namespaces: Option<Namespaces>,
    /// Which files it may use.
    pub(crate) rules: Option<Rules>,
    /// Soft and hard limits.
    pub(crate) limits: Vec<(Resource, u64, u64)>,
    /// Takes capabilities away and lets the kernel prefer it when memory is short.
    pub(crate) is_humble: bool,
}

/// A Landlock ruleset.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The ruleset, to which the child adds what is mounted in its own namespace.
    pub(crate) ruleset: OwnedFd,
    /// Paths that are looked up after the mounts, and the access to what is below them, in the kernel's bits.
    pub(crate) late: Vec<(CString, u64)>,
}

/// Which namespaces a child gets, and what is done in them. A user namespace is always among them.
#[derive(Debug)]
pub(crate) struct Namespaces {
    /// `uid_map` and `gid_map`.
    pub(crate) users: [Vec<u8>; 2],
    /// An unprivileged user must give up `setgroups` first.
    pub(crate) may_set_groups: bool,
    /// A network with nothing but its own loopback.
    pub(crate) network: bool,
    /// Processes see nobody but themselves, and all end with the first.
    pub(crate) processes: bool,
    /// The most process ids in there, where the kernel counts them by namespace.
    pub(crate) process_ids: Option<Vec<u8>>,
    /// Options of a private `/dev/shm`.
    pub(crate) shared_memory: Option<CString>,
    /// What it sees of the files.
    pub(crate) mounts: Mounts,
}

impl Namespaces {
    /// As the system calls take them.
    pub(crate) fn flags(&self) -> libc::c_int {
        let mut flags = libc::CLONE_NEWUSER | libc::CLONE_NEWIPC;
        if self.network {
            flags |= libc::CLONE_NEWNET;
        }
        if self.processes {
            flags |= libc::CLONE_NEWPID;
        }
        if self.has_mounts() {
            flags |= libc::CLONE_NEWNS;
        }
        flags
    }

    fn has_mounts(&self) -> bool {
        self.processes || self.shared_memory.is_some() || !self.mounts.is_empty()
    }

    /// Inside: brings everything up that was asked for.
    fn set_up(&self) -> io::Result<()> {
        if self.network {
            loopback_up()?;
        }
        if self.has_mounts() {
            // What is mounted here must not appear outside.
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&CStr>, c"/", None::<&CStr>, private, None::<&CStr>)?;
        }
        self.mounts.arrange()?;
        let bare = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        if self.processes {
            mount(Some(c"proc"), c"/proc", Some(c"proc"), bare | MsFlags::MS_NOEXEC, None::<&CStr>)?;
        }
        if let Some(options) = &self.shared_memory {
            mount(Some(c"tmpfs"), c"/dev/shm", Some(c"tmpfs"), bare, Some(options.as_c_str()))?;
        }
        if let Some(most) = &self.process_ids {
            // Kernels that do not know it by namespace refuse, and the watch counts anyway.
            let _ = overwrite(c"/proc/sys/kernel/pid_max", most);
        }
        if self.processes { mounts::close_kernel_settings() } else { Ok(()) }
    }

    /// Outside: says which users there are inside.
    fn name_users(&self, inside: Pid) -> io::Result<()> {
        if !self.may_set_groups {
            overwrite(path_of(&mut [0; 64], inside, "setgroups")?, b"deny")?;
        }
        for (name, map) in ["uid_map", "gid_map"].into_iter().zip(&self.users) {
            overwrite(path_of(&mut [0; 64], inside, name)?, map)?;
        }
        Ok(())
    }
}

impl Confinement {
    /// Has the child its own numbering of processes? Then its guard is their init.
    pub(super) fn is_sealed(&self) -> bool {
        self.namespaces.as_ref().is_some_and(|namespaces| namespaces.processes)
    }

    /// Goes on in new namespaces, where there are any to make. The process that called waits outside.
    pub(super) fn enter(&self) -> io::Result<()> {
        if let Some(namespaces) = &self.namespaces {
            clone_into(namespaces)?;
        }
        let Some(rules) = &self.rules else { return Ok(()) };
        // What is not there needs no rule.
        rules.late.iter().try_for_each(|(path, access)| match rules.add(path, *access) {
            Err(Errno::ENOENT) => Ok(()),
            added => Ok(added?),
        })
    }

    /// Binds the calling process for good.
    pub(super) fn apply(&self) -> io::Result<()> {
        if let Some(entrance) = &self.cgroup {
            write(entrance, b"0")?;
        }
        for (resource, soft, hard) in &self.limits {
            setrlimit(*resource, *soft, *hard)?;
        }
        if self.is_humble {
            // A session's keys are its own. Where there are none, or they are refused to everybody, nothing is shared.
            // SAFETY: gives this process an empty session keyring without a name.
            unsafe {
                libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<libc::c_char>())
            };
            let _ = overwrite(c"/proc/self/oom_score_adj", FIRST_TO_GO);
            for capability in (0..CAPABILITIES).filter(|number| !KEPT_CAPABILITIES.contains(number)) {
                // Who has no capabilities cannot drop any.
                // SAFETY: changes nothing but this process's bounding set.
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
            }
            prctl::set_no_new_privs()?;
        }
        self.rules.as_ref().map_or(Ok(()), Rules::enforce)
    }
}

/// The kernel's `landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    access: u64,
    parent: libc::c_int,
}

impl Rules {
    fn add(&self, path: &CStr, access: u64) -> Result<(), Errno> {
        let parent = open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?;
        let rule = PathBeneath { access, parent: parent.as_raw_fd() };
        let ruleset = self.ruleset.as_raw_fd();
        // SAFETY: the rule outlives the call, and 1 is `LANDLOCK_RULE_PATH_BENEATH`.
        Errno::result(unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, 1, &raw const rule, 0) })
            .map(drop)
    }

    fn enforce(&self) -> io::Result<()> {
        prctl::set_no_new_privs()?;
        // SAFETY: restricts this process and what it starts.
        let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.ruleset.as_raw_fd(), 0) };
        Ok(Errno::result(done).map(drop)?)
    }
}

/// The version of Landlock that the kernel has; 0 when it has none.
pub(crate) fn landlock_version() -> i32 {
    // SAFETY: with these arguments the call only answers.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, 1) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Returns inside; outside it waits for the end and exits.
fn clone_into(namespaces: &Namespaces) -> io::Result<()> {
    let (named, tell) = pipe2(OFlag::O_CLOEXEC)?;
    let flags = libc::c_long::from(namespaces.flags() | libc::SIGCHLD);
    // SAFETY: as fork: without a stack of its own the child goes on with a copy of everything. This process has one
    // thread, and both sides only make system calls until they exec or exit.
    let child = Errno::result(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    if child == 0 {
        drop(tell);
        if read(&named, &mut [0]) != Ok(1) {
            // SAFETY: ends this process at once. What went wrong is said outside.
            unsafe { libc::_exit(1) };
        }
        // The one outside has one thread, so its death is what this signal means.
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        return namespaces.set_up();
    }
    let child = Pid::from_raw(i32::try_from(child).map_err(|_| Errno::ESRCH)?);
    let told = namespaces.name_users(child).and_then(|()| Ok(write(&tell, b"!").map(drop)?));
    if let Err(error) = told {
        let _ = kill(child, Signal::SIGKILL);
        let _ = waitpid(child, None);
        return Err(error);
    }
    let _ = prctl::set_name(c"mle-star-guard");
    super::guard::close_range(0, u32::MAX);
    while waitpid(child, None) == Err(Errno::EINTR) {}
    // SAFETY: ends this process at once, without running anything that belongs to the program.
    unsafe { libc::_exit(0) }
}

fn loopback_up() -> io::Result<()> {
    // SAFETY: a zeroed request is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the socket is this function's own, and the request outlives the call.
    let done = unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        let done =
            if socket < 0 { socket } else { libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request) };
        let error = Errno::last_raw();
        libc::close(socket);
        Errno::set_raw(error);
        done
    };
    Ok(Errno::result(done).map(drop)?)
}

fn overwrite(path: &CStr, text: &[u8]) -> io::Result<()> {
    let file = open(path, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    Ok(write(&file, text).map(drop)?)
}

/// `/proc/PROCESS/NAME`, without allocating.
fn path_of<'a>(buffer: &'a mut [u8; 64], process: Pid, name: &str) -> io::Result<&'a CStr> {
    write!(&mut buffer[..63], "/proc/{process}/{name}")?;
    CStr::from_bytes_until_nul(buffer).map_err(|_| io::Error::from(Errno::ENAMETOOLONG))
}
