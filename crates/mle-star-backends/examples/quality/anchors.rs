//! The programs with which runs are compared: their environments, and their submissions for generated tasks.
//!
//! The submissions lie beside the tasks: `TASK-SEED.anchors/KIND-SECONDS/`. Finished ones are not made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::common::Failure;
use crate::common::runs::{Drawn, in_words, logged};

const SCRIPT: &str = include_str!("anchors.py");
const SUBMISSION: &str = "submission.csv";
const RESULT: &str = "result.json";

/// A program with which runs are compared.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name on the command line and of folders.
    pub name: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// Whether it has a time limit.
    pub is_timed: bool,
    requirements: &'static [&'static str],
}

/// A submission to make.
pub struct Anchor {
    /// What it solves.
    pub drawn: Drawn,
    /// The program.
    pub kind: &'static Kind,
    /// The time limit; 0 if it has none.
    pub seconds: u64,
}

/// What is known about a submission that was made.
#[derive(Serialize, Deserialize)]
pub struct Made {
    /// Seconds of the whole process.
    pub seconds: f64,
    /// What made it: the beginning of the hash of the script and the requirements.
    pub build: String,
}

/// Every program. The requirements fix major versions.
pub static KINDS: [Kind; 3] = [
    Kind {
        name: "lightgbm",
        title: "LightGBM",
        is_timed: false,
        requirements: &["lightgbm>=4.6,<5", "pandas>=2,<4", "scikit-learn>=1.6,<2"],
    },
    Kind {
        name: "flaml",
        title: "FLAML",
        is_timed: true,
        requirements: &["flaml[automl]>=2.3,<3", "catboost>=1.2,<2", "pandas>=2,<4"],
    },
    Kind {
        name: "autogluon",
        title: "AutoGluon",
        is_timed: true,
        requirements: &["autogluon.tabular[lightgbm,xgboost,catboost,fastai]>=1.4,<2"],
    },
];

impl Kind {
    fn build(&self) -> String {
        let text =
            [SCRIPT, self.name].iter().chain(self.requirements).copied().collect::<Vec<_>>().join("\n");
        blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
    }

    /// The interpreter of its environment in a folder, which is made if it does not have these requirements.
    ///
    /// # Errors
    /// The environment cannot be made.
    pub fn environment(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let environment = folder.join("environments").join(self.name);
        let (python, installed) = (interpreter(&environment), environment.join("installed.txt"));
        let requirements = self.requirements.join("\n");
        if fs::read_to_string(&installed).is_ok_and(|found| found == requirements) {
            return Ok(python);
        }
        fs::create_dir_all(&environment)?;
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(self.requirements))?;
        fs::write(&installed, requirements)?;
        Ok(python)
    }
}

/// The interpreter of an environment.
pub fn interpreter(environment: &Path) -> PathBuf {
    environment.join("bin/python")
}

fn succeed(command: &mut Command) -> Result<(), Failure> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// Writes the script that makes submissions; returns its path.
///
/// # Errors
/// It cannot be written.
pub fn write_script(folder: &Path) -> Result<PathBuf, Failure> {
    let script = folder.join("anchors.py");
    fs::create_dir_all(folder)?;
    fs::write(&script, SCRIPT)?;
    Ok(script)
}

impl Anchor {
    /// The folders of all submissions for a task end so.
    pub const ENDING: &str = "anchors";

    /// Task, seed and the name of the folder.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.drawn.task.name, self.drawn.seed, self.id())
    }

    /// The submission, and what is known about it; `None` if there is none that this script made.
    pub fn found(&self, folder: &Path) -> Option<(PathBuf, Made)> {
        let folder = self.folder(folder);
        let made: Made = serde_json::from_slice(&fs::read(folder.join(RESULT)).ok()?).ok()?;
        (made.build == self.kind.build()).then(|| (folder.join(SUBMISSION), made))
    }

    /// Makes the submission; returns how that ended, in words.
    pub fn make(&self, cores: &str, python: &Path, script: &Path, folder: &Path) -> String {
        self.try_to_make(cores, python, script, folder).unwrap_or_else(|error| error.to_string())
    }

    fn try_to_make(
        &self,
        cores: &str,
        python: &Path,
        script: &Path,
        folder: &Path,
    ) -> Result<String, Failure> {
        let own = self.folder(folder);
        fs::create_dir_all(&own)?;
        let began = Instant::now();
        let mut command = Command::new(python);
        command.arg(script).arg(self.kind.name).arg(self.drawn.folder(folder).join("data"));
        command.args([self.drawn.task.metric.name(), &self.seconds.to_string()]).arg(own.join(SUBMISSION));
        let log = own.join("log");
        let status = logged(&command, cores, &log)?;
        if status.success() {
            let made = Made { seconds: began.elapsed().as_secs_f64(), build: self.kind.build() };
            fs::write(own.join(RESULT), serde_json::to_vec(&made)?)?;
        }
        Ok(in_words(status, began, &log))
    }

    fn folder(&self, folder: &Path) -> PathBuf {
        self.drawn.beside(folder, Self::ENDING).join(self.id())
    }

    fn id(&self) -> String {
        format!("{}-{}", self.kind.name, self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::tasks::TASKS;

    #[test]
    fn submissions_lie_beside_their_task() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = Drawn { task: &TASKS[0], seed: 2 };
        let anchor = Anchor { drawn, kind: &KINDS[1], seconds: 60 };
        assert_eq!(anchor.name(), "loyalty 2 flaml-60");
        assert!(anchor.found(folder.path()).is_none());
        let own = folder.path().join("loyalty-2.anchors/flaml-60");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("result.json"), r#"{"seconds": 61.5, "build": "another"}"#).unwrap();
        assert!(anchor.found(folder.path()).is_none());
        let made = Made { seconds: 61.5, build: KINDS[1].build() };
        fs::write(own.join("result.json"), serde_json::to_vec(&made).unwrap()).unwrap();
        let (submission, made) = anchor.found(folder.path()).unwrap();
        assert_eq!((submission, made.seconds), (own.join("submission.csv"), 61.5));
    }

    #[test]
    fn an_environment_with_the_requirements_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("environments/lightgbm");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("installed.txt"), KINDS[0].requirements.join("\n")).unwrap();
        assert_eq!(KINDS[0].environment(folder.path()).unwrap(), own.join("bin/python"));
    }
}
