//! Systems that are not Linux have no workers: every script starts cold there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tokio::process::Command;
use tokio::sync::SemaphorePermit;

use crate::process::{Confinement, Namespaces, Streams, Tree};

/// How a worker would be started.
pub(in crate::script) struct WorkerSetup {
    pub(in crate::script) command: Command,
    pub(in crate::script) folder: PathBuf,
    pub(in crate::script) python_path: Option<OsString>,
    pub(in crate::script) namespaces: Option<Namespaces>,
}

/// There is none.
#[derive(Debug)]
pub(in crate::script) enum Worker {}

/// There is none.
#[derive(Debug)]
pub(in crate::script) enum Resting {}

impl Worker {
    /// # Errors
    /// Always.
    pub(super) async fn start(
        _setup: WorkerSetup,
        _modules: BTreeSet<String>,
        _permit: SemaphorePermit<'static>,
    ) -> Result<Self, String> {
        Err("needs Linux".to_owned())
    }

    /// Cannot be called.
    pub(in crate::script) async fn run(
        self,
        _folder: &Path,
        _variables: &[(OsString, OsString)],
        _confinement: &Confinement,
    ) -> io::Result<(Tree, Streams, Resting)> {
        match self {}
    }
}

impl Resting {
    /// Cannot be called.
    pub(super) async fn again(self, _tree: Tree) -> Result<Worker, String> {
        match self {}
    }

    /// Cannot be called.
    pub(in crate::script) fn complaint(&self) -> Option<String> {
        match *self {}
    }
}

/// There was no worker.
pub(in crate::script) fn remove_left(_parent: &Path) {}
