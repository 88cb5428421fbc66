//! The command line of `mle-star`.
//!
//! [`args`] parses it, and [`commands`] has one module per command. `mle-star-run` makes and drives runs, [`foreground`]
//! shows them in a terminal; [`watch`], [`report`] and [`ui`] show what is on disk. [`mod@bench`] makes many runs and
//! compares them. [`mcp`] serves runs to other agents. [`check`] finds leaks in scripts of others. Everything is printed
//! by [`output`].

mod args;
mod bench;
mod check;
mod commands;
mod estimate;
mod exit;
mod foreground;
mod mcp;
mod output;
mod processes;
#[cfg(test)]
mod reference;
mod report;
mod runtime;
mod ui;
mod watch;

use std::process::ExitCode;

use mle_star_process::handle_child_signals;

use crate::exit::Exit;

/// Static programs are linked with musl, whose own allocator is slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    output::install_panic_hook();
    handle_child_signals();
    // The hook has printed the panic.
    let exit = std::panic::catch_unwind(start).unwrap_or(Exit::Failed);
    ExitCode::from(exit.code())
}

fn start() -> Exit {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    match commands::perform(cli.command) {
        Ok(exit) => exit,
        Err(failure) => {
            output::error(&failure.trouble);
            failure.exit
        }
    }
}
