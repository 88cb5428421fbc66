//! The supervisor: one small process between the program and each child, which ends everything the child started.
//!
//! A process group is not enough: a daemon that forks twice and opens its own session leaves it. The supervisor is a
//! subreaper, so every descendant that loses its parent becomes the supervisor's own child, and it kills its children
//! until none is left. It waits for two things: the child's end, and the control pipe. The kernel closes that pipe when
//! the program dies, however it dies, and then the supervisor ends everything.
//!
//! The child runs as the same user, so it can lower the supervisor's limits (`prlimit`) at any time. The supervisor
//! opens what it needs before the child exists, and it waits with `epoll_wait`, which no limit affects, unlike `poll`.
//!
//! The supervisor is a fork of the program that never execs. It only makes system calls: no allocation, no locks, no
//! panics, because another thread may have held a lock at the moment of the fork. It reads `/proc` by hand for the
//! same reason.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::stat::Mode;
use nix::sys::uio::pread;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, read, setsid, write};

use super::TIDY_UP;
use super::confine::{Confinement, NAME};
use super::descriptors::close_all_but;
use super::session::handle_child_signals;

/// Written to the control pipe: ask the child's process group to end.
pub(crate) const TERMINATE: u8 = b'T';
/// Length of the supervisor's report: the child's raw wait status, then how many processes it had to kill after the
/// child's own end, each four bytes in native order.
pub(crate) const REPORT: usize = 8;

/// How long the supervisor keeps killing before it reports.
const KILL_INTERVAL: Duration = Duration::from_secs(20);

/// Makes `command` start under a supervisor: the spawned process becomes the supervisor, and its child runs the
/// command.
///
/// `control` is the reading end of the control pipe, `status` the writing end of the pipe for the report.
pub(crate) fn arrange(
    command: &mut std::process::Command,
    control: OwnedFd,
    status: OwnedFd,
    confinement: Confinement,
) {
    // SAFETY: `begin` only makes system calls and does not allocate.
    unsafe { command.pre_exec(move || begin(control.as_raw_fd(), status.as_raw_fd(), &confinement)) };
}

/// Runs in the forked process; returns in the process that becomes the child. With namespaces, supervisor and child
/// are inside them, and the forked process waits outside for the supervisor.
fn begin(control: RawFd, status: RawFd, confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    handle_child_signals();
    prctl::set_child_subreaper(true)?;
    SigSet::all().thread_block()?;
    confinement.enter()?;
    prctl::set_child_subreaper(true)?;
    let events = Events::open(control)?;
    let supervisor = getpid();
    // SAFETY: this process has one thread, and both sides only make system calls until they exec or exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            supervise(child, &events, status, confinement.has_process_namespace())
        }
        ForkResult::Child => become_child(supervisor, confinement),
    }
}

fn become_child(supervisor: Pid, confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    // The supervisor has one thread, so this signal means its death.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != supervisor {
        // The supervisor was already killed: to the program that is the child's end, not a failure to start it.
        // SAFETY: ends this process at once, without running anything that belongs to the program.
        unsafe { libc::_exit(1) };
    }
    confinement.apply()?;
    // The child must not inherit what the program itself inherited. A kernel that is too old for this call passes it
    // on, as a shell would.
    // SAFETY: marks descriptors of this process to be closed by exec.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    SigSet::all().thread_unblock()?;
    Ok(())
}

fn supervise(child: Pid, events: &Events<'_>, status: RawFd, is_init: bool) -> ! {
    let _ = prctl::set_name(NAME);
    // The child runs as the same user and must not read the memory of this copy of the program.
    let _ = prctl::set_dumpable(false);
    close_all_but(&mut events.descriptors(status));
    let mut family = Family { child, is_init, ended: None, killed: 0 };
    family.watch(events);
    family.end(events);
    let mut report = [0; REPORT];
    report[..4].copy_from_slice(&family.ended.unwrap_or(libc::SIGKILL).to_ne_bytes());
    report[4..].copy_from_slice(&family.killed.to_ne_bytes());
    // SAFETY: the descriptor stays open until this process exits.
    let _ = write(unsafe { BorrowedFd::borrow_raw(status) }, &report);
    // SAFETY: ends this process at once, without running anything that belongs to the program.
    unsafe { libc::_exit(0) }
}

/// What the supervisor waits for and reads, all of it opened before the child exists.
struct Events<'a> {
    control: BorrowedFd<'a>,
    /// Deaths of children.
    deaths: SignalFd,
    /// Waits for either of the two.
    either: Epoll,
    /// The list of the supervisor's children, if the kernel has one.
    children: Option<OwnedFd>,
}

/// Which of the two has an event.
const CONTROL: u64 = 1;
const DEATHS: u64 = 2;

