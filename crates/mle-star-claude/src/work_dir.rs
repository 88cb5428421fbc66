//! The folders that agents work in: shared ones for agents that only read, a new one for each call that runs
//! commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use mle_star_process::remove::remove_tree;
use mle_star_tables::input::{Data, Protection};

use crate::invocation::Access;

/// The scratch folder of a run's agents; removed when dropped.
#[derive(Debug)]
pub(crate) struct WorkDirs {
    folder: PathBuf,
    data: Data,
    created: AtomicU64,
}

/// An agent's working directory, with the data in `input/`.
#[derive(Debug)]
pub(crate) struct WorkDir {
    pub(crate) folder: PathBuf,
    is_shared: bool,
}

impl WorkDirs {
    /// Creates the folder, empty.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn new(folder: &Path, data: Data) -> io::Result<Self> {
        remove_tree(folder)?;
        for part in ["system", "empty", "reading"] {
            fs::create_dir_all(folder.join(part))?;
        }
        // Processes start in folders below this one, so the path must be absolute.
        let folder = folder.canonicalize()?;
        data.show(&folder.join("reading/input"), Protection::Modes)?;
        Ok(Self { folder, data, created: AtomicU64::new(0) })
    }

    pub(crate) fn for_access(&self, access: Access) -> io::Result<WorkDir> {
        let shared = |name: &str| WorkDir { folder: self.folder.join(name), is_shared: true };
        match access {
            Access::None => Ok(shared("empty")),
            Access::Read => Ok(shared("reading")),
            Access::Execute => {
                let name = format!("call-{}", self.created.fetch_add(1, Ordering::Relaxed));
                let own = WorkDir { folder: self.folder.join(name), is_shared: false };
                fs::create_dir(&own.folder)?;
                self.data.show(&own.folder.join("input"), Protection::Modes)?;
                Ok(own)
            }
        }
    }

    /// The system prompt as a file: it may be too long for a command line, and command lines are public.
    pub(crate) fn system_prompt(&self, digest: &str, text: &str) -> io::Result<PathBuf> {
        let file = self.folder.join("system").join(digest);
        if !file.exists() {
            let whole = tempfile::NamedTempFile::new_in(self.folder.join("system"))?;
            fs::write(whole.path(), text)?;
            whole.persist(&file).map_err(|failed| failed.error)?;
        }
        Ok(file)
    }
}

impl Drop for WorkDirs {
    fn drop(&mut self) {
        // A resume removes what is left.
        let _ = remove_tree(&self.folder);
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if !self.is_shared {
            let _ = remove_tree(&self.folder);
        }
    }
}
