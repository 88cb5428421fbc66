//! Can reported scores be believed? Generated tasks with hidden answers measure rules of accepting and choosing
//! solutions.
//!
//! `cargo run --release -p mle-star-backends --example trust -- COMMAND`, without a command `run`:
//!
//! - `run [TASK ...] [--seeds N] [--seconds N,N] [--jobs N] [--rules NAME,NAME] [--out FOLDER] [--results FILE]
//!   [--program FILE]` runs `mle-star` with offline agents on each task and seed, once per configuration, and prints
//!   tables. Runs in the folder that have ended are not repeated, and a folder has runs of one build only. A file of
//!   results collects those of several folders, and the tables show all of them. The program is otherwise built.
//! - `tables` takes the same words, starts no run, changes no file and prints the tables. Without `--seeds`, it shows the
//!   seeds up to 100.
//! - `tasks FOLDER [TASK ...] [--seed N]` writes tasks and prints the scores of a constant and of somebody who knows
//!   the process.
//! - `score TASK SUBMISSION [--seed N]` prints the hidden score of a submission.
//! - `replay [TASK ...] [--seeds N] [--searches NAME,NAME] [--python FILE]` applies the rules to searches without agents, of
//!   one model with other seeds or settings. The interpreter is otherwise `MLE_STAR_TEST_PYTHON`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tables are what this program is for")]

#[path = "../common/mod.rs"]
mod common;
mod grid;
mod replay;
mod rules;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::arguments::{Arguments, chosen, find, one_of};
use common::tasks::{self, TASKS, Task};
use common::{Failure, statistics};
use grid::{CONFIGURATIONS, Grid};
use replay::{Replay, SEARCHES};

const USAGE: &str =
    "usage: trust [run | tables] [TASK ...] [--seeds N] [--seconds N,N] [--jobs N] [--rules NAME,NAME]
                             [--out FOLDER] [--results FILE] [--program FILE]
       trust tasks FOLDER [TASK ...] [--seed N]
       trust score TASK SUBMISSION [--seed N]
       trust replay [TASK ...] [--seeds N] [--searches NAME,NAME] [--python FILE]";
const COMMANDS: [&str; 5] = ["run", "tables", "tasks", "score", "replay"];
const GRID_OPTIONS: [&str; 7] = ["seeds", "seconds", "jobs", "rules", "out", "results", "program"];

/// Tables look for seeds up to this one.
const LAST_SEED: u64 = 100;

/// The first tasks are those that `docs/trust.md` measures; the others are for `quality`.
const MEASURED: usize = 14;

fn main() -> ExitCode {
    common::show(answer(std::env::args().skip(1)))
}

/// What a command prints.
fn answer(words: impl Iterator<Item = String>) -> Result<String, Failure> {
    let mut words = words.peekable();
    let command = words.next_if(|word| COMMANDS.contains(&word.as_str()));
    match command.as_deref().unwrap_or("run") {
        "run" => run_grid(&Arguments::parse(words, &GRID_OPTIONS)?),
        "tables" => shown(&Arguments::parse(words, &GRID_OPTIONS)?),
        "tasks" => write_tasks(&Arguments::parse(words, &["seed"])?),
        "score" => score(&Arguments::parse(words, &["seed"])?),
        _ => replayed(&Arguments::parse(words, &["seeds", "searches", "python"])?),
    }
}

fn run_grid(arguments: &Arguments) -> Result<String, Failure> {
    let grid = grid(arguments, 1)?;
    grid.run(&arguments.program(&grid.folder)?)?;
    let outcomes = rules::outcomes(&grid)?;
    let results = arguments.option("results").map(Path::new);
    if let Some(file) = results {
        rules::collect(&outcomes, file)?;
    }
    rules::tables(&grid, outcomes, results)
}

fn shown(arguments: &Arguments) -> Result<String, Failure> {
    let grid = grid(arguments, LAST_SEED)?;
    rules::tables(&grid, rules::outcomes(&grid)?, arguments.option("results").map(Path::new))
}

