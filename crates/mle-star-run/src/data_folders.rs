//! The data folders of a run: those that scripts see lie in the folder of the run, where the data plane makes them once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mle_star::journal::Frozen;
use mle_star_domain::layout;
use mle_star_domain::protocol::Protocol;
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use serde_json::{Value, json};

use crate::data_plane::{BlockingPlaneClient, readable};
use crate::error::RunError;
use crate::open_run::OpenRun;
use crate::protocol::question_of_rows;
use crate::python_environment::Say;
use crate::runs::{self, absolute, inputs};

/// The data folders of a run.
#[derive(Clone, Copy)]
pub struct DataFolders<'a> {
    /// The folder of the run.
    pub folder: &'a Path,
    /// The inputs of the run.
    pub frozen: &'a Frozen,
}

impl<'a> DataFolders<'a> {
    /// The data of an open run.
    pub fn of(run: &'a OpenRun) -> Self {
        Self { folder: &run.folder, frozen: &run.frozen }
    }

    /// The evaluation protocol of the run.
    pub fn protocol(&self) -> Option<&'a Protocol> {
        self.frozen.protocol.as_ref()
    }

    /// The data with all rows: the task's own folder or, with folds, links to it and the folds.
    pub fn all_rows(&self) -> PathBuf {
        if self.has_folds() { self.folder.join(layout::ALL_ROWS) } else { self.given_folder() }
    }

    /// The data that scripts of the search see.
    pub fn for_search(&self) -> PathBuf {
        if self.holds_out() { self.held_out().join(layout::INPUT) } else { self.all_rows() }
    }

    /// The folder with what belongs to held-out rows.
    pub fn held_out(&self) -> PathBuf {
        self.folder.join(layout::HOLDOUT)
    }

    /// Whether rows are held out.
    pub fn holds_out(&self) -> bool {
        self.protocol().is_some_and(|protocol| protocol.holdout.is_on())
    }

    fn has_folds(&self) -> bool {
        self.protocol().is_some_and(|protocol| protocol.has_folds_file)
    }

    /// The data that the run was given.
    fn given_folder(&self) -> PathBuf {
        runs::data_dir(self.folder, &self.frozen.task)
    }

    /// What the data plane may read: the data with what links in it lead to, and a file with folds.
    ///
    /// # Errors
    /// The data cannot be read.
    pub fn readable(&self) -> Result<Vec<PathBuf>, Trouble> {
        let folds = self.frozen.task.folds.as_ref().map(PathBuf::from).filter(|file| file.is_file());
        Ok(readable(&self.given_folder())?.into_iter().chain(folds).collect())
    }

    /// A question about the rows of the run.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn question(&self, name: &str, facts: &Value) -> Result<Value, Trouble> {
        let task = Task { data_dir: absolute(&self.given_folder())?, ..self.frozen.task.clone() };
        let drawn = self.protocol().filter(|_| self.folder.join(layout::TEST_LABELS).exists());
        let drawn = drawn.map(|protocol| json!({ "split": protocol.split, "holdout": protocol.holdout }));
        Ok(question_of_rows(name, &task, &self.frozen.config, facts, drawn.as_ref()))
    }

    /// Makes the folders, unless they are there and their links lead somewhere, which those of a run that was moved may not.
    /// `plane` is a client that can read the data, if there is one. Returns what agents are told of the data that scripts see, if what that
    /// depends on is `described`.
    ///
    /// # Errors
    /// The tables cannot be read or written, or other rows would be held out or validated than those of the run.
    pub fn make(
        &self,
        facts: &Value,
        plane: Option<&BlockingPlaneClient>,
        described: Option<&Value>,
        say: Say<'_>,
    ) -> Result<Option<String>, RunError> {
        if self.is_made() {
            return Ok(None);
        }
        let made = || -> Result<Option<String>, RunError> {
            let mut question = self.question("materialise", facts)?;
            let holdout = self.protocol().map(|protocol| &protocol.holdout).filter(|holdout| holdout.is_on());
            question["holdout"] = json!(holdout);
            question["described"] = json!(described);
            let new = self.folder.join(layout::WORK).join("made");
            self.with_room_for(&new)?;
            let own;
            let plane = match plane {
                Some(plane) => plane,
                None => {
                    let work = self.folder.join(layout::WORK);
                    own = BlockingPlaneClient::open(&self.frozen.config, &work, self.readable()?, say)?;
                    &own
                }
            };
            let mut answer: BTreeMap<String, String> = plane.ask_for(question, &new)?;
            self.take(&new).map_err(|error| inputs::unwritable(self.folder, &error))?;
            Ok(answer.remove("text"))
        };
        made().map_err(|error| RunError::failed(error.trouble))
    }

    /// Whether scripts see the folder that the run was given, so that there is nothing to make.
    pub fn is_given(&self) -> bool {
        !self.holds_out() && !self.has_folds()
    }

    fn is_made(&self) -> bool {
        let held_out = self.held_out();
        let rows = !self.holds_out()
            || leads_somewhere(&self.for_search()) && held_out.join(layout::LABELS).is_file();
        rows && (!self.has_folds() || leads_somewhere(&self.all_rows()))
    }

    /// Removes what an interrupted process has left.
    fn with_room_for(&self, new: &Path) -> Result<(), Trouble> {
        let cleared = inputs::remove(new).and_then(|()| fs::create_dir_all(self.folder.join(layout::WORK)));
        cleared.map_err(|error| inputs::unwritable(self.folder, &error))
    }

    /// Puts what was made where it belongs; what says that all is there comes last.
    fn take(&self, new: &Path) -> io::Result<()> {
        let held_out = self.held_out();
        let places = [
            (layout::SEASONAL_NAIVE, self.folder),
            (layout::LABELS, &held_out),
            (layout::INPUT, &held_out),
            (layout::ALL_ROWS, self.folder),
        ];
        for (name, folder) in places.into_iter().filter(|(name, _)| new.join(name).exists()) {
            let place = folder.join(name);
            fs::create_dir_all(folder)?;
            inputs::remove(&place)?;
            fs::rename(new.join(name), place)?;
        }
        inputs::remove(new)
    }
}

fn leads_somewhere(folder: &Path) -> bool {
    fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.path().exists())))
}
