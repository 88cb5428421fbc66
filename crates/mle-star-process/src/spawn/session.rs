//! What a process inherits from its parent: a session, and ignored signals.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::setsid;

/// Starts the command in its own session, for a child that is meant to outlive the program: it has no terminal, and
/// signals from this program's terminal do not reach it.
pub fn in_own_session(command: &mut Command) -> &mut Command {
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(|| setsid().map(drop).map_err(io::Error::from)) }
}

/// Resets the handling of `SIGCHLD`. If this process was started with the signal ignored, the kernel discards the exit
/// status of its children, and waiting for them fails. Call it once, before the first child starts.
pub fn handle_child_signals() {
    // SAFETY: the default action runs no code of this process.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}
