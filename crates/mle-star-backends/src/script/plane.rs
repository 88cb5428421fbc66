//! The data plane: a Python process that answers questions about tables and predictions, as JSON lines.
//!
//! It is the package `python/mle_star_data`. It runs without network in the isolation that scripts have, reads the run's folder and the
//! data, and keeps nothing: it can be ended at any time, and is started again for the next question.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_process::Talk;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::environment::{Environment, EnvironmentChoice, python_environment};
use super::executor::Executor;

/// Names the interpreter of the data plane, in place of that of the scripts.
pub const INTERPRETER: &str = "MLE_STAR_DATA_PYTHON";
/// The package.
const PACKAGE: &str = "mle_star_data";
/// What the package needs.
const LIBRARIES: [&str; 5] = ["fastexcel", "numpy", "polars", "scikit-learn", "scipy"];
/// Their folders.
const MODULES: [&str; 5] = ["fastexcel", "numpy", "polars", "sklearn", "scipy"];
/// How long an answer may take at least: without it, what a script predicted is lost.
const MIN_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a question is asked again if the process ends.
const MAX_ATTEMPTS: usize = 2;

/// Includes the files of the package.
macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../python/mle_star_data/", $name)))),*]
    };
}
const FILES: [(&str, &str); 54] = files! {
    "__init__.py" "__main__.py" "aliases.py" "bootstrap.py" "column_kinds.py" "courses.py" "dates.py" "dependence.py"
    "describe.py" "described_columns.py" "description.py" "diagnose.py" "facts.py" "files.py" "folders.py" "formats.py"
    "frames.py" "histograms.py" "holdout.py" "importances.py" "intake.py" "intervals.py" "kaggle_metric_utilities.py" "labels.py"
    "links.py" "markdown.py" "measure.py" "metric_child.py" "metric_file.py" "metrics.py" "naming.py" "new_rows.py"
    "other_files.py" "packing.py" "pairs.py" "partitions.py" "periods.py" "plan.py" "predictions.py" "questions.py" "readings.py"
    "refit.py" "relations.py" "roles.py" "rows.py" "selection.py" "sentences.py" "spellings.py" "split.py" "submission.py"
    "tables.py" "text_table.py" "time_section.py" "workbooks.py"
};

/// Answers questions.
#[derive(Debug)]
pub struct Plane {
    executor: Arc<Executor>,
    /// The interpreter of scripts.
    environment: Environment,
    folder: PathBuf,
    readable: Vec<PathBuf>,
    process: Mutex<Option<Talk>>,
    asked: AtomicU64,
}

/// The answer to a question.
pub type Answer<T> = Result<T, PlaneError>;

/// Why a question has no answer.
#[derive(Debug)]
pub enum PlaneError {
    /// In one sentence, for the journal.
    Reason(String),
    /// What was asked about is wrong, and what to do.
    Refused(Trouble),
    /// It had these seconds, and takes longer.
    Late(u64),
    /// The data plane cannot be used.
    Broken(Trouble),
}

