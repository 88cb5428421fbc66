//! The supervisor on systems other than Linux: one small process between the program and each child, which ends the
//! child's process group. It uses POSIX only and is tested on Linux.
//!
//! Every child leads its own session and group. The supervisor waits for the child's end and for the control pipe,
//! which the kernel closes when the program dies, however it dies. Then it kills the group until it is empty.
//! Processes that leave the group survive, and so does the group if the supervisor itself is killed.
//!
//! As on Linux, the supervisor is a fork of the program that never execs and only makes system calls.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::sys::select::{FdSet, pselect};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, killpg, sigaction};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::unistd::{ForkResult, Pid, fork, read, setsid, write};

use super::TIDY_UP;
use super::confine::Confinement;

/// Written to the control pipe: ask the child's process group to end.
pub(crate) const TERMINATE: u8 = b'T';
/// Length of the supervisor's report: the child's raw wait status, then 1 if others of its group had to be killed after
/// its own end, else 0, each four bytes in native order.
pub(crate) const REPORT: usize = 8;

/// How long the supervisor keeps killing before it reports.
const KILLING: Duration = Duration::from_secs(20);
/// Between two checks of a group whose leader is gone, in milliseconds. No system reuses a group's number within it.
const PAUSE_MS: i64 = 5;
/// Larger descriptors are not closed, however many the system allows.
const DESCRIPTORS: RawFd = 65_536;

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

/// Runs in the forked process; returns in the process that becomes the child.
fn begin(control: RawFd, status: RawFd, confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    SigSet::all().thread_block()?;
    // SAFETY: this process has one thread, and both sides only make system calls until they exec or exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => supervise(child, control, status),
        ForkResult::Child => become_child(confinement),
    }
}

fn become_child(confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    // Another thread of the program may have opened a descriptor and not yet marked it.
    for descriptor in 3..descriptors() {
        // SAFETY: marks descriptors of this process to be closed by exec.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    confinement.apply()?;
    SigSet::all().thread_unblock()?;
    Ok(())
}

fn supervise(child: Pid, control: RawFd, status: RawFd) -> ! {
    // SAFETY: this process no longer uses its standard streams, and none of the pipes is one of them. Both descriptors
    // stay open until this process exits.
    let (control, status) = unsafe {
        libc::dup2(control, 0);
        libc::dup2(status, 1);
        (BorrowedFd::borrow_raw(0), BorrowedFd::borrow_raw(1))
    };
    // Closes everything else inherited from the program: pipes of other children, open files.
    for descriptor in 2..descriptors() {
        // SAFETY: this process owns the descriptors and no longer uses them.
        unsafe { libc::close(descriptor) };
    }
    let mut group = Group { leader: child, ended: None, killed: false };
    if handle_deaths().is_ok() {
        group.watch(control);
    }
    group.end();
    let mut report = [0; REPORT];
    report[..4].copy_from_slice(&group.ended.unwrap_or(libc::SIGKILL).to_ne_bytes());
    report[4..].copy_from_slice(&u32::from(group.killed).to_ne_bytes());
    let _ = write(status, &report);
    // SAFETY: ends this process at once, without running anything that belongs to the program.
    unsafe { libc::_exit(0) }
}

/// One more than the largest descriptor that may be open.
fn descriptors() -> RawFd {
    // SAFETY: changes nothing.
    let most = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    RawFd::try_from(most).ok().filter(|most| *most > 0).map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS))
}

/// Without a handler, the death of a child would not interrupt a wait.
fn handle_deaths() -> Result<(), Errno> {
    let action = SigAction::new(SigHandler::Handler(do_nothing), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGCHLD, &action) }.map(drop)
}

extern "C" fn do_nothing(_signal: libc::c_int) {}

/// Waits until `control` can be read, a child dies, or the time is up, if one is given. Can `control` be read?
/// Earlier deaths end the wait too: their signal is blocked except in here.
fn wait(control: Option<BorrowedFd<'_>>, milliseconds: Option<i64>) -> bool {
    let mut others = SigSet::all();
    others.remove(Signal::SIGCHLD);
    let mut readable = FdSet::new();
    if let Some(control) = control {
        readable.insert(control);
    }
    let time = milliseconds.map(TimeSpec::milliseconds);
    let ready = pselect(None, Some(&mut readable), None, None, time.as_ref(), Some(&others));
    ready.is_ok_and(|ready| ready > 0)
}

/// The child and its process group, seen from the supervisor.
struct Group {
    leader: Pid,
    /// The child's raw wait status, once it was collected.
    ended: Option<i32>,
    /// Were others killed after the child's end?
    killed: bool,
}

impl Group {
    /// Returns when the child has ended, or when the program wants everything to end.
    fn watch(&mut self, control: BorrowedFd<'_>) {
        while !self.is_over() {
            if wait(Some(control), None) && !self.obey(control) {
                return;
            }
        }
        let ended = Instant::now();
        while self.exists() && ended.elapsed() < TIDY_UP {
            wait(None, Some(PAUSE_MS));
        }
    }

