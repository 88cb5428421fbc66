//! The rules, each in a file of its own, which finds its causes from what is known of the reported scores. The page beside
//! it says its name, whether it is a leak or a warning, and what would be right, with a script that leaks and one that does
//! not.
//!
//! A new rule is such a file and page, its `mod`, and its row in the table.

mod allow_without_reason;
mod chosen_among_models;
mod chosen_on_scored_rows;
mod constant_score;
mod id_as_feature;
mod reads_labels;
mod resampled_before_split;
mod rows_in_folds_of_groups;
mod same_rows;
mod scored_on_training_rows;
mod selected_before_split;
mod shuffled_time;
mod stopped_on_scored_rows;
mod target_as_feature;
mod target_statistics;
mod unsupervised_before_split;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::report::{Cause, Report};

/// Declares the rules, one a row: its name and its file.
macro_rules! rules {
    ($($rule:ident $file:ident;)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule {
            $(#[doc = include_str!(concat!(stringify!($file), ".md"))] $rule,)*
        }

        impl Rule {
            /// All rules, those that block first.
            pub const ALL: [Self; [$(Self::$rule),*].len()] = [$(Self::$rule),*];

            /// The places where it finds a cause.
            pub(crate) fn find(self, report: &Report<'_>) -> Vec<Cause> {
                match self { $(Self::$rule => $file::find(report)),* }
            }

            /// Its page in Markdown: what it finds and why that matters, a script that leaks, and one that does not.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$rule => include_str!(concat!(stringify!($file), ".md"))),* }
            }
        }
    };
}

rules! {
    TargetStatistics target_statistics;
    ResampledBeforeSplit resampled_before_split;
    SelectedBeforeSplit selected_before_split;
    TargetAsFeature target_as_feature;
    SameRows same_rows;
    ScoredOnTrainingRows scored_on_training_rows;
    ChosenOnScoredRows chosen_on_scored_rows;
    ReadsLabels reads_labels;
    ConstantScore constant_score;
    UnsupervisedBeforeSplit unsupervised_before_split;
    RowsInFoldsOfGroups rows_in_folds_of_groups;
    ShuffledTime shuffled_time;
    IdAsFeature id_as_feature;
    StoppedOnScoredRows stopped_on_scored_rows;
    ChosenAmongModels chosen_among_models;
    AllowWithoutReason allow_without_reason;
}

impl Rule {
    /// The name of the rule, as in JSON.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.heading().0
    }

    /// What the rule finds, in one line.
    #[must_use]
    pub fn description(self) -> &'static str {
        self.lines().nth(2).unwrap_or_default()
    }

    /// What would be right.
    #[must_use]
    pub fn instead(self) -> &'static str {
        self.lines().skip_while(|line| *line != "## Instead").nth(2).unwrap_or_default()
    }

    /// Whether the score of a script does not count because of such a finding.
    #[must_use]
    pub fn blocks(self) -> bool {
        self.heading().1 == "(leak)"
    }

    /// The rule of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.id() == name)
    }

    /// The name and the severity, which are the heading of the page.
    fn heading(self) -> (&'static str, &'static str) {
        let heading = self.lines().next().and_then(|line| line.strip_prefix("# ")?.split_once(' '));
        heading.unwrap_or_default()
    }

    fn lines(self) -> std::str::Lines<'static> {
        self.explanation().lines()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}
