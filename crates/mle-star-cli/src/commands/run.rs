//! `run`: from what the user gave to a run that is driven to its end.

use std::path::{Path, PathBuf};

use mle_star::journal::{Frozen, Journal, JournalError};
use mle_star::stop::Trouble;
use mle_star_data::digest::digest;

use super::{estimate, several};
use crate::agents;
use crate::args::RunArgs;
use crate::drive::{Start, View, drive};
use crate::exit::{Exit, Failure};
use crate::freeze::{self, Prepared};
use crate::settings::process_environment;
use crate::{run_folder, runs, say, task_source};

/// Solves a task, or several.
///
/// # Errors
/// What was wrong with the input, or ended the run, with its exit code.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let tasks = task_source::all(&args.tasks);
    for folder in task_source::passed_over(&args.tasks).iter().filter(|_| !args.quiet) {
        let folder = folder.display();
        say::talk(&format!(
            "note: {folder} is passed over: it holds no task file, train.csv or description.md"
        ));
    }
    let [task] = tasks.as_slice() else { return several::run(args, &tasks) };
    let prepared = freeze::prepare(args, task, &process_environment)?;
    if args.estimate {
        return estimate::print(&prepared);
    }
    drive(begin(prepared)?, forget_if_unusable)
}

/// Removes the folder of a run whose input turned out to be unusable: nothing was done yet, and with other input
/// it will be another run.
pub fn forget_if_unusable(folder: &Path, ended: &Result<Exit, Failure>) {
    if !matches!(ended, Err(failure) if failure.exit == Exit::Usage) {
        return;
    }
    if let Err(error) = std::fs::remove_dir_all(folder) {
        say::talk(&format!("note: {} was left behind: {error}", folder.display()));
    }
}

/// Freezes the inputs in a new run folder, before anything else is done.
///
/// # Errors
/// Rules that cannot do the task, data that cannot be read, a run id that is taken, a folder that cannot be written.
pub fn begin(prepared: Prepared) -> Result<Start, Failure> {
    let Prepared { task, config, invocation, prompts, retrieved_models, chosen, profile, guesses, sources } =
        prepared;
    let sample = freeze::sample(profile.as_ref());
    let rules = agents::rules(&chosen, &task, &config, profile)?;
    let data_id = digest(&task.data_dir)?;
    let runs_dir = invocation.runs_dir.clone().unwrap_or_else(|| PathBuf::from(runs::DEFAULT_DIR));
    let now = jiff::Zoned::now();
    let claimed = runs::claim(&runs_dir, invocation.run_id.as_deref(), &task.competition_id, &now)?;
    let texts = prompts.texts().clone();
    let frozen = Frozen { run_id: claimed.id, task, config, prompts: texts, retrieved_models, data_id };
    let folder = claimed.hold.folder().to_owned();
    run_folder::write(&folder, &frozen).map_err(Failure::failed)?;
    let journal = Journal::create_in(claimed.hold, &frozen).map_err(|error| journal_failure(&error))?;
    let view = View { json: invocation.json, quiet: invocation.quiet };
    let mut opening = sources;
    opening
        .extend(guesses.iter().map(|guess| format!("  {}: {} ({})", guess.field, guess.value, guess.reason)));
    opening.push(format!("run: {}", folder.display()));
    Ok(Start { folder, frozen, prompts, journal, chosen, rules, sample, view, opening })
}

/// Trouble with a journal is not the input's fault.
pub fn journal_failure(error: &JournalError) -> Failure {
    Failure::failed(Trouble::new(error.to_string(), error.hint()))
}
