//! How good are the submissions of offline agents? Runs of the program are compared with LightGBM, FLAML and
//! AutoGluon on generated tasks with hidden answers.
//!
//! `cargo run --release -p mle-star-backends --example quality -- COMMAND`, without a command `run`:
//!
//! - `run [TASK ...] [--seeds N] [--seconds N,N] [--jobs N] [--out FOLDER] [--program FILE] [--label NAME]
//!   [--against KIND,KIND] [--against-seconds N,N] [--environment KIND=FOLDER] [--results FILE]` runs `mle-star` with its
//!   default settings and offline agents on each task and seed, makes submissions of other programs, and prints tables.
//!   Results in the folder are kept, and a file collects those of several folders. The program is otherwise built;
//!   `--label` names the build in folders and tables, and another build needs another label or folder.
//! - `against` takes the same words and makes only submissions of other programs.
//! - `tables` prints the tables of all results in the folder and the file, and changes neither. The same words limit them;
//!   `--label` takes several names: `old,new` has a column for each build, `old+new` one for both, in which *new* counts
//!   where both have a result.
//!
//! An environment of another program is made in the folder from the package registry, unless one is given.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tables are what this program is for")]

mod anchors;
mod collected;
#[expect(dead_code, reason = "the other example uses the rest")]
#[path = "../common/mod.rs"]
mod common;
mod measurement;
mod tables;
#[cfg(test)]
mod task_tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anchors::{KINDS, Kind};
use common::Failure;
use common::arguments::{Arguments, chosen, one_of};
use common::tasks::TASKS;
use measurement::{Filter, Measurement};

const COMMANDS: [&str; 3] = ["run", "against", "tables"];
const OPTIONS: [&str; 10] = [
    "seeds",
    "seconds",
    "jobs",
    "out",
    "program",
    "label",
    "against",
    "against-seconds",
    "environment",
    "results",
];
const LABEL: &str = "default";
const SECONDS: u64 = 60;

fn main() -> ExitCode {
    common::show(answer(std::env::args().skip(1)))
}

/// What a command prints.
fn answer(words: impl Iterator<Item = String>) -> Result<String, Failure> {
    let mut words = words.peekable();
    let command = words.next_if(|word| COMMANDS.contains(&word.as_str()));
    let arguments = Arguments::parse(words, &OPTIONS)?;
    match command.as_deref().unwrap_or("run") {
        "run" => {
            let measurement = measurement(&arguments)?;
            measurement.make(Some(&arguments.program(&measurement.folder)?))?;
        }
        "against" => measurement(&arguments)?.make(None)?,
        _ => {}
    }
    let filter = filter(&arguments)?;
    let mut outcomes = measurement::outcomes(&arguments.folder("quality")?, &filter)?;
    if let Some(file) = arguments.option("results") {
        let file = Path::new(file);
        outcomes = match command.as_deref() {
            Some("tables") => collected::shown(&outcomes, &filter, file)?,
            _ => collected::with_earlier(&outcomes, &filter, file)?,
        };
    }
    Ok(tables::tables(&filter.tasks, &filter.joined(outcomes))?)
}

fn measurement(arguments: &Arguments) -> Result<Measurement, Failure> {
    Ok(Measurement {
        tasks: chosen(&arguments.words, &TASKS)?,
        seeds: arguments.seeds(1)?,
        seconds: arguments.numbers("seconds")?.unwrap_or_else(|| vec![SECONDS]),
        label: arguments.option("label").unwrap_or(LABEL).to_owned(),
        against: kinds(arguments.option("against"))?,
        against_seconds: arguments.numbers("against-seconds")?.unwrap_or_else(|| vec![SECONDS]),
        environments: arguments.options("environment").map(environment).collect::<Result<_, _>>()?,
        jobs: usize::try_from(arguments.number("jobs", 1)?)?,
        folder: arguments.folder("quality")?,
    })
}

fn filter(arguments: &Arguments) -> Result<Filter, Failure> {
    let column = |labels: &str| labels.split('+').map(str::to_owned).collect();
    let columns = |labels: &str| labels.split(',').map(column).collect();
    let against = arguments.option("against");
    Ok(Filter {
        tasks: chosen(&arguments.words, &TASKS)?,
        seeds: arguments.option("seeds").map(|_| arguments.seeds(1)).transpose()?,
        seconds: arguments.numbers("seconds")?,
        labels: arguments.option("label").map(columns),
        against: if against.is_some() { kinds(against)? } else { KINDS.iter().collect() },
        against_seconds: arguments.numbers("against-seconds")?,
    })
}

/// The programs with these names; none without names.
fn kinds(names: Option<&str>) -> Result<Vec<&'static Kind>, String> {
    names.into_iter().flat_map(|names| names.split(',')).map(kind).collect()
}

fn kind(name: &str) -> Result<&'static Kind, String> {
    one_of("program", name, &KINDS, |kind| kind.name)
}

/// The value of `--environment`.
fn environment(given: &str) -> Result<(&'static str, PathBuf), Failure> {
    let (name, folder) =
        given.split_once('=').ok_or("--environment needs a program and a folder, as in flaml=FOLDER")?;
    Ok((kind(name)?.name, std::path::absolute(folder)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn parse(words: &str) -> Arguments {
        Arguments::parse(words.split_whitespace().map(str::to_owned), &OPTIONS).unwrap()
    }

    #[test]
    fn words_say_what_to_measure() {
        let words =
            "trips --out o --label new --against flaml,lightgbm --environment flaml=/e --seconds 60,600";
        let found = measurement(&parse(words)).unwrap();
        assert_eq!(found.tasks.iter().map(|task| task.name).collect::<Vec<_>>(), ["trips"]);
        assert_eq!(found.against.iter().map(|kind| kind.name).collect::<Vec<_>>(), ["flaml", "lightgbm"]);
        assert_eq!(
            (found.label.as_str(), found.seconds, found.against_seconds),
            ("new", vec![60, 600], vec![60])
        );
        assert_eq!(found.environments, BTreeMap::from([("flaml", PathBuf::from("/e"))]));
        let otherwise = measurement(&parse("--out o")).unwrap();
        assert_eq!((otherwise.tasks.len(), otherwise.against.len()), (TASKS.len(), 0));
    }

    #[test]
    fn tables_show_everything_that_is_not_excluded() {
        let all = filter(&parse("--out o")).unwrap();
        assert!(all.seeds.is_none() && all.seconds.is_none() && all.labels.is_none());
        assert_eq!(all.against.len(), KINDS.len());
        let some = filter(&parse("--seeds 2 --label new,old+older --against flaml")).unwrap();
        assert_eq!((some.seeds, some.against.len()), (Some(1..=2), 1));
        assert_eq!(
            some.labels.unwrap(),
            [vec!["new".to_owned()], vec!["old".to_owned(), "older".to_owned()]]
        );
    }

    #[test]
    fn wrong_words_are_named() {
        let check = |words: &str, expected: &str| {
            let error = measurement(&parse(words)).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("--out o --against other", "the programs are lightgbm, flaml, autogluon");
        check("--out o --environment flaml", "needs a program and a folder");
        check("other --out o", "there is no task `other`");
    }
}
