//! The guard of systems that are not Linux: one small process between the program and each child, which ends the
//! child's process group. It is written against POSIX alone, and tested on Linux.
//!
//! Every child leads a session and a group of its own. The guard waits for the child's end and for the control pipe,
//! which the kernel closes when the program dies, however it dies. Then it kills the group until nobody is in it.
//! What leaves the group is not found; nor is anything when the guard itself is killed.
//!
//! As on Linux the guard is a fork of the program that never execs and only makes system calls.

#![expect(
    unsafe_code,
    reason = "fork, and what may be called between fork and exec, is outside what Rust checks"
)]

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

use super::confine::Confinement;

/// Written to the control pipe: ask the child's process group to end.
pub(crate) const TERMINATE: u8 = b'T';
/// Length of the guard's report: the child's raw wait status, then 1 when others of its group had to be killed after
/// its own end, else 0, each four bytes in native order.
pub(crate) const REPORT: usize = 8;

/// How long helpers that clean up behind a child (multiprocessing's resource tracker) may take to end.
const TIDY_UP: Duration = Duration::from_millis(300);
/// How long the guard goes on killing before it reports what it has.
const KILLING: Duration = Duration::from_secs(20);
/// Between two looks at a group whose leader is gone, in milliseconds. In this time no system comes round to the same
/// number for a stranger.
const PAUSE_MS: i64 = 5;
/// Larger descriptors are not looked for, however many the system allows.
const DESCRIPTORS: RawFd = 65_536;

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

/// Runs in the forked child; returns in the process that is to become the script.
fn begin(control: RawFd, status: RawFd, confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    SigSet::all().thread_block()?;
    // SAFETY: this process has one thread, and both sides only make system calls until they exec or exit.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => guard(child, control, status),
        ForkResult::Child => become_script(confinement),
    }
}

fn become_script(confinement: &Confinement) -> io::Result<()> {
    setsid()?;
    // Other threads of the program may have been about to mark theirs.
    for descriptor in 3..descriptors() {
        // SAFETY: marks descriptors of this process to be closed by exec.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    confinement.apply()?;
    SigSet::all().thread_unblock()?;
    Ok(())
}

fn guard(script: Pid, control: RawFd, status: RawFd) -> ! {
    // SAFETY: nothing uses the standard streams of this process any more, and none of the pipes is one of them. Both
    // descriptors stay open until this process exits.
    let (control, status) = unsafe {
        libc::dup2(control, 0);
        libc::dup2(status, 1);
        (BorrowedFd::borrow_raw(0), BorrowedFd::borrow_raw(1))
    };
    // Everything else inherited from the program goes: pipes of other scripts, the journal.
    for descriptor in 2..descriptors() {
        // SAFETY: the descriptors belong to this process, and nothing of it uses them any more.
        unsafe { libc::close(descriptor) };
    }
    let mut group = Group { script, ended: None, killed: false };
    if notice_deaths().is_ok() {
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
    // SAFETY: only answers.
    let most = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    RawFd::try_from(most).ok().filter(|most| *most > 0).map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS))
}

/// Without a handler a child's death would not end a wait.
fn notice_deaths() -> Result<(), Errno> {
    let action = SigAction::new(SigHandler::Handler(noticed), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGCHLD, &action) }.map(drop)
}

extern "C" fn noticed(_signal: libc::c_int) {}

/// Waits until `control` can be read, a child dies, or the time is over, if any is given; says whether the first.
/// Deaths that came before are noticed, too: their signal is held back but in here.
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

/// The script and those of its process group, seen from the guard.
struct Group {
    script: Pid,
    /// The script's raw wait status, once it was collected.
    ended: Option<i32>,
    /// Were others killed after the script's end?
    killed: bool,
}

impl Group {
    /// Returns when the script has ended, or the program wants all of it gone.
    fn watch(&mut self, control: BorrowedFd<'_>) {
        while !self.is_over() {
            if wait(Some(control), None) && !self.obey(control) {
                return;
            }
        }
        let ended = Instant::now();
        while self.is_there() && ended.elapsed() < TIDY_UP {
            wait(None, Some(PAUSE_MS));
        }
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

    /// Kills until nobody is left: who forks at the moment of the signal may have escaped it.
    fn end(&mut self) {
        let started = Instant::now();
        loop {
            // Until it is collected the number is the script's alone. It may not lead a group yet.
            if !self.is_over() {
                let _ = kill(self.script, Signal::SIGKILL);
                let _ = killpg(self.script, Signal::SIGKILL);
            } else if killpg(self.script, Signal::SIGKILL).is_ok() {
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

    /// Is anybody in the group?
    fn is_there(&self) -> bool {
        killpg(self.script, None).is_ok()
    }

    /// Has the script ended? Collects it then.
    fn is_over(&mut self) -> bool {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the result.
        if self.ended.is_none()
            && unsafe { libc::waitpid(self.script.as_raw(), &raw mut status, libc::WNOHANG) } > 0
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

    use super::super::tree::Tree;
    use super::*;

    /// Names the folder of the one test in which a second process starts the script.
    const FOLDER: &str = "MLE_STAR_TEST_GUARD_ELSEWHERE";
    /// What a script does until it is ended.
    const WAITING: &str = "echo ready >&9; wait";
    /// Whoever survives holds the other end of the pipe for a minute.
    const SOON: Duration = Duration::from_secs(30);

    /// Starts a script that goes on with `rest`, with another process in its group.
    fn start(folder: &Path, rest: &str) -> Tree {
        let mut command = Command::new("sh");
        let script = format!("exec 9> alive; sleep 60 & {rest}");
        command.args(["-c", &script]).current_dir(folder);
        let limits = vec![(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)];
        let confinement = Confinement { limits, ..Confinement::default() };
        Tree::spawn_under(arrange, command, Stdio::null(), confinement).unwrap().0
    }

    /// Returns when the script is ready; what is returned ends when nobody of the script is left.
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
    async fn a_script_ends_with_its_group_and_says_how() {
        let check =
            async |rest: &str, orders: fn(&mut Tree), expected: ExitStatus, left_behind: Option<u32>| {
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
        check(WAITING, Tree::terminate, signalled(libc::SIGTERM), None).await;
        check(WAITING, Tree::kill, signalled(libc::SIGKILL), None).await;
        let stubborn = "trap '' TERM; echo ready >&9; while :; do sleep 60; done";
        let in_vain = |tree: &mut Tree| {
            tree.terminate();
            tree.kill();
        };
        check(stubborn, in_vain, signalled(libc::SIGKILL), None).await;
    }

    #[tokio::test]
    async fn a_dropped_tree_takes_its_group_along() {
        let folder = folder();
        let tree = start(folder.path(), WAITING);
        let alive = ready(folder.path());
        drop(tree);
        check_gone(alive, "dropped");
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
