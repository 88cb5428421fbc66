//! How much a score depends on each column.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Direction;
use crate::place::Place;

/// The question how much worse a script predicts labelled rows if a column is permuted.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportanceRequest {
    /// The place of the question.
    pub place: Place,
    /// The run on copies of the rows, in each of which one column is permuted.
    pub run: Place,
    /// The script that ran there.
    pub script: String,
    /// The run that predicted the same rows in the table that they come from, and its script.
    pub known: (Place, String),
    /// The rows.
    pub on: ImportanceRows,
    /// Whether higher scores are better.
    pub direction: Direction,
}

/// The labelled rows on which the importance of columns is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceRows {
    /// The held-out rows.
    #[default]
    HeldOut,
    /// The rows of the last validation fold, which the script was fitted without for this purpose.
    LastFold,
}

/// How much worse a script predicts labelled rows if a column is permuted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// The number of rows.
    pub rows: u64,
    /// Which rows they are.
    #[serde(default, skip_serializing_if = "ImportanceRows::is_held_out")]
    pub on: ImportanceRows,
    /// How often each column was permuted.
    pub repetitions: u64,
    /// The columns, the most important first; none if it is not known.
    pub columns: Vec<ColumnImportance>,
    /// Why it is not known, in one sentence; empty if it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// How much worse the score gets if a column is permuted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnImportance {
    /// The name of the column.
    pub column: String,
    /// How much worse the score gets, in the metric's unit. Below zero, the score is better without the column.
    pub difference: f64,
    /// Its 95 % interval: low, high. `null` if the score has no uncertainty.
    pub interval: Option<[f64; 2]>,
}

impl ImportanceRows {
    /// What these rows are called, after their number.
    pub fn words(self) -> &'static str {
        match self {
            Self::HeldOut => "held-out rows",
            Self::LastFold => "validation rows of the last fold",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_held_out(&self) -> bool {
        *self == Self::HeldOut
    }
}

impl Importance {
    /// One that is not known, for this reason.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self { failure: why.into(), ..Self::default() }
    }
}

impl ColumnImportance {
    /// Whether the score is better if the column is permuted, beyond chance.
    pub fn hurts(&self) -> bool {
        self.interval.is_some_and(|[_, high]| high < 0.0)
    }
}
