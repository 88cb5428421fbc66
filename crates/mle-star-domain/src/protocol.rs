//! The evaluation protocol of a run: how validation rows are chosen, and which rows the program keeps from scripts.

mod new_series;
mod validation;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use new_series::NewSeries;
pub use validation::Detail;

use crate::measure::interval::MIN_PERIODS;

/// The ROC-AUC from which training and test rows are said to differ.
const NOTABLE: f64 = 0.6;

/// How solutions are evaluated. Fixed when a run is created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// How the test rows differ from the training rows, and so how validation rows should; `None` if there are no tables
    /// to compare.
    pub split: Option<Split>,
    /// The labelled rows that no script sees before the final choice.
    pub holdout: Holdout,
    /// The rows of the training table; 0 if there is none.
    #[serde(default)]
    pub rows: u64,
    /// Whether the program can compute scores itself from a script's predictions.
    pub verifies: bool,
    /// Why it cannot, in one sentence; `None` if it can, or if the run was made by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// Whether scripts are asked for the scores of classes beside the labels that they predict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub class_scores: bool,
    /// What the metric computes, where its name leaves that open; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub formula: String,
    /// Whether the metric depends on the order of predictions alone, not on their size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_order: bool,
    /// The program's own script that compares training and test table; empty if they cannot be compared.
    pub comparison: String,
    /// The program's own solutions, one for each of [`BASELINES`](crate::place::BASELINES); none if it has none for the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<String>,
    /// Whether solutions are evaluated as in the paper. Only the test rows of a single table, if there are any, are scored by
    /// the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_papers: bool,
    /// The columns to predict; none if the task's target column is all that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// For a split by time, the periods that validation and held-out rows lie in; `None` otherwise, or if the training time
    /// is too short for one period beside the first training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub periods: Option<Periods>,
    /// Whether scripts find the folds in `input/folds.csv`: the row ID and `fold`, from 0. Rows that no fold validates are
    /// not in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_folds_file: bool,
    /// The folds that the user gave; `None` if the program chose them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_folds: Option<GivenFolds>,
    /// Whether solutions that validated on different rows are compared on the rows of both wherever one is chosen over another.
    /// In a run of an earlier version, they are only where one replaces another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub like_rows: bool,
    /// Whether a validation score is the mean over the periods of their scores, as the test table is one of them. Otherwise it
    /// is of all rows together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mean_over_periods: bool,
}

/// Folds that the user gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenFolds {
    /// The column or the file.
    pub from: String,
    /// How many there are.
    pub count: u8,
}

/// The training time in periods like that of the test table: as long, and with the same gap before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Periods {
    /// The whole time of the training table.
    pub train: Period,
    /// The period of the test table.
    pub test: Period,
    /// The held-out period, which is the test table of the search; `None` if no rows are held out.
    pub held_out: Option<Period>,
    /// The periods that are validated, the earliest first: fold 0, 1, and so on. Each is validated by models of rows that are
    /// earlier by at least the gap.
    pub folds: Vec<Period>,
    /// How long a period is, in words, such as `28 days` or `12 steps of week`.
    pub length: String,
    /// The time between the last training row and the first row of a period beyond the usual step, in words; empty if there is
    /// none.
    pub gap: String,
    /// The same in the column's unit, in seconds for dates; 0 if there is none.
    pub gap_size: f64,
    /// The series of test rows that training rows do not have, if the test table has clearly more of them than earlier periods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_series: Option<NewSeries>,
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Period {
    /// The first time of its rows, as in the table.
    pub from: String,
    /// The last time of its rows, as in the table.
    pub to: String,
    /// The same times as numbers: seconds for dates, else the column's values; stretches where series end at times of their
    /// own.
    #[serde(default)]
    pub at: [f64; 2],
    /// The number of its rows.
    pub rows: u64,
}

/// How the test rows differ from the training rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Split {
    /// The kind of difference.
    pub kind: SplitKind,
    /// The column of the groups or of the time.
    pub column: Option<String>,
    /// The reason, in one sentence.
    pub why: String,
    /// By time, the column of groups that stay whole, each as late as its first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// By time, the columns of series that each end at their own time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
    /// Whether rows to predict lie between training rows of their series.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within: bool,
    /// Whether the user named the column.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
}

