//! How to parse a file with rows to predict where its format is ambiguous.

use serde::{Deserialize, Serialize};

/// The sheet and the decimal separators of the run's training table, which other files are read with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOptions {
    /// The sheet of workbooks.
    pub sheet: Option<String>,
    /// Those whose numbers have decimal commas.
    #[serde(rename = "commas")]
    pub decimal_comma_columns: Vec<String>,
    /// Those whose numbers have decimal points.
    #[serde(rename = "points")]
    pub decimal_point_columns: Vec<String>,
}
