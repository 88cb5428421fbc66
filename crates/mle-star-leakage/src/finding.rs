//! Findings and their rules.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A leak, or a practice that often is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub rule: Rule,
    /// Whether the score counts.
    pub severity: Severity,
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

/// Whether the score of a script counts in spite of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a look; the score counts.
    Warn,
    /// The score does not count.
    Block,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Something was computed with the target of rows that are then validated.
    TargetStatistics,
    /// Rows were repeated or generated before the split.
    ResampledBeforeSplit,
    /// Features were selected with the target of rows that are then validated.
    SelectedBeforeSplit,
    /// The target itself was a feature.
    TargetAsFeature,
    /// The same rows are in training and in validation.
    SameRows,
    /// The score was computed on rows that the model was fitted on.
    ScoredOnTrainingRows,
    /// A threshold, weight or seed was chosen by the score that is reported.
    ChosenOnScoredRows,
    /// A file of held-out labels is read.
    ReadsLabels,
    /// The reported score does not come from predictions.
    ConstantScore,
    /// Something was learnt without the target from rows that are then validated.
    UnsupervisedBeforeSplit,
    /// Random folds, although groups or times separate test rows from training rows.
    RowsInFoldsOfGroups,
    /// Rows that are sorted by time are shuffled into folds.
    ShuffledTime,
    /// A column that only identifies rows is a feature.
    IdAsFeature,
    /// Training was stopped by the score on rows that are then validated.
    StoppedOnScoredRows,
    /// The reported score is the best of several models' scores on the same rows.
    ChosenAmongModels,
}

impl Rule {
    /// All rules, those that block first.
    pub const ALL: [Self; 15] = [
        Self::TargetStatistics,
        Self::ResampledBeforeSplit,
        Self::SelectedBeforeSplit,
        Self::TargetAsFeature,
        Self::SameRows,
        Self::ScoredOnTrainingRows,
        Self::ChosenOnScoredRows,
        Self::ReadsLabels,
        Self::ConstantScore,
        Self::UnsupervisedBeforeSplit,
        Self::RowsInFoldsOfGroups,
        Self::ShuffledTime,
        Self::IdAsFeature,
        Self::StoppedOnScoredRows,
        Self::ChosenAmongModels,
    ];

    /// The name of the rule, as in JSON.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::TargetStatistics => "target-statistics",
            Self::ResampledBeforeSplit => "resampled-before-split",
            Self::SelectedBeforeSplit => "selected-before-split",
            Self::TargetAsFeature => "target-as-feature",
            Self::SameRows => "same-rows",
            Self::ScoredOnTrainingRows => "scored-on-training-rows",
            Self::ChosenOnScoredRows => "chosen-on-scored-rows",
            Self::ReadsLabels => "reads-labels",
            Self::ConstantScore => "constant-score",
            Self::UnsupervisedBeforeSplit => "unsupervised-before-split",
            Self::RowsInFoldsOfGroups => "rows-in-folds-of-groups",
            Self::ShuffledTime => "shuffled-time",
            Self::IdAsFeature => "id-as-feature",
            Self::StoppedOnScoredRows => "stopped-on-scored-rows",
            Self::ChosenAmongModels => "chosen-among-models",
        }
    }

    /// What the rule finds, in one line.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::TargetStatistics => {
                "A feature is computed with the target of rows that are then validated."
            }
            Self::ResampledBeforeSplit => "Rows are repeated or generated before the split into folds.",
            Self::SelectedBeforeSplit => {
                "Features are selected with the target of rows that are then validated."
            }
            Self::TargetAsFeature => "The target itself is a feature.",
            Self::SameRows => "The same rows are in training and in validation.",
            Self::ScoredOnTrainingRows => "The score is computed on rows that the model was fitted on.",
            Self::ChosenOnScoredRows => {
                "A threshold, weight or seed is chosen by the very score that is reported."
            }
            Self::ReadsLabels => "The script reads a file of held-out labels.",
            Self::ConstantScore => "The reported score does not come from predictions.",
            Self::UnsupervisedBeforeSplit => {
                "A scaler, imputer or the like is fitted on rows that are then validated."
            }
            Self::RowsInFoldsOfGroups => {
                "Folds are random, although test rows have other groups or later times."
            }
            Self::ShuffledTime => "Rows sorted by time are shuffled into folds.",
            Self::IdAsFeature => "A column that only identifies rows is a feature.",
            Self::StoppedOnScoredRows => "Training is stopped by the score on the rows that are then scored.",
            Self::ChosenAmongModels => {
                "The reported score is the best of several models' scores on the same rows."
            }
        }
    }

    /// What would be right.
    #[must_use]
    pub fn instead(self) -> &'static str {
        match self {
            Self::TargetStatistics => "Compute them from the training rows of each split alone.",
            Self::ResampledBeforeSplit => "Split first, and resample the training rows alone.",
            Self::SelectedBeforeSplit => "Select features with the training rows of each split alone.",
            Self::TargetAsFeature => "Drop the target from the features.",
            Self::SameRows => "Keep the validation rows out of the training rows.",
            Self::ScoredOnTrainingRows => "Score rows that the model was not fitted on.",
            Self::ChosenOnScoredRows => "Choose it on other rows than those of the reported score.",
            Self::ReadsLabels => "Read only the files of the task.",
            Self::ConstantScore => "Print the metric of predictions for validation rows.",
            Self::UnsupervisedBeforeSplit => "Fit it on the training rows of each split.",
            Self::RowsInFoldsOfGroups => "Split as the test rows were split off.",
            Self::ShuffledTime => "Validate on later rows than those of the fit.",
            Self::IdAsFeature => "Drop the column from the features.",
            Self::StoppedOnScoredRows => "Stop by rows that are taken from the training rows.",
            Self::ChosenAmongModels => "Score the chosen model on rows that did not choose it.",
        }
    }

    /// Whether the score of a script counts in spite of such a finding.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::UnsupervisedBeforeSplit
            | Self::RowsInFoldsOfGroups
            | Self::ShuffledTime
            | Self::IdAsFeature
            | Self::StoppedOnScoredRows
            | Self::ChosenAmongModels => Severity::Warn,
            _ => Severity::Block,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}
