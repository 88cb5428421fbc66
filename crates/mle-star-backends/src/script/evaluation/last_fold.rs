//! The rows of the last validation fold, held out for runs that tell how much a script depends on each column.

use std::path::{Path, PathBuf};

use mle_star_domain::layout;
use serde_json::Value;

/// Data whose last validation fold is held out. It is made only if it is needed: it is a copy of the tables.
#[derive(Clone, Debug)]
pub struct LastFold {
    /// The sample submission, relative to the data.
    pub sample: PathBuf,
    /// What the data plane is asked for.
    pub question: Value,
}

/// Where this data is.
#[derive(Clone, Debug)]
pub(crate) struct FoldFiles {
    /// The data as the script sees it.
    pub(crate) input: PathBuf,
    /// The labels of the rows, which it does not see.
    pub(crate) labels: PathBuf,
    /// The sample submission of the data.
    pub(crate) sample: PathBuf,
}

impl FoldFiles {
    /// Those in this folder.
    pub(crate) fn within(folder: &Path, fold: &LastFold) -> Self {
        let input = folder.join(layout::INPUT);
        Self { sample: input.join(&fold.sample), labels: folder.join(layout::LABELS), input }
    }
}
