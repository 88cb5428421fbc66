//! What is known of the data.

use serde::{Deserialize, Serialize};

/// What is known of the data. Everything is optional: what is not given is concluded from the script, or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The columns to predict. Without them, a target is what the script gives to models as their target.
    pub targets: Vec<String>,
    /// Columns that identify rows and say nothing else.
    pub ids: Vec<String>,
    /// How test rows differ from training rows.
    pub split: Option<Split>,
}

/// How test rows differ from training rows, which validation rows should imitate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// What differs.
    pub kind: SplitKind,
    /// The column of the groups, times or classes.
    pub column: Option<String>,
}

/// What differs between test rows and training rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitKind {
    /// Nothing: rows are drawn at random.
    Rows,
    /// Nothing; every class is as frequent in both.
    Stratified,
    /// The groups.
    Groups,
    /// Test rows are later.
    Time,
}
