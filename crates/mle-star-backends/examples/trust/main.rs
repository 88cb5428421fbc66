//! Can reported scores be believed? Generated tasks with hidden answers measure rules of accepting and choosing
//! solutions.
//!
//! `cargo run --release -p mle-star-backends --example trust -- COMMAND`, without a command `run`:
//!
//! - `run [TASK ...] [--seeds N] [--seconds N,N] [--jobs N] [--rules NAME,NAME] [--out FOLDER] [--program FILE]` runs
//!   `mle-star` with offline agents on each task and seed, once per configuration, and prints tables. Finished runs in
//!   the folder are not repeated. The program is otherwise built.
//! - `tables` takes the same words, starts no run and prints the tables of the runs that are finished.
//! - `tasks FOLDER [TASK ...] [--seed N]` writes tasks and prints the scores of a constant and of somebody who knows
//!   the process.
//! - `score TASK SUBMISSION [--seed N]` prints the hidden score of a submission.
//! - `seed-swaps [TASK ...] [--seeds N] [--python FILE]` accepts other random seeds of one model by their validation
//!   scores and prints what that does to the hidden scores. The interpreter is otherwise `MLE_STAR_TEST_PYTHON`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tables are what this program is for")]

mod grid;
mod record;
mod rules;
mod seed_swaps;
mod statistics;
mod tasks;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use grid::{CONFIGURATIONS, Configuration, Grid};
use seed_swaps::Replay;
use tasks::{TASKS, Task};

type Failure = Box<dyn Error>;

const USAGE: &str =
    "usage: trust [run | tables] [TASK ...] [--seeds N] [--seconds N,N] [--jobs N] [--rules NAME,NAME]
                             [--out FOLDER] [--program FILE]
       trust tasks FOLDER [TASK ...] [--seed N]
       trust score TASK SUBMISSION [--seed N]
       trust seed-swaps [TASK ...] [--seeds N] [--python FILE]";
const COMMANDS: [&str; 5] = ["run", "tables", "tasks", "score", "seed-swaps"];
const GRID_OPTIONS: [&str; 6] = ["seeds", "seconds", "jobs", "rules", "out", "program"];

/// The words of a command line: options with a value, and the others.
#[derive(Debug, Default, PartialEq)]
struct Arguments {
    words: Vec<String>,
    options: Vec<(String, String)>,
}

fn main() -> ExitCode {
    match answer(std::env::args().skip(1)) {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// What a command prints.
fn answer(words: impl Iterator<Item = String>) -> Result<String, Failure> {
    let mut words = words.peekable();
    let command = words.next_if(|word| COMMANDS.contains(&word.as_str()));
    match command.as_deref().unwrap_or("run") {
        "run" => run_grid(&Arguments::parse(words, &GRID_OPTIONS)?),
        "tables" => rules::tables(&grid(&Arguments::parse(words, &GRID_OPTIONS)?)?),
        "tasks" => write_tasks(&Arguments::parse(words, &["seed"])?),
        "score" => score(&Arguments::parse(words, &["seed"])?),
        _ => replay_seed_swaps(&Arguments::parse(words, &["seeds", "python"])?),
    }
}

fn run_grid(arguments: &Arguments) -> Result<String, Failure> {
    let grid = grid(arguments)?;
    let program = match arguments.option("program") {
        Some(program) => PathBuf::from(program),
        None => build()?,
    };
    grid.run(&program)?;
    rules::tables(&grid)
}

fn grid(arguments: &Arguments) -> Result<Grid, Failure> {
    let seconds = arguments.option("seconds").unwrap_or("60").split(',').map(str::parse);
    let folder = match arguments.option("out") {
        Some(folder) => PathBuf::from(folder),
        None => target_folder()?.join("trust"),
    };
    Ok(Grid {
        tasks: chosen(&arguments.words)?,
        seeds: arguments.number("seeds", 1)?,
        seconds: seconds
            .collect::<Result<_, _>>()
            .map_err(|_| "--seconds needs whole numbers, as in 60,120")?,
        configurations: configurations(arguments.option("rules"))?,
        jobs: usize::try_from(arguments.number("jobs", 1)?)?,
        folder: std::path::absolute(folder)?,
    })
}

/// The configurations with these names; all without names.
fn configurations(names: Option<&str>) -> Result<Vec<&'static Configuration>, String> {
    let Some(names) = names else { return Ok(CONFIGURATIONS.iter().collect()) };
    let known = || CONFIGURATIONS.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
    let named = |name: &str| {
        let found = CONFIGURATIONS.iter().find(|one| one.name == name);
        found.ok_or_else(|| format!("there is no rule `{name}`; the rules are {}", known()))
    };
    names.split(',').map(named).collect()
}

/// Builds `mle-star`; returns its path.
fn build() -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", "mle-star-cli"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    if !built.success() {
        return Err("mle-star could not be built".into());
    }
    Ok(target_folder()?.join("release").join(format!("mle-star{}", std::env::consts::EXE_SUFFIX)))
}

