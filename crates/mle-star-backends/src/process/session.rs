//! Processes that outlive the program: a run that was started from the web page goes on without it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::setsid;

/// Lets the command lead a session of its own: no terminal, and no signal that this program's terminal sends.
#[expect(unsafe_code, reason = "setsid is safe between fork and exec; std has no stable way to ask for it")]
pub fn in_own_session(command: &mut Command) -> &mut Command {
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(|| setsid().map(drop).map_err(io::Error::from)) }
}
