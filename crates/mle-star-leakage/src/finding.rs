//! Findings.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::rules::Rule;

/// A leak, or a practice that often is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub rule: Rule,
    /// The line of the cause, from 1.
    pub line: u32,
    /// The column of the cause in characters, from 1.
    pub column: u32,
    /// The line where the cause ends, from 1.
    pub end_line: u32,
    /// The column after the end of the cause, from 1.
    pub end_column: u32,
    /// The statements to correct, as bytes of the source.
    pub block: Range<usize>,
    /// One sentence: how the data comes from its source to the score.
    pub text: String,
    /// What would be right.
    pub instead: String,
}