/// Cargo's target folder: this program is `PROFILE/examples/trust` in it.
fn target_folder() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("this program is not in a target folder")?.to_owned())
}

fn write_tasks(arguments: &Arguments) -> Result<String, Failure> {
    let seed = arguments.number("seed", 1)?;
    let (folder, names) = arguments.words.split_first().ok_or(USAGE)?;
    let mut rows = Vec::new();
    for task in chosen(names)? {
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

fn replay_seed_swaps(arguments: &Arguments) -> Result<String, Failure> {
    let given = arguments.option("python").map(PathBuf::from);
    let python = given.or_else(|| std::env::var_os("MLE_STAR_TEST_PYTHON").map(PathBuf::from));
    seed_swaps::replay(&Replay {
        python: python.ok_or("no interpreter: give --python or set MLE_STAR_TEST_PYTHON")?,
        tasks: chosen(&arguments.words)?,
        seeds: arguments.number("seeds", 3)?,
    })
}

/// The tasks with these names; all without names.
fn chosen(names: &[String]) -> Result<Vec<&'static Task>, String> {
    if names.is_empty() {
        return Ok(TASKS.iter().collect());
    }
    names.iter().map(|name| find(name)).collect()
}

fn find(name: &str) -> Result<&'static Task, String> {
    let known = || TASKS.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
    tasks::named(name).ok_or_else(|| format!("there is no task `{name}`; the tasks are {}", known()))
}

impl Arguments {
    /// Sorts words; only options with these names exist.
    fn parse(mut words: impl Iterator<Item = String>, names: &[&str]) -> Result<Self, String> {
        let mut found = Self::default();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else {
                found.words.push(word);
                continue;
            };
            if !names.contains(&name) {
                return Err(format!("there is no option `{word}` here\n{USAGE}"));
            }
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            found.options.push((name.to_owned(), value));
        }
        Ok(found)
    }

    /// The last value of an option.
    fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str, otherwise: u64) -> Result<u64, String> {
        let Some(value) = self.option(name) else { return Ok(otherwise) };
        value.parse().map_err(|_| format!("--{name} needs a whole number, not `{value}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Arguments, String> {
        Arguments::parse(words.split_whitespace().map(str::to_owned), &["seeds"])
    }

    #[test]
    fn arguments_are_words_and_options() {
        let found = parse("one --seeds 4 two").unwrap();
        assert_eq!(found.words, ["one", "two"]);
        assert_eq!(found.number("seeds", 1), Ok(4));
        assert_eq!(parse("one").unwrap().number("seeds", 1), Ok(1));
    }

    #[test]
    fn wrong_arguments_are_named() {
        let check = |words: &str, expected: &str| {
            let error = parse(words).and_then(|found| found.number("seeds", 1)).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        check("--seed 1", "there is no option `--seed` here");
        check("--seeds", "`--seeds` needs a value");
        check("--seeds x", "--seeds needs a whole number, not `x`");
        assert!(chosen(&["nothing".to_owned()]).is_err_and(|error| error.contains("loyalty, deliveries")));
    }
}
