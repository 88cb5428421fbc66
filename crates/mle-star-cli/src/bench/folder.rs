//! The folder of a bench: its plan, its runs and its results.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mle_star::journal::{self, JournalError, Lock};
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_run::runs::inputs::{write_atomically, write_json};

use super::plan::{Plan, PlannedRun};
use crate::exit::Failure;

/// Files in the folder of a bench.
const PLAN: &str = "bench.json";
const LOCK: &str = "bench.lock";
/// The runs, a runs directory.
pub const RUNS: &str = "runs";

/// The folder of a bench, locked by this process.
#[derive(Debug)]
pub struct Folder {
    /// Its path.
    pub path: PathBuf,
    /// Keeps the lock.
    _lock: (File, Lock),
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
            let text = fs::read(&file).map_err(|error| Trouble::io("read", &file, &error))?;
            let before: Plan = serde_json::from_slice(&text).map_err(|error| {
                let message = format!("{} is no plan of a bench: {error}", file.display());
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
    pub fn run(&self, planned: &PlannedRun<'_>) -> PathBuf {
        self.runs().join(planned.id())
    }

    /// The submission of a run.
    pub fn submission(&self, planned: &PlannedRun<'_>) -> PathBuf {
        self.run(planned).join(layout::FINAL).join(layout::SUBMISSION)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        write_atomically(&self.path.join(name), text.as_bytes())
            .map_err(|error| unwritable(&self.path, &error))
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

fn unwritable(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write into the bench folder {}: {error}", folder.display());
    Failure::failed(Trouble::new(message, "free disk space, or choose a writable folder with --out"))
}