/// The grid of a command line, with the seeds from 1 to `last_seed` if it does not say which.
fn grid(arguments: &Arguments, last_seed: u64) -> Result<Grid, Failure> {
    Ok(Grid {
        tasks: measured(&arguments.words)?,
        seeds: arguments.seeds(last_seed)?,
        seconds: arguments.numbers("seconds")?.unwrap_or_else(|| vec![60]),
        configurations: named("rule", arguments.option("rules"), &CONFIGURATIONS, |one| one.name)?,
        jobs: usize::try_from(arguments.number("jobs", 1)?)?,
        folder: arguments.folder("trust")?,
    })
}

/// The tasks with these names; without names, those that are measured.
fn measured(names: &[String]) -> Result<Vec<&'static Task>, String> {
    chosen(names, &TASKS[..MEASURED])
}

fn write_tasks(arguments: &Arguments) -> Result<String, Failure> {
    let seed = arguments.number("seed", 1)?;
    let (folder, names) = arguments.words.split_first().ok_or(USAGE)?;
    let mut rows = Vec::new();
    for task in measured(names)? {
        let folder = PathBuf::from(folder).join(task.name);
        let made = tasks::write(task, seed, &folder)?;
        let [train, test] = task.rows.map(|rows| rows.to_string());
        let metric = format!("{} ({})", task.metric, task.metric.direction().name());
        let [constant, best] = [made.constant, made.best].map(|score| format!("{score:.4}"));
        let split = task.split.name().to_owned();
        rows.push(vec![task.name.to_owned(), metric, train, test, split, constant, best]);
    }
    let header = ["task", "metric", "training rows", "test rows", "split", "constant", "best possible"];
    Ok(statistics::markdown(&header, &rows))
}

fn score(arguments: &Arguments) -> Result<String, Failure> {
    let [name, submission] = arguments.words.as_slice() else { return Err(USAGE.into()) };
    let task = find(name)?;
    let folder = tempfile::tempdir()?;
    let made = tasks::write(task, arguments.number("seed", 1)?, folder.path())?;
    Ok(format!("{:.6}", made.score(Path::new(submission))?))
}

fn replayed(arguments: &Arguments) -> Result<String, Failure> {
    let given = arguments.option("python").map(PathBuf::from);
    let python = given.or_else(|| std::env::var_os("MLE_STAR_TEST_PYTHON").map(PathBuf::from));
    replay::replay(&Replay {
        // Its scripts run in folders of their own.
        python: std::path::absolute(
            python.ok_or("no interpreter: give --python or set MLE_STAR_TEST_PYTHON")?,
        )?,
        tasks: measured(&arguments.words)?,
        seeds: arguments.seeds(3)?,
        searches: named("kind", arguments.option("searches"), &SEARCHES, |one| one.name)?,
    })
}

/// Those with these names, separated by commas; all without names.
fn named<T>(
    kind: &str,
    names: Option<&str>,
    all: &'static [T],
    name: fn(&T) -> &'static str,
) -> Result<Vec<&'static T>, String> {
    let Some(names) = names else { return Ok(all.iter().collect()) };
    names.split(',').map(|wanted| one_of(kind, wanted, all, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourteen_tasks_are_measured_and_others_can_be_named() {
        let names = |words: &[&str]| -> Vec<&str> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            measured(&words).unwrap().iter().map(|task| task.name).collect()
        };
        let all = names(&[]);
        assert_eq!((all[0], all[13], all.len()), ("loyalty", "clinic", 14));
        assert_eq!(names(&["trips"]), ["trips"]);
    }

    #[test]
    fn rules_are_named() {
        let names =
            |words| named("rule", Some(words), &CONFIGURATIONS, |one| one.name).map(|found| found.len());
        assert_eq!(names("paper,both"), Ok(2));
        assert!(names("other").is_err_and(|error| error.contains("the rules are paper, holdout, check")));
    }
}
