//! The command line of `mle-star`.
//!
//! [`args`] is what can be typed, [`settings`] and [`task_source`] turn it into a frozen task and
//! configuration ([`freeze`]), one module per command under [`commands`] does the rest.

mod agents;
mod args;
mod bill;
mod claude_code;
mod commands;
mod credentials;
mod document;
mod drive;
mod exit;
mod expectation;
mod freeze;
mod legible;
mod money;
mod nearest;
mod report;
mod retrieval;
mod run_folder;
mod run_view;
mod runs;
mod runtime;
mod say;
mod settings;
mod task_file;
mod task_source;
mod ui;
mod views;
mod watch;

use std::process::ExitCode;

use mle_star_process::handle_child_signals;

use crate::exit::Exit;

fn main() -> ExitCode {
    say::install_panic_hook();
    handle_child_signals();
    // A panic has been told already; what is left is its exit code.
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
            say::error(&failure.trouble);
            failure.exit
        }
    }
}
