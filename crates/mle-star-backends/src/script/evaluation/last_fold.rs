//! The rows of the last validation fold, held out for runs that tell how much a script depends on each column.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;

/// Makes the data without the rows of the last fold, and the table of their labels.
type Write = dyn Fn(&FoldFiles) -> Result<(), Trouble> + Send + Sync;

/// Makes data whose last validation fold is held out. It is made only if it is needed: it is a copy of the tables.
#[derive(Clone)]
pub struct LastFold {
    /// The sample submission, relative to the data.
    sample: PathBuf,
    write: Arc<Write>,
}

/// Where this data is.
#[derive(Clone, Debug)]
pub struct FoldFiles {
    /// The data as the script sees it.
    pub input: PathBuf,
    /// The labels of the rows, which it does not see.
    pub labels: PathBuf,
    /// The sample submission of the data.
    pub(crate) sample: PathBuf,
}

impl LastFold {
    /// `write` makes the files. What is wrong if they cannot be made is told in one clause. `sample` is the path of the sample
    /// submission, relative to the data.
    pub fn new(
        sample: PathBuf,
        write: impl Fn(&FoldFiles) -> Result<(), Trouble> + Send + Sync + 'static,
    ) -> Self {
        Self { sample, write: Arc::new(write) }
    }

    /// Makes the files in this folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<FoldFiles, Trouble> {
        let input = folder.join(layout::INPUT);
        let (labels, sample) = (folder.join(layout::LABELS), input.join(&self.sample));
        let files = FoldFiles { input, labels, sample };
        (self.write)(&files)?;
        Ok(files)
    }
}

impl fmt::Debug for LastFold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastFold").field("sample", &self.sample).finish_non_exhaustive()
    }
}
