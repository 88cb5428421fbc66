//! What the program does with the predictions that scripts left: it scores, selects and combines them.

use serde::{Deserialize, Serialize};

use crate::measure::{Difference, Measurement};
use crate::place::Place;
use crate::protocol::HoldoutPart;

/// The scoring of one script's predictions for held-out rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookRequest {
    /// The place of the look.
    pub place: Place,
    /// The place of the run that wrote the submission.
    pub run: Place,
    /// The script that ran there.
    pub script: String,
    /// Which rows.
    pub part: HoldoutPart,
}

/// The result of scoring predictions for held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The score; `None` if there is none.
    pub measured: Option<Measurement>,
    /// Why there is none; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// The comparison of what two runs predicted for the same rows of the test table.
#[derive(Clone, Debug, PartialEq)]
pub struct RefitRequest {
    /// The place of the comparison.
    pub place: Place,
    /// The run that had seen fewer rows, and its script.
    pub first: (Place, String),
    /// The run on the original files, and its script.
    pub second: (Place, String),
}

/// How two fits of a solution differ in their predictions for the same rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Refit {
    /// The number of rows.
    pub rows: u64,
    /// How alike they are, in a few words.
    pub words: String,
    /// Whether they differ by more than fits do.
    pub is_jump: bool,
    /// Why they were not compared; empty if they were.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// A run whose predictions are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The place of the run.
    pub run: Place,
    /// The script that ran there.
    pub script: String,
    /// How long it ran, in seconds.
    pub seconds: f64,
}

/// The comparison of two runs on the validation rows that both predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRequest {
    /// The place of the comparison.
    pub place: Place,
    /// A run.
    pub one: Member,
    /// The run that it is compared with.
    pub other: Member,
}

/// The comparison of two runs on the validation rows that both predicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The number of these rows.
    pub rows: u64,
    /// How much larger the first score is on them; `None` if they are too few.
    pub difference: Option<Difference>,
    /// Why they cannot be compared, whatever the rows are; empty if they can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// The question how alike the errors of several runs are on the validation rows that all of them predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementRequest {
    /// The place of the question.
    pub place: Place,
    /// The runs.
    pub members: Vec<Member>,
}

/// How alike the errors of several runs are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of validation rows that all of them predicted.
    pub rows: u64,
    /// The run with the best score on these rows.
    pub best: usize,
    /// How much larger the score of each run is than that of the best one.
    pub differences: Vec<Option<Difference>>,
    /// The correlation of the errors of each pair of runs; `None` where one of them has no spread.
    pub correlations: Vec<Vec<Option<f64>>>,
    /// Why they cannot be compared; empty if they can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// The choice of weights for the predictions of earlier runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectionRequest {
    /// The place of the choice.
    pub place: Place,
    /// The runs, best first.
    pub members: Vec<Member>,
    /// How long the chosen scripts may run together, in seconds.
    pub seconds: f64,
}

/// The result of choosing weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The weight of each run. They add up to 1. Empty if no combination was found.
    pub weights: Vec<f64>,
    /// How predictions are combined.
    #[serde(default)]
    pub by: CombinedBy,
    /// The score of the combination on validation rows. The weights for each part of the rows come from the others.
    pub measured: Option<Measurement>,
    /// Whether it takes the place of the best run, if that is chosen like the weights, by the other parts of the rows.
    #[serde(default)]
    pub is_better: bool,
    /// How much larger its score is than that of the best run, if that is chosen so, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Difference>,
    /// Why there is no combination; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// How the predictions of several scripts become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CombinedBy {
    /// Numbers have a weighted mean.
    #[default]
    Mean,
    /// The label with the largest weight wins.
    Votes,
    /// Cells hold sets of labels; the set with the largest weight wins.
    Sets,
    /// Cells hold guesses, of which so many count: the first has the weight of its script, the second half of it, and so on. Those
    /// with the largest weights win.
    Guesses(u8),
    /// Each script left scores of the classes; the class with the largest weighted mean wins.
    ClassScores,
}

/// The combination of predictions of earlier runs.
#[derive(Clone, Debug, PartialEq)]
pub struct CombinationRequest {
    /// The place of the script that combines.
    pub place: Place,
    /// The script. It is kept, and not run.
    pub script: String,
    /// The runs with their weights.
    pub members: Vec<(Member, f64)>,
    /// How they are combined.
    pub by: CombinedBy,
    /// The score.
    pub measured: Measurement,
}
