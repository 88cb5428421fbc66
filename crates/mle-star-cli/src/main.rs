//! The command line of `mle-star`.
//!
//! [`args`] parses it, and [`commands`] has one module per command. `mle-star-run` makes and drives runs, [`foreground`]
//! shows them in a terminal; [`watch`], [`report`] and [`ui`] show what is on disk, [`listing`] the runs of a directory in
//! short. [`mod@bench`] makes many runs and compares them. [`mcp`] serves runs to other agents. [`check`] finds leaks in
//! scripts of others. Everything is printed by [`output`], and what has columns is a [`table`].

mod args;
mod bench;
mod check;
mod commands;
mod deletion;
mod estimate;
mod exit;
mod foreground;
mod listing;
mod mcp;
mod output;
mod processes;
#[cfg(test)]
mod reference;
mod report;
mod runtime;
mod table;
mod ui;
mod watch;

use std::process::ExitCode;

use mle_star_process::handle_child_signals;

use crate::args::Command;
use crate::exit::{Exit, Failure};

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
    let (cli, as_json) = match args::parse() {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    match perform(cli.command) {
        Ok(exit) => exit,
        Err(failure) => {
            let questions = &failure.trouble.questions;
            if as_json && !questions.is_empty() {
                output::data(&serde_json::json!({"questions": questions}).to_string());
            }
            output::error(&failure.trouble);
            failure.exit
        }
    }
}

/// Performs a command; the error has its exit code.
fn perform(command: Command) -> Result<Exit, Failure> {
    // A run also logs what it prints, so losing stdout does not fail it.
    let is_run = matches!(
        command,
        Command::Run(_)
            | Command::Bench(_)
            | Command::Resume(_)
            | Command::Fork(_)
            | Command::Watch(_)
            | Command::Ui(_)
            | Command::Mcp(_)
    );
    if matches!(
        command,
        Command::Run(_)
            | Command::Bench(_)
            | Command::Resume(_)
            | Command::Fork(_)
            | Command::Predict(_)
            | Command::Runner(_)
    ) {
        commands::temporary::check()?;
    }
    let exit = match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Bench(args) => commands::bench::bench(&args),
        Command::Resume(args) => commands::resume::resume(&args),
        Command::Fork(args) => commands::fork::fork(&args),
        Command::Stop(args) => commands::stop::stop(&args),
        Command::Note(args) => commands::note::note(&args),
        Command::Runner(args) => commands::runner::runner(&args),
        Command::List(args) => commands::list::list(&args),
        Command::Watch(args) => commands::watch::watch(&args),
        Command::Show(args) => commands::show::show(&args),
        Command::Predict(args) => commands::predict::predict(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Export(args) => commands::export::export(&args),
        Command::Delete(args) => commands::delete::delete(&args),
        Command::Ui(args) => commands::ui::ui(&args),
        Command::Mcp(args) => mcp::command::mcp(&args),
        Command::Skill { dir } => commands::skill::skill(dir.as_deref()),
        Command::Init(args) => commands::init::init(&args),
        Command::Check(args) => commands::check::check(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Prompts(command) => commands::prompts::perform(&command),
        Command::Completions { shell } => commands::manual::completions(shell),
        Command::Man { dir } => commands::manual::man(dir.as_deref()),
    }?;
    let lost = output::write_error().filter(|_| !is_run);
    lost.map_or(Ok(exit), |trouble| Err(Failure::failed(trouble)))
}
