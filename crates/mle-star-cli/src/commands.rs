//! One module per command.

pub mod bench;
pub mod check;
pub mod delete;
pub mod doctor;
pub mod export;
pub mod fork;
pub mod init;
pub mod list;
pub mod manual;
pub mod note;
pub mod predict;
pub mod prompts;
pub mod report;
pub mod resume;
pub mod run;
pub mod runner;
pub mod show;
pub mod skill;
pub mod stop;
pub mod temporary;
mod toy;
pub mod ui;
pub mod watch;

use std::io::{IsTerminal, stderr, stdin};
use std::path::PathBuf;

use mle_star_report::run_view::{DEFAULT_DIR, State};
use mle_star_run::OpenRun;
use mle_star_run::runs::argument;
use mle_star_run::settings::process_environment;

use crate::args::ViewArgs;
use crate::exit::{Exit, Failure};
use crate::foreground::Listening;
use crate::output;
use crate::processes::detached::detached;

/// The runs directory of a command that reads no config file.
pub fn runs_dir(given: Option<PathBuf>) -> PathBuf {
    let from_environment = || process_environment("MLE_STAR_RUNS_DIR").map(PathBuf::from);
    given.or_else(from_environment).unwrap_or_else(|| PathBuf::from(DEFAULT_DIR))
}

/// Goes on with a run in a process of its own, and prints its folder.
fn detach(run: OpenRun, view: &ViewArgs) -> Result<Exit, Failure> {
    let (listening, name) = (Listening::start()?, argument(&run.folder));
    let detached = detached(run, &|| listening.stopped())?;
    let is_stopped = detached.state == State::Unfinished;
    if view.json {
        output::json(&detached)?;
    } else {
        if !view.quiet {
            detached.notes.iter().for_each(|note| output::talk(note));
            let next = if is_stopped {
                "it has stopped; continue with: mle-star resume"
            } else {
                "follow it with: mle-star watch"
            };
            output::talk(&format!("{next} {name}"));
        }
        output::data(&detached.folder.display().to_string());
    }
    Ok(if is_stopped { Exit::Interrupted } else { Exit::Done })
}

/// Whether somebody can answer a question.
fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Asks a question; anything but a yes is a no.
fn agreed(question: &str) -> bool {
    output::talk(&format!("{question} [y/N]"));
    let mut answer = String::new();
    let read = stdin().read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}
