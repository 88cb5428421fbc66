//! What processes have from whoever started them: a session, and signals that are ignored.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::setsid;

/// Lets the command lead a session of its own, as a run that the web page starts, and that outlives it: no terminal, and
/// no signal that this program's terminal sends.
#[expect(unsafe_code, reason = "setsid is safe between fork and exec; std has no stable way to ask for it")]
pub fn in_own_session(command: &mut Command) -> &mut Command {
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(|| setsid().map(drop).map_err(io::Error::from)) }
}

/// Takes heed of the signal of a child's end. Whoever started this process may have left it ignored: then the kernel
/// forgets children that ended, and nobody can wait for them.
#[expect(unsafe_code, reason = "handlers are unsafe; this sets none")]
pub fn hear_of_children() {
    // SAFETY: no code of this process is to run.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}
