//! Where the predictions of the final solution are right and where they are wrong.

use serde::{Deserialize, Serialize};

/// What is found in predictions for labelled rows. Large tables are binned or sampled, so that this stays small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Which rows they are.
    pub of: DiagnosedRows,
    /// The number of rows.
    pub rows: u64,
    /// The score of all of them; `None` if the program does not compute the metric.
    pub score: Option<f64>,
    /// The score of parts of these rows, and of the rows that the search validates on; one entry for each way to divide them.
    pub parts: Vec<Parts>,
    /// What is found for each target.
    pub targets: Vec<TargetErrors>,
    /// The number of further targets.
    pub targets_left_out: u64,
    /// Actual and predicted numbers over time, of validation and of held-out rows; without series where the rows have no time.
    #[serde(default)]
    pub courses: Courses,
}

/// Actual and predicted numbers over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Courses {
    /// The column of the time.
    pub time: String,
    /// The target.
    pub target: String,
    /// The first and the last time.
    pub ends: Vec<f64>,
    /// Times at even distances between the ends, for people.
    pub labels: Vec<String>,
    /// The time that each fold and the held-out rows take.
    pub spans: Vec<Span>,
    /// The series with most predicted rows.
    pub series: Vec<Course>,
    /// The number of further series.
    pub left_out: u64,
    /// Whether points stand for several times.
    pub averages: bool,
}

/// A span of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// What lies there.
    pub name: String,
    /// From here,
    pub from: f64,
    /// to here.
    pub to: f64,
}

/// A series of numbers over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Its name; empty if there is only one.
    pub name: String,
    /// The numbers.
    pub points: Vec<CoursePoint>,
}

/// A time with the actual and the predicted number.
pub type CoursePoint = (f64, Option<f64>, Option<f64>);

/// Which rows are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosedRows {
    /// Those that the search validates on.
    #[default]
    Validation,
    /// Those that the search does not see.
    HeldOut,
}

/// The rows divided in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Which rows they are.
    pub of: DiagnosedRows,
    /// What divides them: `fold`, `period`, or the column of groups or of the time.
    pub by: String,
    /// The parts, in order.
    pub parts: Vec<PartScore>,
    /// The score of all rows by the same predictions; `None` also in files of earlier versions.
    #[serde(default)]
    pub score: Option<f64>,
    /// The number of further, smaller parts.
    pub left_out: u64,
}

/// The score of a part of the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartScore {
    /// Its name.
    pub name: String,
    /// The number of its rows.
    pub rows: u64,
    /// Its score; `None` if it has none, for example because all its rows have one class.
    pub score: Option<f64>,
}

/// What is found for one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetErrors {
    /// Its column.
    pub target: String,
    /// For classes.
    pub classes: Option<ClassErrors>,
    /// For numbers.
    pub numbers: Option<NumberErrors>,
    /// The rows with the largest loss, the largest first.
    pub worst: Vec<WorstRow>,
    /// What the loss is, in words.
    pub loss: String,
    /// Its values in each part of the labelled rows.
    #[serde(default)]
    pub split: Option<Histogram>,
}

/// The number of rows of several groups, by bars that they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Histogram {
    /// The column; empty for a target.
    pub column: String,
    /// The median of numbers, the most frequent of other values, as the table has it.
    pub typical: Option<String>,
    /// The value that each bar stands for, the empty one for all rarer values; empty for bins of numbers.
    pub values: Vec<String>,
    /// The ends of the bins, which have the same width; empty for values.
    pub ends: Vec<f64>,
    /// The ends for people.
    pub labels: Vec<String>,
    /// The groups.
    pub parts: Vec<HistogramPart>,
}

/// A group of rows in a [`Histogram`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramPart {
    /// Its name.
    pub name: String,
    /// The number of rows by bar, of a sample of large tables; empty for texts.
    pub rows: Vec<u64>,
    /// The share of rows without a value.
    #[serde(default)]
    pub missing: f64,
}

/// How classes are predicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassErrors {
    /// The classes, those that only the predictions name at the end.
    pub names: Vec<String>,
    /// The number of rows by true class, then by predicted class; empty for more than [`MAX_CLASSES`] classes, or if no
    /// class is predicted.
    pub confusion: Vec<Vec<u64>>,
    /// The probability above which a row is counted as of the second class; `None` if labels, or more classes, are predicted.
    pub threshold: Option<f64>,
    /// The curves of one class against the others: of the class that a binary metric is about, or of the classes with most
    /// rows.
    pub curves: Vec<ClassCurves>,
    /// How often predicted probabilities come true.
    pub calibration: Vec<CalibrationBin>,
    /// The class that the calibration is about; `None` if it is about the most probable class of each row.
    pub calibrated: Option<String>,
}

/// The most classes in a table of true and predicted classes.
pub const MAX_CLASSES: usize = 12;

/// The curves of one class against the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassCurves {
    /// The class.
    pub class: String,
    /// The share of its rows, from 0 to 1.
    pub share: f64,
    /// The rate of false positives and of true positives at falling thresholds.
    pub roc: Vec<[f64; 2]>,
    /// The area under it.
    pub area: f64,
    /// Recall and precision at falling thresholds.
    pub precision: Vec<[f64; 2]>,
    /// The average precision.
    pub average_precision: f64,
}

/// Rows with similar probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// The number of rows.
    pub rows: u64,
    /// Their mean probability.
    pub predicted: f64,
    /// The share of rows for which it came true.
    pub observed: f64,
    /// The 95 % interval of the share.
    pub interval: [f64; 2],
}

/// How numbers are predicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NumberErrors {
    /// Actual and predicted number of some rows.
    pub points: Vec<[f64; 2]>,
    /// The number of rows by the error, predicted minus actual; `None` in files of earlier versions.
    pub spread: Option<Histogram>,
    /// The mean of the error.
    pub mean: f64,
    /// The median of its size.
    pub median_size: f64,
    /// The size that nine of ten rows do not exceed.
    pub most: f64,
}

/// A row that is predicted badly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorstRow {
    /// Its ID.
    pub id: String,
    /// The truth.
    pub truth: String,
    /// The prediction.
    pub predicted: String,
    /// The loss.
    pub loss: f64,
    /// A few cells of the row, each with its column.
    pub cells: Vec<[String; 2]>,
}
