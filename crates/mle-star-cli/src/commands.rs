//! One module per command.

mod bench;
mod check;
pub mod doctor;
mod init;
pub mod list;
mod manual;
mod mcp;
mod probe;
mod prompts;
mod report;
mod resume;
mod run;
mod runner;
mod several;
pub mod show;
mod skill;
pub mod temporary;
mod toy;
mod ui;
pub mod watch;

use std::path::PathBuf;

use mle_star_run::runs;
use mle_star_run::settings::process_environment;

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::output;

/// Performs a command.
///
/// # Errors
/// The error of the command, with its exit code.
pub fn perform(command: Command) -> Result<Exit, Failure> {
    // A run also logs what it prints, so losing stdout does not fail it.
    let is_run = matches!(
        command,
        Command::Run(_)
            | Command::Bench(_)
            | Command::Resume(_)
            | Command::Watch(_)
            | Command::Ui(_)
            | Command::Mcp(_)
    );
    if matches!(command, Command::Run(_) | Command::Bench(_) | Command::Resume(_) | Command::Runner(_)) {
        temporary::check()?;
    }
    let exit = match command {
        Command::Run(args) => run::run(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Resume(args) => resume::resume(&args),
        Command::Runner(args) => runner::runner(&args),
        Command::List(args) => list::list(&args),
        Command::Watch(args) => watch::watch(&args),
        Command::Show(args) => show::show(&args),
        Command::Report(args) => report::report(&args),
        Command::Ui(args) => ui::ui(&args),
        Command::Mcp(args) => mcp::mcp(&args),
        Command::Skill { dir } => skill::skill(dir.as_deref()),
        Command::Init(args) => init::init(&args),
        Command::Check(args) => check::check(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Prompts(command) => prompts::perform(&command),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
    }?;
    let lost = output::lost().filter(|_| !is_run);
    lost.map_or(Ok(exit), |trouble| Err(Failure::failed(trouble)))
}

/// The runs directory of a command that reads no config file.
fn runs_dir(given: Option<PathBuf>) -> PathBuf {
    let from_environment = || process_environment("MLE_STAR_RUNS_DIR").map(PathBuf::from);
    given.or_else(from_environment).unwrap_or_else(|| PathBuf::from(runs::DEFAULT_DIR))
}
