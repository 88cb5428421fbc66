//! The folder of a bench: its plan, and what the program must remember between calls.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mle_star::journal::{self, JournalError, Lock};
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_run::runs::inputs::{write_atomically, write_json};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::answers::{Answers, Grade, digest_of};
use super::plan::{Cell, Plan};
use crate::exit::Failure;

/// Files in the folder of a bench.
const PLAN: &str = "bench.json";
const LOCK: &str = "bench.lock";
/// The runs, a runs directory.
pub const RUNS: &str = "runs";
const FAILURES: &str = "failures";
const GRADES: &str = "grades";

/// The folder of a bench, locked by this process.
#[derive(Debug)]
pub struct Folder {
    /// Its path.
    pub path: PathBuf,
    /// Keeps the lock.
    _lock: (File, Lock),
}

/// A grade as it is kept. It belongs to one submission, so each submission is graded once.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// The BLAKE3 digest of the submission.
    submission: String,
    /// What it was compared with.
    answers: Option<Answers>,
    grade: Grade,
}

/// Why a run has no result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// The exit code.
    pub exit: u8,
    /// The error.
    pub error: String,
}

impl Folder {
    /// Opens the folder of a bench, or makes it for this plan.
    ///
    /// # Errors
    /// Another process works on it, it has another plan, or it cannot be written.
    pub fn open(path: &Path, plan: &Plan) -> Result<Self, Failure> {
        fs::create_dir_all(path.join(RUNS)).map_err(|error| unwritable(path, &error))?;
        let lock = locked(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock };
        let file = path.join(PLAN);
        if file.exists() {
            let before: Plan = read_json(&file).ok_or_else(|| {
                let message = format!("cannot read {}", file.display());
                Trouble::new(message, "restore it, or use another folder with --out")
            })?;
            if let Some(difference) = plan.differs_from(&before) {
                let message = format!("{} holds another bench: {difference}", path.display());
                let hint = "use another folder with --out, or the same tasks and settings as before";
                return Err(Trouble::new(message, hint).into());
            }
        }
        write_json(&file, plan).map_err(|error| unwritable(path, &error))?;
        Ok(folder)
    }

    /// The runs directory.
    pub fn runs(&self) -> PathBuf {
        self.path.join(RUNS)
    }

    /// The folder of a run.
    pub fn run(&self, cell: &Cell<'_>) -> PathBuf {
        self.runs().join(cell.id())
    }

    /// Why a run has no result, if something other than an interruption ended it.
    pub fn failure(&self, cell: &Cell<'_>) -> Option<Failed> {
        read_json(&self.of_cell(FAILURES, cell))
    }

    /// Forgets why a run had no result: it is made again.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn forget_failure(&self, cell: &Cell<'_>) -> Result<(), Failure> {
        match fs::remove_file(self.of_cell(FAILURES, cell)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(&self.path, &error)),
            _ => Ok(()),
        }
    }

    /// Notes why a run has no result.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn note_failure(&self, cell: &Cell<'_>, failure: &Failure) -> Result<(), Failure> {
        let failed = Failed { exit: failure.exit.code(), error: failure.trouble.message.clone() };
        self.write(FAILURES, cell, &failed)
    }

    /// The submission of a run.
    pub fn submission(&self, cell: &Cell<'_>) -> PathBuf {
        self.run(cell).join(layout::FINAL).join(layout::SUBMISSION)
    }

    /// The grade of a run's submission; `None` if this submission was not compared with these answers.
    pub fn grade(&self, cell: &Cell<'_>) -> Option<Grade> {
        let kept: Kept = read_json(&self.of_cell(GRADES, cell))?;
        let is_same =
            kept.answers == cell.task.answers && digest_of(&self.submission(cell)).ok()? == kept.submission;
        is_same.then_some(kept.grade)
    }

    /// Keeps a grade.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(&self, cell: &Cell<'_>, grade: Grade) -> Result<(), Failure> {
        let submission = digest_of(&self.submission(cell)).map_err(|error| unwritable(&self.path, &error))?;
        let kept = Kept { submission, answers: cell.task.answers.clone(), grade };
        self.write(GRADES, cell, &kept)
    }

    /// Writes a value as indented JSON.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.written(name, |path| write_json(path, value))
    }

    /// Writes a text.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.written(name, |path| write_atomically(path, text.as_bytes()))
    }

    fn of_cell(&self, folder: &str, cell: &Cell<'_>) -> PathBuf {
        self.path.join(folder).join(format!("{}.json", cell.id()))
    }

    fn write(&self, folder: &str, cell: &Cell<'_>, value: &impl Serialize) -> Result<(), Failure> {
        self.write_json(&format!("{folder}/{}.json", cell.id()), value)
    }

    fn written(&self, name: &str, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Failure> {
        let path = self.path.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write(&path));
        made.map_err(|error| unwritable(&self.path, &error))
    }
}

/// The lock of a bench, which names its process.
fn locked(folder: &Path) -> Result<(File, Lock), Failure> {
    journal::lock_file(&folder.join(LOCK)).map_err(|error| match error {
        JournalError::Held { holder } => Failure::failed(Trouble::new(
            format!("{holder} works on the bench in {}", folder.display()),
            "wait until it ends, or use another folder with --out",
        )),
        JournalError::Io(error) => unwritable(folder, &error),
        error => Failure::failed(error.trouble()),
    })
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn unwritable(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write into the bench folder {}: {error}", folder.display());
    Failure::failed(Trouble::new(message, "free disk space, or choose a writable folder with --out"))
}
