//! The rows that the models behind validation predictions were fitted on, as far as this was observed.

use serde::{Deserialize, Serialize};

/// What the models behind validation predictions were fitted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Fits {
    /// Not on the labels of the rows that they predict, as far as these rows are known again.
    Clean {
        /// The rows whose model was seen.
        rows: u64,
        /// All validation rows.
        of: u64,
    },
    /// On the labels of these rows.
    Leak {
        /// What was fitted on them: the name of its class.
        estimator: String,
        /// What it does.
        by: Fitted,
        /// The line that fitted it; 0 if it is not known.
        line: u64,
        /// The rows that are predicted with knowledge of their labels.
        rows: u64,
        /// All validation rows.
        of: u64,
    },
    /// It was not seen.
    Unknown {
        /// The reason.
        why: String,
    },
}

/// What is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fitted {
    /// What makes the predictions.
    Model,
    /// What makes its features.
    Transformer,
}