/// What the process writes.
#[derive(Deserialize)]
struct Reply {
    number: u64,
    #[serde(default)]
    answer: Option<Value>,
    #[serde(default)]
    failure: Option<String>,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

impl Plane {
    /// The data plane of a run, which may read these files and folders beside the run's folder.
    ///
    /// # Errors
    /// Its folder cannot be written.
    pub fn new(
        executor: Arc<Executor>,
        environment: Environment,
        run_folder: &Path,
        readable: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, Trouble> {
        let folder = absolute(run_folder).join(layout::WORK).join(layout::PLANE);
        let package = folder.join(PACKAGE);
        let written = fs::create_dir_all(&package)
            .and_then(|()| FILES.iter().try_for_each(|(name, text)| fs::write(package.join(name), text)));
        written.map_err(|error| Trouble::io("write", &package, &error))?;
        let readable = readable.into_iter().chain([run_folder.to_owned()]);
        let readable = readable.map(|path| absolute(&path)).collect();
        Ok(Self {
            executor,
            environment,
            folder,
            readable,
            process: Mutex::default(),
            asked: AtomicU64::new(0),
        })
    }

    /// A folder that the data plane may write to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the process, so that it may be ready for the first question.
    pub async fn warm_up(&self) {
        let mut process = self.process.lock().await;
        if process.is_none() {
            // The first question tells what is wrong.
            *process = self.start().await.ok();
        }
    }

    /// Asks a question: an object with its name and its arguments. Its time ends then.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn ask<T: DeserializeOwned>(&self, mut question: Value, ends: Instant) -> Answer<T> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        question["number"] = json!(number);
        let mut process = self.process.lock().await;
        let time = ends.saturating_duration_since(Instant::now()).max(MIN_TIMEOUT);
        let answered = timeout(time, self.exchange(&mut process, number, format!("{question}\n"))).await;
        answered.map_err(|_| PlaneError::Late(time.as_secs()))??.read()
    }

    /// As [`Plane::ask`], for a question whose answer is also a file or a folder, which is moved to `into`, on the file system
    /// of the plane's folder.
    ///
    /// # Errors
    /// There is no answer, or `into` cannot be written.
    pub async fn ask_for<T: DeserializeOwned>(
        &self,
        mut question: Value,
        into: &Path,
        ends: Instant,
    ) -> Answer<T> {
        let made = self.folder.join(format!("made-{}", self.asked.fetch_add(1, Ordering::Relaxed)));
        question["into"] = json!(made);
        let answer = self.ask(question, ends).await?;
        let moved = if made.exists() { fs::rename(&made, into) } else { Ok(()) };
        moved.map_err(|error| PlaneError::Broken(Trouble::io("write", into, &error)))?;
        Ok(answer)
    }

    /// The reply of the process. One that does not reply, or to which nobody listens any more, is ended.
    async fn exchange(&self, process: &mut Option<Talk>, number: u64, line: String) -> Answer<Reply> {
        let mut said = String::new();
        for _ in 0..MAX_ATTEMPTS {
            let mut talk = match process.take().filter(Talk::is_alive) {
                Some(talk) => talk,
                None => self.start().await.map_err(PlaneError::Broken)?,
            };
            talk.send(line.clone().into_bytes());
            if let Some(reply) = reply(&mut talk, number).await.map_err(unreadable)? {
                *process = Some(talk);
                return Ok(reply);
            }
            said = end_reason(talk).await;
        }
        Err(self.broken(&said))
    }

    /// Starts the process with an interpreter that has the libraries: that of scripts, or else the program's own.
    async fn start(&self) -> Result<Talk, Trouble> {
        let python = match interpreter() {
            Some(python) => python,
            None if has_libraries(&self.environment) => self.environment.python.clone(),
            None => {
                let own = python_environment(EnvironmentChoice::Plane, &|_| ()).await;
                own.map_or_else(|_| self.environment.python.clone(), |own| own.python)
            }
        };
        let started = self.executor.talk(&python, PACKAGE, &self.folder, &self.readable);
        started.map_err(|error: io::Error| {
            let message = format!("cannot start {}: {error}", python.display());
            Trouble::resumable(message, "check the interpreter, or set --python to another one")
        })
    }

