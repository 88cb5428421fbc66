//! The guard: one small process between the program and each child, which ends all the child started.
//!
//! A process group is not enough: a daemon that forks twice and opens its own session leaves it. The guard is
//! a subreaper, so every descendant that loses its parent becomes the guard's own child, and it goes on
//! killing its children until it has none. It waits for two things: the child's end, and the control pipe.
//! The kernel closes that pipe when the program dies, however it dies, and then the guard ends everything.
//!
//! A script has the same user, and so may lower the guard's limits (`prlimit`) at any time. What the guard needs it
//! opens before there is a script, and it waits by `epoll_wait`, which no limit touches as it does `poll`.
//!
//! The guard is a fork of the program that never execs. Between fork and end it only makes system calls:
//! no allocation, no locks, no panics, since another thread may have held a lock at the moment of the fork.

#![expect(
    unsafe_code,
    reason = "fork, and what may be called between fork and exec, is outside what Rust checks"
)]

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

use super::confine::Confinement;
use super::session::hear_of_children;

/// Written to the control pipe: ask the child's process group to end.
pub(crate) const TERMINATE: u8 = b'T';
/// Length of the guard's report: the child's raw wait status, then how many processes had to be killed
/// after the child's own end, each four bytes in native order.
pub(crate) const REPORT: usize = 8;

/// How long helpers that clean up behind a child (multiprocessing's resource tracker) may take to end.
const TIDY_UP: Duration = Duration::from_millis(300);
/// How long the guard goes on killing before it reports what it has.
const KILLING: Duration = Duration::from_secs(20);

/// Makes what `command` starts run under a guard: the spawned child becomes the guard, its child the program's.
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

/// Runs in the forked child; returns in the process that is to become the script. With namespaces of their own,
/// the guard and the script are inside, and the forked child waits for the guard outside.
fn begin(control: RawFd, status: RawFd, confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    hear_of_children();
    prctl::set_child_subreaper(true)?;
    SigSet::all().thread_block()?;
    confinement.enter()?;
    prctl::set_child_subreaper(true)?;
    let senses = Senses::open(control)?;
    let guard_id = getpid();
    // SAFETY: this process has one thread, and both sides only make system calls until they exec or exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => guard(child, &senses, status, confinement.is_sealed()),
        ForkResult::Child => become_script(guard_id, confinement),
    }
}

fn become_script(guard_id: Pid, confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    // The guard has one thread, so its death is what this signal means.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != guard_id {
        // The guard was killed already: for the program that is the script's end, not a failure to start it.
        // SAFETY: ends this process at once, without running anything that belongs to the program.
        unsafe { libc::_exit(1) };
    }
    confinement.apply()?;
    // Descriptors that the program itself inherited are none of the script's business. Where the kernel is
    // too old for this they pass, as they would from a shell.
    // SAFETY: marks descriptors of this process to be closed by exec.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    SigSet::all().thread_unblock()?;
    Ok(())
}

fn guard(script: Pid, senses: &Senses<'_>, status: RawFd, is_init: bool) -> ! {
    let _ = prctl::set_name(c"mle-star-guard");
    // The script has the same user, and must not look into this copy of the program.
    let _ = prctl::set_dumpable(false);
    close_all_but(&mut senses.descriptors(status));
    let mut family = Family { script, is_init, ended: None, killed: 0 };
    family.watch(senses);
    family.end(senses);
    let mut report = [0; REPORT];
    report[..4].copy_from_slice(&family.ended.unwrap_or(libc::SIGKILL).to_ne_bytes());
    report[4..].copy_from_slice(&family.killed.to_ne_bytes());
    // SAFETY: the descriptor stays open until this process exits.
    let _ = write(unsafe { BorrowedFd::borrow_raw(status) }, &report);
    // SAFETY: ends this process at once, without running anything that belongs to the program.
    unsafe { libc::_exit(0) }
}

/// Everything inherited from the program goes: pipes of other scripts, the journal, standard streams. Negative
/// descriptors in `kept` mean nothing.
fn close_all_but(kept: &mut [RawFd]) {
    kept.sort_unstable();
    let mut from = 0;
    for descriptor in kept.iter().filter_map(|descriptor| u32::try_from(*descriptor).ok()) {
        if from < descriptor {
            close_range(from, descriptor - 1);
        }
        from = descriptor + 1;
    }
    close_range(from, u32::MAX);
}

pub(super) fn close_range(from: u32, to: u32) {
    // SAFETY: the descriptors belong to this process, and nothing of it uses them any more.
    if unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) } == 0 {
        return;
    }
    for descriptor in from..=to.min(4096) {
        // SAFETY: as above.
        unsafe { libc::close(descriptor.cast_signed()) };
    }
}

