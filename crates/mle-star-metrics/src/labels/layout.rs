//! How tables of labels and files of predictions are laid out.

use crate::table::is_missing;

/// The columns of a table with labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column that names the rows; `None` if the row's number does, from 0.
    pub id: Option<String>,
    /// The column with the labels.
    pub target: String,
    /// Further columns with labels. The score is the mean over all targets.
    pub further: Vec<String>,
    /// The column whose equal values make rows dependent, such as a group or a day. Such rows have the same weight in a
    /// replicate.
    pub cluster: Option<String>,
    /// The column with row weights, which are part of every score. `None` if all rows count the same.
    pub weight: Option<String>,
    /// The class that a binary metric is about, and a single column of probabilities. `None` for the usual one.
    pub positive: Option<String>,
    /// Words that look missing, such as `None`, but are labels.
    pub words: Vec<String>,
}

/// The layout of a file of predictions.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The columns of the sample submission.
    pub header: &'a [String],
    /// The column that names the rows; `None` if the row's number does, from 0.
    pub id_column: Option<&'a str>,
}

/// What predictions for rows without a known label mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// An error. Predictions for some of the labelled rows are enough.
    Reject,
    /// Nothing. Every labelled row needs a prediction.
    Ignore,
}

impl Columns {
    /// The columns with the name and the label of a row.
    pub fn new(id: Option<String>, target: impl Into<String>) -> Self {
        Self { id, target: target.into(), ..Self::default() }
    }

    /// Whether this cell says that the row has no label.
    pub(super) fn lacks(&self, label: &str) -> bool {
        is_missing(label) && !self.words.iter().any(|word| word == label.trim())
    }
}