    fn broken(&self, said: &str) -> PlaneError {
        let python = self.environment.python.display();
        match said.split_once("No module named '").and_then(|(_, rest)| rest.split_once('\'')) {
            Some((module, _)) => {
                let message = format!("{python} lacks {module}, which tables are read with");
                let hint =
                    "install polars, fastexcel, numpy, scikit-learn and scipy there, or leave --python out";
                PlaneError::Broken(Trouble::resumable(message, hint))
            }
            None => {
                let said = if said.is_empty() { "it was killed" } else { said };
                PlaneError::Reason(format!("what computes scores ended twice: {said}"))
            }
        }
    }
}

impl Reply {
    fn read<T: DeserializeOwned>(self) -> Answer<T> {
        match (self.answer, self.failure, self.error.unwrap_or_default()) {
            (Some(answer), ..) => serde_json::from_value(answer).map_err(unreadable),
            (None, Some(failure), _) => Err(match self.hint {
                Some(hint) => PlaneError::Refused(Trouble::new(failure, hint)),
                None => PlaneError::Reason(failure),
            }),
            (None, None, error) => {
                Err(PlaneError::Reason(format!("a defect of mle-star, please report it: {error}")))
            }
        }
    }
}

impl PlaneError {
    /// The reason in words, or the trouble that ends the run.
    ///
    /// # Errors
    /// The data plane cannot be used.
    pub fn reason(self) -> Result<String, Trouble> {
        match self {
            Self::Reason(reason) => Ok(reason),
            Self::Refused(trouble) => Ok(trouble.message),
            Self::Late(seconds) => Ok(format!("the answer takes longer than the {seconds} s that are left")),
            Self::Broken(trouble) => Err(trouble),
        }
    }
}

impl From<PlaneError> for Trouble {
    fn from(unanswered: PlaneError) -> Self {
        match unanswered {
            PlaneError::Refused(trouble) => trouble,
            unanswered => unanswered.reason().map_or_else(|trouble| trouble, |reason| Self::new(reason, "")),
        }
    }
}

fn unreadable(error: impl Display) -> PlaneError {
    PlaneError::Reason(format!("the answer cannot be read: {error}"))
}

/// A path as the data plane needs it, which runs in a folder of its own.
pub fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The interpreter that a variable names, or the one beside the program if it has the libraries, as in a wheel's environment.
pub fn interpreter() -> Option<PathBuf> {
    let named = env::var_os(INTERPRETER).map(PathBuf::from);
    named.or_else(|| package_near(&env::current_exe().ok()?))
}

fn package_near(program: &Path) -> Option<PathBuf> {
    let (python, libraries) = (program.with_file_name("python"), program.parent()?.parent()?.join("lib"));
    let has = |folder: &Path| MODULES.iter().all(|name| folder.join("site-packages").join(name).is_dir());
    let mut versions = fs::read_dir(libraries).ok()?.flatten();
    (python.exists() && versions.any(|version| has(&version.path()))).then_some(python)
}

fn has_libraries(environment: &Environment) -> bool {
    LIBRARIES.iter().all(|wanted| environment.libraries.iter().any(|(name, _)| name == wanted))
}

/// The reply to this question; `None` if the process ended. Earlier ones were asked by somebody who no longer waits.
async fn reply(talk: &mut Talk, number: u64) -> io::Result<Option<Reply>> {
    while let Some(line) = talk.next_line().await? {
        let reply: Reply = serde_json::from_str(&line).map_err(io::Error::other)?;
        if reply.number == number {
            return Ok(Some(reply));
        }
    }
    Ok(None)
}

/// The last line that a process said before it ended.
async fn end_reason(talk: Talk) -> String {
    let (_, said) = talk.end().await;
    said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_all_files_of_the_package() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/mle_star_data");
        let names =
            fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".py")).collect();
        names.sort();
        assert_eq!(FILES.map(|(name, _)| name.to_owned()).as_slice(), names);
    }

    #[test]
    fn a_wheel_brings_the_libraries_of_the_data_plane() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/mle-star");
        let python = folder.path().join("bin/python");
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::write(&python, "").unwrap();
        for (at, name) in MODULES.iter().enumerate() {
            assert_eq!(package_near(&program), None, "{at}");
            fs::create_dir_all(folder.path().join("lib/python3.12/site-packages").join(name)).unwrap();
        }
        assert_eq!(package_near(&program), Some(python));
        let manifest =
            fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../pyproject.toml")).unwrap();
        assert!(LIBRARIES.iter().all(|name| manifest.contains(&format!("    \"{name}>="))));
    }
}
