//! Writes generated tasks with hidden answers, and the bench file that measures them.
//!
//! `cargo run --release -p mle-star-lab -- FOLDER [TASK ...] [--seeds FIRST-LAST]` writes into the folder:
//!
//! - `tasks/TASK-SEED/`: what agents and scripts may see,
//! - `answers/TASK-SEED.csv`: the hidden answers,
//! - `bench.yaml`: a file for `mle-star bench --file`, whose *units* are shares of the possible gain,
//! - `tasks.json`: metric, split and scores of a constant and of the best possible prediction, for the scripts in
//!   `lab/python/`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod interpreter;
mod plane;
mod tasks;

use std::error::Error;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use tasks::{TASKS, Task, Written};

type Failure = Box<dyn Error>;

const USAGE: &str = "usage: mle-star-lab FOLDER [TASK ...] [--seeds FIRST-LAST]";

/// The seed of runs, which is that of ordinary ones. The seed of a task draws its tables.
const SEED_OF_RUNS: u64 = 42;

fn main() -> ExitCode {
    match answer(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer(mut words: impl Iterator<Item = String>) -> Result<(), Failure> {
    let (mut names, mut seeds) = (Vec::new(), 1..=1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seeds" => seeds = parse_seeds(&words.next().ok_or(USAGE)?)?,
            option if option.starts_with('-') => return Err(USAGE.into()),
            _ => names.push(word),
        }
    }
    let (folder, names) = names.split_first().ok_or(USAGE)?;
    write_tasks(Path::new(folder), &tasks_named(names)?, seeds)
}

/// `3` stands for the seed 3, `1-3` for the seeds 1 to 3.
fn parse_seeds(word: &str) -> Result<RangeInclusive<u64>, Failure> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Ok(first.parse()?..=last.parse()?)
}

/// The tasks with these names; without names, all.
fn tasks_named(names: &[String]) -> Result<Vec<&'static Task>, Failure> {
    if names.is_empty() {
        return Ok(TASKS.iter().collect());
    }
    let find = |name: &String| {
        let known = || TASKS.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
        let task = TASKS.iter().find(|task| task.name == name);
        task.ok_or_else(|| format!("there is no task `{name}`; the tasks are {}", known()).into())
    };
    names.iter().map(find).collect()
}

fn write_tasks(folder: &Path, tasks: &[&'static Task], seeds: RangeInclusive<u64>) -> Result<(), Failure> {
    let (mut described, mut entries) = (Map::new(), Vec::new());
    fs::create_dir_all(folder)?;
    for &task in tasks {
        for seed in seeds.clone() {
            let name = format!("{}-{seed}", task.name);
            let written = tasks::write(task, seed, folder, &name)?;
            println!("{name}: {}, constant {:.4}, best {:.4}", task.metric, written.constant, written.best);
            entries.push(bench_entry(&name, &written));
            described.insert(name, description(task, &written));
        }
    }
    let bench = json!({ "tasks": entries, "seeds": [SEED_OF_RUNS] });
    // JSON is YAML, too.
    fs::write(folder.join("bench.yaml"), serde_json::to_string_pretty(&bench)?)?;
    fs::write(folder.join("tasks.json"), serde_json::to_string_pretty(&described)?)?;
    Ok(())
}

fn bench_entry(name: &str, written: &Written) -> Value {
    json!({
        "task": format!("tasks/{name}"),
        "answers": format!("answers/{name}.csv"),
        "anchors": { "constant": written.constant, "hgb": written.best },
    })
}

fn description(task: &Task, written: &Written) -> Value {
    json!({
        "metric": task.metric.name(), "split": task.split.name(), "column": task.column, "rows": task.rows,
        "constant": written.constant, "best": written.best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_everything_that_a_bench_needs() {
        let folder = tempfile::tempdir().unwrap();
        let words = [folder.path().to_str().unwrap(), "clinic", "--seeds", "2-3"];
        answer(words.into_iter().map(str::to_owned)).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let bench: Value = serde_json::from_str(&read("bench.yaml")).unwrap();
        assert_eq!(bench["tasks"][1]["answers"], "answers/clinic-3.csv");
        let described: Value = serde_json::from_str(&read("tasks.json")).unwrap();
        assert_eq!(described["clinic-2"]["metric"], "ROC-AUC");
        assert!(read("answers/clinic-2.csv") != read("answers/clinic-3.csv"));
    }

    #[test]
    fn wrong_words_are_named() {
        let check = |words: &[&str], expected: &str| {
            let error = answer(words.iter().map(|word| (*word).to_owned())).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        };
        check(&[], "usage:");
        check(&["folder", "--jobs"], "usage:");
        check(&["folder", "other"], "there is no task `other`; the tasks are loyalty, deliveries");
    }
}