/// By what the guard learns of anything, all of it opened before there is a script.
struct Senses<'a> {
    control: BorrowedFd<'a>,
    /// Hears of the death of children.
    deaths: SignalFd,
    /// Waits for the two.
    either: Epoll,
    /// The list of the guard's children, where the kernel has one.
    children: Option<OwnedFd>,
}

/// Something has happened to it.
const CONTROL: u64 = 1;
const DEATHS: u64 = 2;

impl Senses<'_> {
    /// `control` must stay open. The caller must be the guard: a signal is heard of by the process that waits for it.
    fn open(control: RawFd) -> io::Result<Self> {
        // SAFETY: as said.
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

    /// Those to be kept open, with one more.
    fn descriptors(&self, other: RawFd) -> [RawFd; 5] {
        let children = self.children.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let (deaths, either) = (self.deaths.as_fd().as_raw_fd(), self.either.0.as_raw_fd());
        [self.control.as_raw_fd(), deaths, either, children, other]
    }

    /// Waits until something has happened, or time is out; forgets the deaths. Has the program something to say?
    fn wait(&self, time: EpollTimeout) -> Result<bool, Errno> {
        let mut events = [EpollEvent::empty(); 2];
        let happened = match self.either.wait(&mut events, time) {
            Err(Errno::EINTR) => 0,
            happened => happened?,
        };
        // One is enough: they are all the same, and one that comes later wakes the guard again.
        let _ = self.deaths.read_signal();
        Ok(events.iter().take(happened).any(|event| event.data() == CONTROL))
    }

    /// Waits for a death, for a moment.
    fn wait_for_death(&self) {
        let _ = self.wait(EpollTimeout::from(20_u8));
    }

    /// Calls `act` with each direct child, as far as they fit into one small buffer; the rest comes next round.
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

/// The script and its descendants, seen from the guard.
struct Family {
    script: Pid,
    /// The guard is the init of a namespace in which there is nobody else.
    is_init: bool,
    /// The script's raw wait status.
    ended: Option<i32>,
    /// How many others died of SIGKILL after the script's end.
    killed: u32,
}

impl Family {
    /// Returns when the script has ended or the program wants it gone, or when nothing can be waited for.
    fn watch(&mut self, senses: &Senses<'_>) {
        let is_over = self.wait_for_end(senses);
        // From now on it would keep everything else from being waited for.
        let _ = senses.either.delete(senses.control);
        let started = Instant::now();
        while is_over && self.reap() && started.elapsed() < TIDY_UP {
            senses.wait_for_death();
        }
    }

    /// Did the script end by itself? Then helpers may tidy up behind it.
    fn wait_for_end(&mut self, senses: &Senses<'_>) -> bool {
        while self.reap() && self.ended.is_none() {
            match senses.wait(EpollTimeout::NONE) {
                Ok(true) if !self.obey(senses.control) => return false,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Follows one order from the program; false when everything is to end now.
    fn obey(&self, control: BorrowedFd<'_>) -> bool {
        let mut order = [0];
        match read(control, &mut order) {
            Ok(1) if order == [TERMINATE] => killpg(self.script, Signal::SIGTERM).is_ok(),
            Err(Errno::EINTR | Errno::EAGAIN) => true,
            _ => false,
        }
    }

    /// Kills until nothing is left. Children of a killed process become the guard's, so it takes rounds.
    fn end(&mut self, senses: &Senses<'_>) {
        let started = Instant::now();
        while self.reap() && started.elapsed() < KILLING {
            if self.is_init {
                // Everybody but the init itself, at one moment: nobody can flee by forking.
                let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
                senses.wait_for_death();
                continue;
            }
            let listed = senses.for_each_child(|child| {
                let _ = kill(child, Signal::SIGKILL);
            });
            // The group's number may belong to strangers once the script is reaped: only while it is not,
            // or where the kernel does not list children.
            if self.ended.is_none() || listed.is_err() {
                let _ = killpg(self.script, Signal::SIGKILL);
            }
            senses.wait_for_death();
        }
    }

    /// Collects the dead; false when there is no child left, dead or alive.
    fn reap(&mut self) -> bool {
        loop {
            let mut status = 0;
            // SAFETY: `status` is a valid place for the result.
            match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
                0 => return true,
                -1 => return Errno::last() == Errno::EINTR,
                pid if pid == self.script.as_raw() => self.ended = Some(status),
                _ if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL => self.killed += 1,
                _ => {}
            }
        }
    }
}
