//! Findings and their rules.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

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

/// Declares the rules, one a row: name, whether it blocks, name in JSON, what it finds, and what would be right.
macro_rules! rules {
    ($($rule:ident, $blocks:literal, $id:literal, $description:literal, $instead:literal;)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule {
            $(#[doc = $description] $rule,)*
        }

        impl Rule {
            /// All rules, those that block first.
            pub const ALL: [Self; [$($id),*].len()] = [$(Self::$rule),*];

            /// The name of the rule, as in JSON.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$rule => $id),* }
            }

            /// What the rule finds, in one line.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$rule => $description),* }
            }

            /// What would be right.
            #[must_use]
            pub fn instead(self) -> &'static str {
                match self { $(Self::$rule => $instead),* }
            }

            /// The rule in Markdown: why it matters, a script that leaks, and one that does not.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$rule => include_str!(concat!("rules/", $id, ".md"))),* }
            }

            /// Whether the score of a script does not count because of such a finding.
            #[must_use]
            pub fn blocks(self) -> bool {
                match self { $(Self::$rule => $blocks),* }
            }
        }
    };
}

rules! {
    TargetStatistics, true, "target-statistics", "A feature is computed with the target of rows that are then validated.", "Compute them from the training rows of each split alone.";
    ResampledBeforeSplit, true, "resampled-before-split", "Rows are repeated or generated before the split into folds.", "Split first, and resample the training rows alone.";
    SelectedBeforeSplit, true, "selected-before-split", "Features are selected with the target of rows that are then validated.", "Select features with the training rows of each split alone.";
    TargetAsFeature, true, "target-as-feature", "The target itself is a feature.", "Drop the target from the features.";
    SameRows, true, "same-rows", "The same rows are in training and in validation.", "Keep the validation rows out of the training rows.";
    ScoredOnTrainingRows, true, "scored-on-training-rows", "The score is computed on rows that the model was fitted on.", "Score rows that the model was not fitted on.";
    ChosenOnScoredRows, true, "chosen-on-scored-rows", "A threshold, weight or seed is chosen by the very score that is reported.", "Choose it on other rows than those of the reported score.";
    ReadsLabels, true, "reads-labels", "The script reads a file of held-out labels.", "Read only the files of the task.";
    ConstantScore, true, "constant-score", "The reported score does not come from predictions.", "Print the metric of predictions for validation rows.";
    UnsupervisedBeforeSplit, false, "unsupervised-before-split", "A scaler, imputer or the like is fitted on rows that are then validated.", "Fit it on the training rows of each split.";
    RowsInFoldsOfGroups, false, "rows-in-folds-of-groups", "Folds are random, although test rows have other groups or later times.", "Split as the test rows were split off.";
    ShuffledTime, false, "shuffled-time", "Rows sorted by time are shuffled into folds.", "Validate on later rows than those of the fit.";
    IdAsFeature, false, "id-as-feature", "A column that only identifies rows is a feature.", "Drop the column from the features.";
    StoppedOnScoredRows, false, "stopped-on-scored-rows", "Training is stopped by the score on the rows that are then scored.", "Stop by rows that are taken from the training rows.";
    ChosenAmongModels, false, "chosen-among-models", "The reported score is the best of several models' scores on the same rows.", "Score the chosen model on rows that did not choose it.";
    AllowWithoutReason, false, "allow-without-reason", "A comment allows a finding without a reason, or names no rule.", "Write `# mle-star: allow RULE: reason`.";
}

impl Rule {
    /// The rule of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.id() == name)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}
