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
    /// How test rows differ from training rows, if they do.
    pub split: Option<Split>,
}

/// How test rows differ from training rows, which validation rows should imitate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "column", rename_all = "kebab-case")]
pub enum Split {
    /// They have other groups: the values of this column.
    Groups(Option<String>),
    /// They are later, by this column.
    Time(Option<String>),
}
