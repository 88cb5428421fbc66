//! Files with rows to predict, which are read like the training table.

use serde::{Deserialize, Serialize};

/// How files are read that leave it open: like the training table of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The sheet of workbooks.
    pub sheet: Option<String>,
    /// The columns whose numbers have a decimal comma.
    pub commas: Vec<String>,
    /// The columns whose numbers have a decimal point.
    pub points: Vec<String>,
}