impl Events<'_> {
    /// `control` must stay open. The caller must be the supervisor: a signalfd reports the signals of the process that
    /// reads it.
    fn open(control: RawFd) -> io::Result<Self> {
        // SAFETY: the caller keeps it open.
        let control = unsafe { BorrowedFd::borrow_raw(control) };
        let mut children = SigSet::empty();
        children.add(Signal::SIGCHLD);
        let deaths = SignalFd::with_flags(&children, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let either = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        either.add(control, EpollEvent::new(EpollFlags::EPOLLIN, CONTROL))?;
        either.add(&deaths, EpollEvent::new(EpollFlags::EPOLLIN, DEATHS))?;
        let children = c"/proc/thread-self/children";
        let children = open(children, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty()).ok();
        Ok(Self { control, deaths, either, children })
    }

    /// The descriptors to keep open, with one more.
    fn descriptors(&self, other: RawFd) -> [RawFd; 5] {
        let children = self.children.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let (deaths, either) = (self.deaths.as_fd().as_raw_fd(), self.either.0.as_raw_fd());
        [self.control.as_raw_fd(), deaths, either, children, other]
    }

    /// Waits for an event or until the time is up, and clears the deaths. Is there an order from the program?
    fn wait(&self, time: EpollTimeout) -> Result<bool, Errno> {
        let mut events = [EpollEvent::empty(); 2];
        let count = match self.either.wait(&mut events, time) {
            Err(Errno::EINTR) => 0,
            count => count?,
        };
        // Reading one is enough: signals of a kind merge, and a later one wakes the supervisor again.
        let _ = self.deaths.read_signal();
        Ok(events.iter().take(count).any(|event| event.data() == CONTROL))
    }

    /// Waits a moment for a death.
    fn wait_for_death(&self) {
        let _ = self.wait(EpollTimeout::from(20_u8));
    }

    /// Calls `act` with as many direct children as fit into one small buffer; the rest follows in the next round.
    fn for_each_child(&self, mut act: impl FnMut(Pid)) -> Result<(), Errno> {
        let mut buffer = [0; 4096];
        let length = pread(self.children.as_ref().ok_or(Errno::ENOENT)?, &mut buffer, 0)?;
        let mut number = 0;
        for byte in buffer.iter().take(length) {
            match byte {
                b'0'..=b'9' => number = number * 10 + i32::from(byte - b'0'),
                _ => {
                    if number > 1 {
                        act(Pid::from_raw(number));
                    }
                    number = 0;
                }
            }
        }
        Ok(())
    }
}

/// The child and its descendants, seen from the supervisor.
struct Family {
    child: Pid,
    /// Is the supervisor the init process of a namespace that holds only this family?
    is_init: bool,
    /// The child's raw wait status.
    ended: Option<i32>,
    /// How many others died of SIGKILL after the child's end.
    killed: u32,
}

impl Family {
    /// Returns when the child has ended, when the program wants it to end, or when waiting fails.
    fn watch(&mut self, events: &Events<'_>) {
        let is_over = self.wait_for_end(events);
        // A closed pipe is always ready and would end every wait at once.
        let _ = events.either.delete(events.control);
        let started = Instant::now();
        while is_over && self.reap() && started.elapsed() < TIDY_UP {
            events.wait_for_death();
        }
    }

    /// Did the child end by itself? Then its helpers get a moment to clean up.
    fn wait_for_end(&mut self, events: &Events<'_>) -> bool {
        while self.reap() && self.ended.is_none() {
            match events.wait(EpollTimeout::NONE) {
                Ok(true) if !self.obey(events.control) => return false,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Follows one order from the program; false if everything must end now.
    fn obey(&self, control: BorrowedFd<'_>) -> bool {
        let mut order = [0];
        match read(control, &mut order) {
            // The child may not have created its session yet.
            Ok(1) if order == [TERMINATE] => {
                killpg(self.child, Signal::SIGTERM).or_else(|_| kill(self.child, Signal::SIGTERM)).is_ok()
            }
            Err(Errno::EINTR | Errno::EAGAIN) => true,
            _ => false,
        }
    }

    /// Kills until nothing is left. Children of a killed process become the supervisor's, so it takes rounds.
    fn end(&mut self, events: &Events<'_>) {
        let started = Instant::now();
        while self.reap() && started.elapsed() < KILL_INTERVAL {
            if self.is_init {
                // Kills all but init at one moment: a fork cannot escape.
                let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
                events.wait_for_death();
                continue;
            }
            let listed = events.for_each_child(|child| {
                let _ = kill(child, Signal::SIGKILL);
            });
            // Once the child is reaped, its group's number may be reused. So the group is killed only before that, or
            // if the kernel does not list children.
            if self.ended.is_none() || listed.is_err() {
                let _ = killpg(self.child, Signal::SIGKILL);
            }
            events.wait_for_death();
        }
    }

    /// Collects dead children; false if no child is left, dead or alive.
    fn reap(&mut self) -> bool {
        loop {
            let mut status = 0;
            // SAFETY: `status` is a valid place for the result.
            match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
                0 => return true,
                -1 => return Errno::last() == Errno::EINTR,
                pid if pid == self.child.as_raw() => self.ended = Some(status),
                _ if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL => self.killed += 1,
                _ => {}
            }
        }
    }
}
