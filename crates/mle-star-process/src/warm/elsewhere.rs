//! Systems other than Linux have no workers: every script starts cold.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tokio::process::Command;
use tokio::sync::SemaphorePermit;

use super::failure::Failure;
use crate::process_tree::{ProcessTree, Streams};
use crate::spawn::{Confinement, Namespaces};

/// How a worker would be started.
#[derive(Debug)]
pub struct WorkerSetup {
    /// Starts the interpreter.
    pub command: Command,
    /// The worker's own folder would be created in here.
    pub folder: PathBuf,
    /// The scripts' PYTHONPATH.
    pub python_path: Option<OsString>,
    /// Always `None`.
    pub namespaces: Option<Namespaces>,
}

/// There is none.
#[derive(Debug)]
pub enum Worker {}

/// There is none.
#[derive(Debug)]
pub enum BusyWorker {}

impl Worker {
    /// # Errors
    /// Always.
    pub(super) async fn start(
        _setup: WorkerSetup,
        _modules: BTreeSet<String>,
        _permit: SemaphorePermit<'static>,
    ) -> Result<Self, Failure> {
        Err(Failure::Reported("needs Linux".to_owned()))
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn run(
        self,
        _folder: &Path,
        _variables: &[(OsString, OsString)],
        _confinement: &Confinement,
    ) -> io::Result<(ProcessTree, Streams, BusyWorker)> {
        match self {}
    }
}

impl BusyWorker {
    /// Cannot be called.
    pub(super) async fn ready_again(self, _tree: ProcessTree) -> Result<Worker, Failure> {
        match self {}
    }

    /// Cannot be called.
    pub fn complaint(&self) -> Option<String> {
        match *self {}
    }
}

/// There was no worker.
pub fn remove_left(_parent: &Path) {}
