//! The command line of `mle-star`.
//!
//! [`args`] parses it, and [`commands`] has one module per command. `run` goes from [`prepare`] (task, [`settings`],
//! [`provider`] of agents) to [`drive`]; [`runs`] reads what is on disk, [`watch`], [`views`], [`report`] and [`ui`]
//! show it. [`check`] finds leaks in scripts of others. Everything is printed by [`output`].

mod args;
mod check;
mod commands;
mod drive;
mod exit;
mod output;
mod prepare;
mod provider;
#[cfg(test)]
mod reference;
mod report;
mod runs;
mod runtime;
mod settings;
mod ui;
mod usage;
mod views;
mod watch;

use std::process::ExitCode;

use mle_star_process::handle_child_signals;

use crate::exit::Exit;

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
