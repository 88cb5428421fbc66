//! The folder of a bench: its plan, and what the program must remember between calls.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mle_star::journal::{self, JournalError, Lock};
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::Gpu;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::grade::{Kept, written_at};
use super::plan::{Cell, Plan};
use super::scale::{Grade, digest_of};
use crate::exit::Failure;
use mle_star_run::runs::inputs::{write_json, write_whole};

/// Files in the folder of a bench.
const PLAN: &str = "bench.json";
const LOCK: &str = "bench.lock";
/// The runs, a runs directory.
pub const RUNS: &str = "runs";
const RECORDS: &str = "cells";
const GRADES: &str = "grades";

/// The folder of a bench, locked by this process.
#[derive(Debug)]
pub struct Folder {
    /// Its path.
    pub path: PathBuf,
    /// Keeps the lock.
    _lock: (File, Lock),
}

/// What is known about a run beside its run folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// The processes that worked on it, in order.
    #[serde(rename = "sittings")]
    pub processes: Vec<BenchProcess>,
    /// Why it has no result, if something other than an interruption ended it.
    pub failure: Option<Failed>,
}

/// A process that worked on a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchProcess {
    /// When it began.
    pub at: Timestamp,
    /// Where.
    pub hardware: Hardware,
    /// How scripts were isolated, in words.
    pub isolation: String,
    /// Whether scripts could read only what they were given.
    pub reads_closed: bool,
    /// Whether there were hidden answers on the machine that the bench knew of.
    pub has_answers: bool,
    /// How many runs were made at once.
    pub side_by_side: usize,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hardware {
    /// The model of the processor; empty if it is unknown.
    pub processor: String,
    /// Logical cores that the program may use.
    pub cores: usize,
    /// Memory that it may use, in MiB.
    pub memory_mib: u64,
    /// GPUs that it may use.
    pub gpus: Vec<Gpu>,
    /// Operating system and architecture.
    pub platform: String,
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

    /// What is known about a run beside its run folder.
    pub fn record(&self, cell: &Cell<'_>) -> Record {
        read_json(&self.of_cell(RECORDS, cell)).unwrap_or_default()
    }

    /// Notes that this process works on a run.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn note_process(&self, cell: &Cell<'_>, process: BenchProcess) -> Result<(), Failure> {
        let mut record = self.record(cell);
        record.processes.push(process);
        record.failure = None;
        self.write(RECORDS, cell, &record)
    }

    /// Notes why a run has no result.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn note_failure(&self, cell: &Cell<'_>, failure: &Failure) -> Result<(), Failure> {
        let mut record = self.record(cell);
        record.failure = Some(Failed { exit: failure.exit.code(), error: failure.trouble.message.clone() });
        self.write(RECORDS, cell, &record)
    }

    /// The grade of a run's submission; `None` if this submission was not graded like this.
    pub fn kept(&self, cell: &Cell<'_>, submission: &Path) -> Option<Kept> {
        let kept: Kept = read_json(&self.of_cell(GRADES, cell))?;
        let is_same = kept.grading == cell.task.grading && digest_of(submission).ok()? == kept.submission;
        is_same.then_some(kept)
    }

    /// Keeps a grade. `result` is the file that the run wrote last.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(
        &self,
        cell: &Cell<'_>,
        submission: &Path,
        result: &Path,
        grade: &Grade,
    ) -> Result<(), Failure> {
        let before: Option<Kept> = read_json(&self.of_cell(GRADES, cell));
        let kept = Kept {
            submission: digest_of(submission).map_err(|error| unwritable(&self.path, &error))?,
            grading: cell.task.grading.clone(),
            at: Timestamp::now(),
            after: written_at(result),
            times: before.map_or(0, |before| before.times) + 1,
            grade: grade.clone(),
        };
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
        self.written(name, |path| write_whole(path, text.as_bytes()))
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
