//! Confines a child between fork and exec: namespaces, resource limits, Landlock rules.
//!
//! The program prepares a [`Confinement`] and allocates everything in it; the forked child only makes system calls.
//! [`Confinement::enter`] creates the namespaces and returns in the process that becomes the supervisor, which ends
//! everything in them; [`Confinement::apply`] confines the process that becomes the child.

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

use super::descriptors::close_range;
use super::mounts::{self, Mounts};

/// The name of supervisors, and of the processes that wait outside their namespaces, in process lists.
pub(super) const NAME: &CStr = c"mle-supervisor";
/// The capabilities that root keeps in its namespaces: those that let it use files as it does outside.
const KEPT_CAPABILITIES: [libc::c_ulong; 5] = [0, 1, 2, 3, 4];
/// Capabilities are bits of a 64-bit mask.
const CAPABILITIES: libc::c_ulong = 64;
/// The kernel's `KEYCTL_JOIN_SESSION_KEYRING`.
const JOIN_SESSION_KEYRING: libc::c_long = 1;
/// The child's `oom_score_adj`, from -1000 to 1000: the kernel kills it before the program.
pub(crate) const OOM_SCORE_ADJ: &[u8] = b"500";

/// Everything that confines one child. The default confines nothing.
#[derive(Debug, Default)]
pub struct Confinement {
    /// The `cgroup.procs` of its control group.
    pub(crate) cgroup: Option<OwnedFd>,
    /// Its own namespaces.
    pub(crate) namespaces: Option<Namespaces>,
    /// Which files it may use.
    pub(crate) rules: Option<Rules>,
    /// Soft and hard limits.
    pub(crate) limits: Vec<(Resource, u64, u64)>,
    /// Drops capabilities and session keys, and raises the child's OOM score.
    pub(crate) drops_privileges: bool,
}

/// A Landlock ruleset.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The ruleset. The child adds what is mounted in its own namespace.
    pub(crate) ruleset: OwnedFd,
    /// Paths to look up after the mounts, with the access to everything below them, in the kernel's bits.
    pub(crate) late: Vec<(CString, u64)>,
}

/// Which namespaces a child gets, and how they are set up. A user namespace is always among them.
#[derive(Debug)]
pub struct Namespaces {
    /// `uid_map` and `gid_map`.
    pub(crate) users: [Vec<u8>; 2],
    /// Is `setgroups` allowed? An unprivileged user must give it up to map groups.
    pub(crate) may_set_groups: bool,
    /// A network that has only its own loopback.
    pub(crate) network: bool,
    /// Processes see only each other, and all end with the first.
    pub(crate) processes: bool,
    /// `pid_max` in the namespace, where the kernel has one for each.
    pub(crate) process_ids: Option<Vec<u8>>,
    /// What is made read-only in `/proc`, so that the rest, which is about processes, can be writable. Empty: the
    /// child gets no writable `/proc`.
    pub(crate) kernel_settings: Vec<CString>,
    /// Options of a private `/dev/shm`.
    pub(crate) shared_memory: Option<CString>,
    /// What it sees of the files.
    pub(crate) mounts: Mounts,
}

impl Namespaces {
    /// As flags of `clone`.
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

    /// Inside: sets up everything that was asked for.
    fn set_up(&self) -> io::Result<()> {
        if self.network {
            loopback_up()?;
        }
        if self.has_mounts() {
            // Mounts made here must not propagate to the outside.
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
            // Kernels without a `pid_max` for each namespace refuse; the program counts processes anyway.
            let _ = overwrite(c"/proc/sys/kernel/pid_max", most);
        }
        if !self.processes && !self.kernel_settings.is_empty() {
            // Where the system itself has made it read-only, it stays so.
            let _ = mounts::open_proc();
        }
        mounts::close_kernel_settings(&self.kernel_settings)
    }

    /// Outside: maps the users inside.
    fn map_users(&self, inside: Pid) -> io::Result<()> {
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
    /// Does the child have its own process namespace? Then its supervisor is the init process there.
    pub(super) fn has_process_namespace(&self) -> bool {
        self.namespaces.as_ref().is_some_and(|namespaces| namespaces.processes)
    }

    /// Continues in new namespaces if there are any to create. The process that called waits outside.
    pub(super) fn enter(&self) -> io::Result<()> {
        if let Some(namespaces) = &self.namespaces {
            clone_into(namespaces)?;
        }
        let Some(rules) = &self.rules else { return Ok(()) };
        // A path that does not exist needs no rule.
        rules.late.iter().try_for_each(|(path, access)| match rules.add(path, *access) {
            Err(Errno::ENOENT) => Ok(()),
            added => Ok(added?),
        })
    }

    /// Confines the calling process for good.
    pub(super) fn apply(&self) -> io::Result<()> {
        if let Some(entrance) = &self.cgroup {
            write(entrance, b"0")?;
        }
        for (resource, soft, hard) in &self.limits {
            setrlimit(*resource, *soft, *hard)?;
        }
        if self.drops_privileges {
            // Replaces the keyring of the user's session. If the kernel has no keyrings or refuses, none is shared.
            // SAFETY: gives this process an empty session keyring without a name.
            unsafe {
                libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<libc::c_char>())
            };
            let _ = overwrite(c"/proc/self/oom_score_adj", OOM_SCORE_ADJ);
            for capability in (0..CAPABILITIES).filter(|number| !KEPT_CAPABILITIES.contains(number)) {
                // Fails without privileges, and then there is nothing to drop.
                // SAFETY: changes only this process's bounding set.
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

/// The kernel's Landlock version; 0 if it has none.
pub(crate) fn landlock_version() -> i32 {
    // SAFETY: with these arguments the call only returns the version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, 1) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Returns inside; outside, waits for the end and exits.
fn clone_into(namespaces: &Namespaces) -> io::Result<()> {
    let (mapped, signal_mapped) = pipe2(OFlag::O_CLOEXEC)?;
    let flags = libc::c_long::from(namespaces.flags() | libc::SIGCHLD);
    // SAFETY: without a stack argument this is a fork. This process has one thread, and both sides only make system
    // calls until they exec or exit.
    let child = Errno::result(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    if child == 0 {
        drop(signal_mapped);
        if read(&mapped, &mut [0]) != Ok(1) {
            // SAFETY: ends this process at once. The process outside reports the error.
            unsafe { libc::_exit(1) };
        }
        // The parent has one thread, so this signal means the death of the process.
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        return namespaces.set_up();
    }
    let child = Pid::from_raw(i32::try_from(child).map_err(|_| Errno::ESRCH)?);
    let ready = namespaces.map_users(child).and_then(|()| Ok(write(&signal_mapped, b"!").map(drop)?));
    if let Err(error) = ready {
        let _ = kill(child, Signal::SIGKILL);
        let _ = waitpid(child, None);
        return Err(error);
    }
    let _ = prctl::set_name(NAME);
    close_range(0, u32::MAX);
    while waitpid(child, None) == Err(Errno::EINTR) {}
    // SAFETY: ends this process at once, without running anything that belongs to the program.
    unsafe { libc::_exit(0) }
}

fn loopback_up() -> io::Result<()> {
    // SAFETY: a zeroed request is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *place = libc::c_char::from_ne_bytes([*byte]);
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: this function owns the socket, and the request outlives the call.
    let done = unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        // glibc and musl have different types for the request.
        let done = if socket < 0 {
            socket
        } else {
            libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request)
        };
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
