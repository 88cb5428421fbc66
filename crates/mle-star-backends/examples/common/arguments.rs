//! Words of a command line.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use super::Failure;
use super::runs::Program;
use super::tasks::{TASKS, Task};

/// Options with a value, and the other words.
#[derive(Debug, Default, PartialEq)]
pub struct Arguments {
    /// The words that belong to no option.
    pub words: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    /// Sorts words; only options with these names exist.
    ///
    /// # Errors
    /// An option is unknown or has no value.
    pub fn parse(mut words: impl Iterator<Item = String>, names: &[&str]) -> Result<Self, String> {
        let mut found = Self::default();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else {
                found.words.push(word);
                continue;
            };
            if !names.contains(&name) {
                return Err(format!(
                    "there is no option `{word}` here; the options are --{}",
                    names.join(", --")
                ));
            }
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            found.options.push((name.to_owned(), value));
        }
        Ok(found)
    }

    /// The values of an option.
    pub fn options(&self, name: &str) -> impl DoubleEndedIterator<Item = &str> {
        self.options.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The last value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options(name).next_back()
    }

    /// A whole number.
    ///
    /// # Errors
    /// The value is none.
    pub fn number(&self, name: &str, otherwise: u64) -> Result<u64, String> {
        let Some(value) = self.option(name) else { return Ok(otherwise) };
        value.parse().map_err(|_| format!("--{name} needs a whole number, not `{value}`"))
    }

    /// Seeds of tasks: `3` is 1 to 3, `2-3` is 2 and 3.
    ///
    /// # Errors
    /// The value is neither.
    pub fn seeds(&self, otherwise: u64) -> Result<RangeInclusive<u64>, String> {
        let Some(value) = self.option("seeds") else { return Ok(1..=otherwise) };
        let (first, last) = value.split_once('-').unwrap_or(("1", value));
        let seeds = first.parse().and_then(|first: u64| Ok(first..=last.parse()?));
        let seeds = seeds.ok().filter(|seeds| !seeds.is_empty());
        seeds.ok_or_else(|| format!("--seeds needs a number or a range, as in 3 or 2-3, not `{value}`"))
    }

    /// Whole numbers between commas.
    ///
    /// # Errors
    /// The value is something else.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<u64>>, String> {
        let read = |value: &str| value.split(',').map(u64::from_str).collect::<Result<_, _>>();
        let numbers = self.option(name).map(read).transpose();
        numbers.map_err(|_| format!("--{name} needs whole numbers, as in 60,120"))
    }

    /// The program to measure, which is otherwise built, as a copy in this folder.
    ///
    /// # Errors
    /// It cannot be built or copied.
    pub fn program(&self, folder: &Path) -> Result<Program, Failure> {
        let path = self.option("program").map_or_else(build, |program| Ok(std::path::absolute(program)?))?;
        Program::copied(&path, folder)
    }

    /// The folder of tasks and runs, otherwise the one with this name in Cargo's target folder.
    ///
    /// # Errors
    /// There is no current folder or no target folder.
    pub fn folder(&self, otherwise: &str) -> Result<PathBuf, Failure> {
        let folder = match self.option("out") {
            Some(folder) => PathBuf::from(folder),
            None => target_folder()?.join(otherwise),
        };
        Ok(std::path::absolute(folder)?)
    }
}

/// The tasks with these names; without names, all of `otherwise`.
///
/// # Errors
/// A name is unknown.
pub fn chosen(names: &[String], otherwise: &'static [Task]) -> Result<Vec<&'static Task>, String> {
    if names.is_empty() {
        return Ok(otherwise.iter().collect());
    }
    names.iter().map(|name| find(name)).collect()
}

/// The task with this name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<&'static Task, String> {
    one_of("task", name, &TASKS, |task| task.name)
}

/// The value with this name.
///
/// # Errors
/// There is none.
pub fn one_of<'a, T>(
    kind: &str,
    name: &str,
    values: &'a [T],
    name_of: fn(&T) -> &'static str,
) -> Result<&'a T, String> {
    let known = || values.iter().map(name_of).collect::<Vec<_>>().join(", ");
    let found = values.iter().find(|value| name_of(value) == name);
    found.ok_or_else(|| format!("there is no {kind} `{name}`; the {kind}s are {}", known()))
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

/// Cargo's target folder: this program is `PROFILE/examples/NAME` in it.
fn target_folder() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("this program is not in a target folder; give --out")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Arguments, String> {
        Arguments::parse(words.split_whitespace().map(str::to_owned), &["seeds", "out"])
    }

    #[test]
    fn arguments_are_words_and_options() {
        let found = parse("one --seeds 4 two --out a --out b").unwrap();
        assert_eq!(found.words, ["one", "two"]);
        assert_eq!(found.number("seeds", 1), Ok(4));
        assert_eq!((found.option("out"), found.options("out").count()), (Some("b"), 2));
        assert_eq!(parse("one").unwrap().number("seeds", 1), Ok(1));
        assert_eq!(parse("one").unwrap().numbers("seeds"), Ok(None));
        assert_eq!(parse("--seeds 1,22").unwrap().numbers("seeds"), Ok(Some(vec![1, 22])));
    }

    #[test]
    fn wrong_arguments_are_named() {
        let check = |words: &str, expected: &str| {
            let error = parse(words).and_then(|found| found.number("seeds", 1)).unwrap_err();
            assert_eq!(error, expected);
        };
        check("--seed 1", "there is no option `--seed` here; the options are --seeds, --out");
        check("--seeds", "`--seeds` needs a value");
        check("--seeds x", "--seeds needs a whole number, not `x`");
        assert!(parse("--seeds 1,x").unwrap().numbers("seeds").is_err());
    }

    #[test]
    fn seeds_are_a_number_or_a_range() {
        let seeds = |words: &str| parse(words).unwrap().seeds(3);
        assert_eq!(seeds(""), Ok(1..=3));
        assert_eq!(seeds("--seeds 5"), Ok(1..=5));
        assert_eq!(seeds("--seeds 4-5"), Ok(4..=5));
        for value in ["0", "5-4", "-4", "4-", "x", "1-2-3"] {
            let error = seeds(&format!("--seeds {value}")).unwrap_err();
            assert!(error.ends_with(&format!("not `{value}`")), "{error}");
        }
        assert!(
            chosen(&["nothing".to_owned()], &TASKS)
                .is_err_and(|error| error.contains("no task `nothing`; the tasks are loyalty, deliveries"))
        );
    }
}