/// How rows are divided into parts for training and validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SplitKind {
    /// At random.
    #[default]
    Rows,
    /// At random, with the same share of each class in each part.
    Stratified,
    /// By whole groups: the test table has other groups than the training table.
    Groups,
    /// By time: the rows of the test table are later.
    Time,
}

/// The labelled rows that no script sees before the final choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Holdout {
    /// None.
    Off {
        /// The reason, in one sentence.
        why: String,
    },
    /// Some rows of the training table, without labels in the test table that scripts see.
    On {
        /// Their number.
        rows: u64,
        /// The number of labelled rows before.
        of: u64,
        /// The seed that chose them.
        seed: u64,
        /// A digest of their IDs.
        digest: String,
        /// Whether they are the whole test table of the search: a period of time that is as far from the remaining training
        /// rows as the real test rows are from all. Otherwise the real test rows are in that table, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        period: bool,
    },
    /// All rows of the test table, which the program took from a single table. Their labels are known to the program alone,
    /// and the submission predicts them.
    Test {
        /// Their number.
        rows: u64,
        /// The number of labelled rows of the single table.
        of: u64,
        /// The seed that chose them.
        seed: u64,
        /// A digest of their IDs.
        digest: String,
    },
}

impl Default for Holdout {
    fn default() -> Self {
        Self::Off { why: String::new() }
    }
}

/// The columns of a table with labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelColumns {
    /// The column that names the rows; `None` if the row's number does, from 0.
    pub id: Option<String>,
    /// The column with the labels.
    pub target: String,
    /// Further columns with labels. The score is the mean over all targets.
    pub further: Vec<String>,
    /// The column whose equal values make rows dependent, such as a group or a day. Such rows have the same weight in a
    /// replicate.
    pub cluster: Option<String>,
    /// The column with row weights, which are part of every score. `None` if all rows count the same.
    pub weight: Option<String>,
    /// The class that a binary metric is about, and a single column of probabilities. `None` for the usual one.
    pub positive: Option<String>,
    /// Words that look missing, such as `None`, but are labels.
    pub words: Vec<String>,
}

impl LabelColumns {
    /// The columns with the name and the label of a row.
    pub fn new(id: Option<String>, target: impl Into<String>) -> Self {
        Self { id, target: target.into(), ..Self::default() }
    }
}

/// A part of the held-out rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HoldoutPart {
    /// All of them.
    Whole,
    /// The half by which the final solution is chosen.
    Choosing,
    /// The half whose score is reported.
    Reporting,
}

/// How well training and test rows can be told apart (adversarial validation).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// ROC-AUC of a classifier that tells test rows from training rows; 0.5 if it cannot.
    pub auc: f64,
    /// The columns that tell them apart, most telling first.
    #[serde(default)]
    pub columns: Vec<TellingColumn>,
    /// The columns whose relation to the target can exist in the training table only.
    #[serde(default)]
    pub suspicious: Vec<SuspiciousColumn>,
    /// The rows that were compared.
    #[serde(default)]
    pub rows: u64,
}

/// A column that tells test rows from training rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TellingColumn {
    /// Its name.
    pub column: String,
    /// ROC-AUC of a classifier that sees this column alone.
    pub auc: f64,
}

/// A column whose relation to the target can exist in the training table only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuspiciousColumn {
    /// Its name.
    pub column: String,
    /// The reason, in one sentence.
    pub why: String,
}

impl SplitKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Stratified => "stratified",
            Self::Groups => "groups",
            Self::Time => "time",
        }
    }
}

impl Protocol {
    /// The column whose equal values make rows dependent.
    pub fn cluster(&self) -> Option<&str> {
        self.split.as_ref()?.cluster_of(self.periods.as_ref().map_or(0, Periods::count))
    }

    /// Whether the test rows are later than the training rows.
    pub fn tests_later(&self) -> bool {
        self.split.as_ref().is_some_and(|split| split.kind == SplitKind::Time)
    }
}

impl Periods {
    /// The number of periods with scores.
    pub fn count(&self) -> usize {
        self.folds.len() + usize::from(self.held_out.is_some())
    }
}

