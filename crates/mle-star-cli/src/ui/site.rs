//! The served runs directory, with the rendered pages that viewers share.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mle_star_domain::trouble::Trouble;

use super::folder::folder_of;
use super::list::Runs;
use super::live::Live;
use super::response::ErrorResponse;
use super::run::RunSections;
use crate::processes::Worker;

/// How many pages without followers stay rendered.
const CACHE_SIZE: usize = 8;

/// A runs directory with cached state.
pub struct Site {
    /// The runs directory.
    pub runs_dir: PathBuf,
    /// The folder below which data can be chosen.
    pub folder: PathBuf,
    /// The rows of the list.
    pub list: Arc<Live<Runs>>,
    /// Processes that were asked to stop from this page.
    pub asked: Mutex<HashSet<Worker>>,
    /// The pages of recently viewed runs.
    runs: Mutex<HashMap<String, Arc<Live<RunSections>>>>,
}

impl Site {
    /// A site for a runs directory, which need not exist yet.
    pub fn new(runs_dir: &Path) -> Self {
        let runs_dir = std::path::absolute(runs_dir).unwrap_or_else(|_| runs_dir.to_owned());
        let list = Live::new(Runs::of(&runs_dir));
        // Without a folder, there is nothing to choose.
        let folder = std::env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
        Self { runs_dir, folder, list: Arc::new(list), asked: Mutex::default(), runs: Mutex::default() }
    }

    /// The folder for files that are sent, beside the runs.
    pub fn uploads(&self) -> PathBuf {
        self.runs_dir.with_file_name("uploads")
    }

    /// The folder of the run with this ID, directly in the runs directory.
    ///
    /// # Errors
    /// There is no such run.
    pub fn find(&self, id: &str) -> Result<PathBuf, ErrorResponse> {
        folder_of(&self.runs_dir, id).ok_or_else(|| {
            let message = format!("no run called {id} in {}", self.runs_dir.display());
            ErrorResponse::missing(Trouble::new(message, "the list of runs shows the ones there are"))
        })
    }

    /// Forgets the page of a run that was deleted; another one may get its ID.
    pub fn forget(&self, id: &str) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// The page of a run, shared by all viewers.
    pub fn run(&self, id: &str, folder: PathBuf) -> Arc<Live<RunSections>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if !runs.contains_key(id) && runs.len() >= CACHE_SIZE {
            // Viewers hold a page as long as they follow it.
            runs.retain(|_, page| Arc::strong_count(page) > 1);
        }
        let page = runs.entry(id.to_owned());
        Arc::clone(page.or_insert_with(|| Arc::new(Live::new(RunSections::of(id, folder)))))
    }
}
