//! Plain tables, made of whatever people give by the data plane, the Python process that reads tables.
//!
//! Scripts, profiles and splits see one form of data: a folder with comma-separated UTF-8 tables. [`TakenIn`] is what the data
//! plane says of a folder or a table file; where it is not such data, the data plane writes a folder that is (question
//! `take_in`). [`SubmissionFormat`] converts a script's submission to the user's format.

mod names;
mod submission_format;

use std::path::PathBuf;

use mle_star_domain::trouble::Trouble;
use serde::Deserialize;

use crate::read_options::ReadOptions;

pub use names::{has_tables, is_table, stem};
pub use submission_format::SubmissionFormat;

/// What a data folder or a table file holds.
#[derive(Clone, Debug, Deserialize)]
pub struct InputData {
    /// Whether it is a folder with plain tables, which scripts can use as it is.
    pub is_plain: bool,
    /// Whether it is one table, without test rows.
    pub is_single: bool,
    /// Whether it has a training and a test table, but no sample submission.
    pub lacks_sample: bool,
    /// Whether the test table may have the column to predict.
    pub may_have_target: bool,
    /// Whether the file of the training table marks missing cells, so that no word means them.
    pub marks_missing: bool,
    /// The name of the training table's file.
    pub name: String,
    /// The tables that scripts see instead of other files: each table, and the file.
    pub instead: Vec<(PathBuf, PathBuf)>,
    /// What was found and changed, a sentence each.
    pub told: Vec<String>,
    /// How a submission is written as the user's sample has it; `None` if it is the one that scripts write.
    pub submission: Option<SubmissionFormat>,
    /// How files with rows to predict are read.
    pub reading: ReadOptions,
    /// Why the rows of the sample submission are not found in the test table.
    id_unknown: Option<Refusal>,
    /// Why a table cannot be read that agents may still explore by themselves.
    damaged: Option<Refusal>,
}

/// A refusal of the data plane.
#[derive(Clone, Debug, Deserialize)]
struct Refusal {
    message: String,
    hint: String,
}

impl InputData {
    /// Why the rows of the sample submission are not found in the test table.
    pub fn id_unknown(&self) -> Option<Trouble> {
        self.id_unknown.as_ref().map(Refusal::trouble)
    }

    /// Why a table cannot be read that agents may still explore by themselves.
    pub fn damaged(&self) -> Option<Trouble> {
        self.damaged.as_ref().map(Refusal::trouble)
    }
}

impl Refusal {
    fn trouble(&self) -> Trouble {
        Trouble::new(self.message.as_str(), self.hint.as_str())
    }
}