    /// Follows one order from the program; false if everything must end now.
    fn obey(&self, control: BorrowedFd<'_>) -> bool {
        let mut order = [0];
        match read(control, &mut order) {
            Ok(1) if order == [TERMINATE] => killpg(self.leader, Signal::SIGTERM).is_ok(),
            Err(Errno::EINTR | Errno::EAGAIN) => true,
            _ => false,
        }
    }

    /// Kills until the group is empty: a process that forks at the moment of the signal may escape it.
    fn end(&mut self) {
        let started = Instant::now();
        loop {
            // The number belongs to the child until it is collected. The child may not lead a group yet.
            if !self.is_over() {
                let _ = kill(self.leader, Signal::SIGKILL);
                let _ = killpg(self.leader, Signal::SIGKILL);
            } else if killpg(self.leader, Signal::SIGKILL).is_ok() {
                self.killed = true;
            } else {
                return;
            }
            if started.elapsed() >= KILLING {
                return;
            }
            wait(None, Some(PAUSE_MS));
        }
    }

    /// Does the group have a process?
    fn exists(&self) -> bool {
        killpg(self.leader, None).is_ok()
    }

    /// Has the child ended? Collects it then.
    fn is_over(&mut self) -> bool {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the result.
        if self.ended.is_none()
            && unsafe { libc::waitpid(self.leader.as_raw(), &raw mut status, libc::WNOHANG) } > 0
        {
            self.ended = Some(status);
        }
        self.ended.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs::File;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{ExitStatus, Stdio};

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use tokio::process::Command;

    use super::*;
    use crate::process_tree::ProcessTree;

    /// Names the folder for the one test in which a second process starts the child.
    const FOLDER: &str = "MLE_STAR_TEST_SUPERVISOR_ELSEWHERE";
    /// The work of a child until it is ended.
    const WAITING: &str = "echo ready >&9; wait";
    /// A survivor would hold the other end of the pipe for a minute.
    const SOON: Duration = Duration::from_secs(30);

    /// Starts a child that continues with `rest`, with another process in its group.
    fn start(folder: &Path, rest: &str) -> ProcessTree {
        let mut command = Command::new("sh");
        let script = format!("exec 9> alive; sleep 60 & {rest}");
        command.args(["-c", &script]).current_dir(folder);
        let limits = vec![(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)];
        let confinement = Confinement { limits, ..Confinement::default() };
        ProcessTree::spawn_under(arrange, command, Stdio::null(), confinement).unwrap().0
    }

    /// Returns when the child is ready; the returned stream ends when no process of the child is left.
    fn ready(folder: &Path) -> BufReader<File> {
        let mut alive = BufReader::new(File::open(folder.join("alive")).unwrap());
        let mut said = String::new();
        alive.read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        alive
    }

    fn check_gone(mut alive: BufReader<File>, what: &str) {
        let began = Instant::now();
        alive.read_to_end(&mut Vec::new()).unwrap();
        assert!(began.elapsed() < SOON, "{what}");
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        mkfifo(&folder.path().join("alive"), Mode::S_IRWXU).unwrap();
        folder
    }

    #[tokio::test]
    async fn a_child_ends_with_its_group_and_its_status_is_reported() {
        let check = async |rest: &str,
                           orders: fn(&mut ProcessTree),
                           expected: ExitStatus,
                           left_behind: Option<u32>| {
            let folder = folder();
            let mut tree = start(folder.path(), rest);
            let alive = ready(folder.path());
            orders(&mut tree);
            let ending = tree.ended().await.unwrap();
            assert_eq!(ending.status, Some(expected), "{rest}");
            assert!(left_behind.is_none_or(|count| ending.left_behind == count), "{rest} {ending:?}");
            check_gone(alive, rest);
        };
        let exited = |code: i32| ExitStatus::from_raw(code << 8);
        let signalled = ExitStatus::from_raw;
        check("echo ready >&9; exit 3", |_| (), exited(3), Some(1)).await;
        check("echo ready >&9; kill $!; wait; exit 0", |_| (), exited(0), Some(0)).await;
        check("echo ready >&9; kill -SEGV $$", |_| (), signalled(libc::SIGSEGV), Some(1)).await;
        check(WAITING, ProcessTree::terminate, signalled(libc::SIGTERM), None).await;
        check(WAITING, ProcessTree::kill, signalled(libc::SIGKILL), None).await;
        let stubborn = "trap '' TERM; echo ready >&9; while :; do sleep 60; done";
        let in_vain = |tree: &mut ProcessTree| {
            tree.terminate();
            tree.kill();
        };
        check(stubborn, in_vain, signalled(libc::SIGKILL), None).await;
    }

    #[tokio::test]
    async fn the_death_of_the_program_ends_the_group() {
        if let Some(folder) = env::var_os(FOLDER) {
            let mut tree = start(Path::new(&folder), WAITING);
            tree.ended().await.unwrap();
            return;
        }
        let folder = folder();
        let path = module_path!().split_once("::").unwrap().1;
        let mut program = std::process::Command::new(env::current_exe().unwrap());
        program.args(["--exact", &format!("{path}::the_death_of_the_program_ends_the_group")]);
        let mut program = program.env(FOLDER, folder.path()).stdout(Stdio::null()).spawn().unwrap();
        let alive = ready(folder.path());
        program.kill().unwrap();
        program.wait().unwrap();
        check_gone(alive, "program killed");
    }
}