impl Period {
    /// The period in a few words.
    pub fn words(&self) -> String {
        if self.from == self.to { self.from.clone() } else { format!("{} to {}", self.from, self.to) }
    }
}

impl Split {
    /// The split in a few words.
    pub fn words(&self) -> String {
        let column = self.column.as_deref().unwrap_or_default();
        match self.kind {
            SplitKind::Rows => "rows at random".to_owned(),
            SplitKind::Stratified => "rows at random, stratified".to_owned(),
            SplitKind::Groups => format!("whole groups by `{column}`"),
            SplitKind::Time if !self.series.is_empty() => {
                format!("the last rows by `{column}` of each series by {}", self.series_words())
            }
            SplitKind::Time => match &self.groups {
                Some(groups) => format!("whole groups by `{groups}`, the later ones by `{column}`"),
                None => format!("later rows by `{column}`"),
            },
        }
    }

    /// The column whose equal values make rows dependent: that of the groups, else that of the time.
    pub fn cluster(&self) -> Option<&str> {
        self.groups.as_deref().or(self.column.as_deref())
    }

    /// The same if so many periods have scores. Few periods do not show how scores vary: then rows of one series belong together,
    /// if one column names the series.
    pub fn cluster_of(&self, periods: usize) -> Option<&str> {
        match &self.series[..] {
            [series] if periods < MIN_PERIODS => Some(series),
            _ => self.cluster(),
        }
    }

    /// Whether series end at times of their own.
    pub fn has_own_ends(&self) -> bool {
        !self.series.is_empty()
    }

    /// The columns that name series, in words.
    pub fn series_words(&self) -> String {
        self.series.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
    }
}

impl HoldoutPart {
    /// The name in places and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Choosing => "choosing",
            Self::Reporting => "reporting",
        }
    }
}

impl Holdout {
    /// Whether rows of the training table are held out, beside the test table.
    pub fn is_on(&self) -> bool {
        matches!(self, Self::On { .. })
    }

    /// Whether scripts of the search predict an earlier period instead of the real test rows.
    pub fn is_period(&self) -> bool {
        matches!(self, Self::On { period: true, .. })
    }

    /// Whether the labels of the test table are known to the program.
    pub fn is_test(&self) -> bool {
        matches!(self, Self::Test { .. })
    }

    /// The number of rows whose labels are known to the program alone; `None` if there are none.
    pub fn rows(&self) -> Option<u64> {
        match self {
            Self::On { rows, .. } | Self::Test { rows, .. } => Some(*rows),
            Self::Off { .. } => None,
        }
    }

    /// The digest of the IDs of these rows; `None` if there are none.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Self::On { digest, .. } | Self::Test { digest, .. } => Some(digest),
            Self::Off { .. } => None,
        }
    }
}

impl Shift {
    /// The last line of a script's output that is one; `None` without such a line.
    pub fn parse(stdout: &str) -> Option<Self> {
        let object = |line: &&str| line.starts_with('{');
        let mut lines = stdout.lines().map(str::trim).filter(object).rev();
        lines.find_map(|line| {
            serde_json::from_str(line).ok().filter(|shift: &Self| (0.0..=1.0).contains(&shift.auc))
        })
    }

    /// What was found, for data scientists; nothing if the tables are alike.
    pub fn sentences(&self) -> Vec<String> {
        let told = (self.auc >= NOTABLE).then(|| {
            format!(
                "A classifier tells test rows from training rows with ROC-AUC {:.2}, {}.",
                self.auc,
                self.by()
            )
        });
        let suspicious =
            self.suspicious.iter().map(|found| format!("Do not use `{}`: {}", found.column, found.why));
        told.into_iter().chain(suspicious).collect()
    }

    fn by(&self) -> String {
        let names: Vec<String> =
            self.columns.iter().take(3).map(|telling| format!("`{}`", telling.column)).collect();
        match names.split_last() {
            None => "by several columns together".to_owned(),
            Some((only, [])) => format!("mostly by {only}"),
            Some((last, others)) => format!("mostly by {} and {last}", others.join(", ")),
        }
    }
}
