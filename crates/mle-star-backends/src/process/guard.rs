//! The guard: one small process between the program and each child, which ends all the child started.
//!
//! A process group is not enough: a daemon that forks twice and opens its own session leaves it. The guard is
//! a subreaper, so every descendant that loses its parent becomes the guard's own child, and it goes on
//! killing its children until it has none. It waits for two things: the child's end, and the control pipe.
//! The kernel closes that pipe when the program dies, however it dies, and then the guard ends everything.
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
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::stat::Mode;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, read, setsid, write};

use super::confine::Confinement;

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
    prctl::set_child_subreaper(true)?;
    SigSet::all().thread_block()?;
    confinement.enter()?;
    prctl::set_child_subreaper(true)?;
    let guard_id = getpid();
    // SAFETY: this process has one thread, and both sides only make system calls until they exec or exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => guard(child, control, status, confinement.is_sealed()),
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

fn guard(script: Pid, control: RawFd, status: RawFd, is_init: bool) -> ! {
    let _ = prctl::set_name(c"mle-star-guard");
    // The script has the same user, and must not look into this copy of the program.
    let _ = prctl::set_dumpable(false);
    close_all_but(control, status);
    let mut family = Family { script, is_init, ended: None, killed: 0 };
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    // SAFETY: both descriptors stay open until this process exits.
    let (control, status) = unsafe { (BorrowedFd::borrow_raw(control), BorrowedFd::borrow_raw(status)) };
    if let Ok(deaths) = SignalFd::with_flags(&children, SfdFlags::SFD_NONBLOCK) {
        family.watch(control, &deaths);
        family.end(&deaths);
    }
    let mut report = [0; REPORT];
    report[..4].copy_from_slice(&family.ended.unwrap_or(libc::SIGKILL).to_ne_bytes());
    report[4..].copy_from_slice(&family.killed.to_ne_bytes());
    let _ = write(status, &report);
    // SAFETY: ends this process at once, without running anything that belongs to the program.
    unsafe { libc::_exit(0) }
}

/// Everything inherited from the program goes: pipes of other scripts, the journal, standard streams.
fn close_all_but(first: RawFd, second: RawFd) {
    let (low, high) = (first.min(second).unsigned_abs(), first.max(second).unsigned_abs());
    if low > 0 {
        close_range(0, low - 1);
    }
    if low + 1 < high {
        close_range(low + 1, high - 1);
    }
    close_range(high + 1, u32::MAX);
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
    /// Returns when the script has ended or the program wants it gone.
    fn watch(&mut self, control: BorrowedFd<'_>, deaths: &SignalFd) {
        while self.reap() && self.ended.is_none() {
            let mut events =
                [PollFd::new(control, PollFlags::POLLIN), PollFd::new(deaths.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut events, PollTimeout::NONE);
            let [asked, died] = events.map(|event| event.any().unwrap_or(true));
            if died {
                drain(deaths);
            }
            if asked && !self.obey(control) {
                return;
            }
        }
        self.wait_for_helpers(deaths);
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

    fn wait_for_helpers(&mut self, deaths: &SignalFd) {
        let started = Instant::now();
        while self.reap() && started.elapsed() < TIDY_UP {
            wait_for_death(deaths);
        }
    }

    /// Kills until nothing is left. Children of a killed process become the guard's, so it takes rounds.
    fn end(&mut self, deaths: &SignalFd) {
        let started = Instant::now();
        while self.reap() && started.elapsed() < KILLING {
            if self.is_init {
                // Everybody but the init itself, at one moment: nobody can flee by forking.
                let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
                wait_for_death(deaths);
                continue;
            }
            let listed = for_each_child(|child| {
                let _ = kill(child, Signal::SIGKILL);
            });
            // The group's number may belong to strangers once the script is reaped: only while it is not,
            // or where the kernel does not list children.
            if self.ended.is_none() || listed.is_err() {
                let _ = killpg(self.script, Signal::SIGKILL);
            }
            wait_for_death(deaths);
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

fn wait_for_death(deaths: &SignalFd) {
    let mut events = [PollFd::new(deaths.as_fd(), PollFlags::POLLIN)];
    let _ = poll(&mut events, 20_u8);
    drain(deaths);
}

fn drain(deaths: &SignalFd) {
    while let Ok(Some(_)) = deaths.read_signal() {}
}

/// Calls `act` with each direct child, as far as they fit into one small buffer; the rest comes next round.
fn for_each_child(mut act: impl FnMut(Pid)) -> Result<(), Errno> {
    let list = open(c"/proc/thread-self/children", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut buffer = [0; 4096];
    let length = read(&list, &mut buffer)?;
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
