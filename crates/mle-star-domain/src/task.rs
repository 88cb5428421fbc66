//! The task to solve.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Direction;

/// The kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum TaskType {
    Classification,
    Regression,
    ImageClassification,
    ImageToImage,
    TextClassification,
    AudioClassification,
    SequenceToSequence,
    Tabular,
}

/// The kind of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum DataModality {
    Tabular,
    Image,
    Text,
    Audio,
    Mixed,
}

/// A task with every inferred value and the contents of its files, as in `task.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// A short name, for example `spaceship-titanic`.
    pub competition_id: String,
    /// The kind of problem.
    pub task_type: TaskType,
    /// The kind of data.
    pub data_modality: DataModality,
    /// The metric's name as the task gives it, for example `accuracy` or `RMSE`.
    pub evaluation_metric: String,
    /// Which scores win.
    pub metric_direction: Direction,
    /// The description of the task; agents see it unchanged.
    pub description: String,
    /// The folder with the data; scripts see it as `./input`. Absolute once frozen.
    pub data_dir: PathBuf,
    /// A folder that also receives `submission.csv`; `None` for none.
    #[serde(default)]
    pub output_dir: Option<PathBuf>,
    /// The column to predict.
    #[serde(default)]
    pub target_column: Option<String>,
    /// The column with the row IDs.
    #[serde(default)]
    pub id_column: Option<String>,
    /// Texts that the final solution is compared with, to see whether it was copied.
    #[serde(default)]
    pub reference_discussions: Vec<String>,
    /// A Python script to start from, as one more candidate of Phase 1.
    #[serde(default)]
    pub baseline_solution: Option<String>,
}
