//! Options that say what the task is.

use std::path::PathBuf;

use clap::Args;

/// Properties of the task that are inferred from the data unless an option sets them.
#[derive(Clone, Debug, Default, Args)]
pub struct TaskArgs {
    /// Set the evaluation metric
    #[arg(short, long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Set the direction of the metric: maximize or minimize
    #[arg(long, value_name = "DIRECTION")]
    pub direction: Option<String>,
    /// Set the target column
    #[arg(short, long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Use this column as the row ID
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<String>,
    /// Keep rows with the same value of this column together in folds and held-out rows
    #[arg(long, value_name = "COLUMN")]
    pub group_column: Option<String>,
    /// Use this column as the time of each row: later rows are predicted from earlier ones
    #[arg(long, value_name = "COLUMN")]
    pub time_column: Option<String>,
    /// Use this column as the weight of each row in the metric
    #[arg(long, value_name = "COLUMN")]
    pub weight_column: Option<String>,
    /// Validate on these folds: a column of the training table, or a CSV file with row IDs and `fold`
    #[arg(long, value_name = "COLUMN|FILE")]
    pub folds: Option<String>,
    /// Leave these columns out of the features
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub ignore_columns: Vec<String>,
    /// Predict the probability of this label, of two
    #[arg(long, value_name = "LABEL")]
    pub positive_class: Option<String>,
    /// Compute the metric with this Python file
    #[arg(long, value_name = "FILE", conflicts_with = "metric")]
    pub metric_file: Option<PathBuf>,
    /// Predict this share of the rows of a single table [default: 0.2]
    #[arg(long, value_name = "SHARE")]
    pub test_share: Option<String>,
    /// Read this sheet of Excel files [default: the first]
    #[arg(long, value_name = "SHEET")]
    pub sheet: Option<String>,
}

impl TaskArgs {
    /// Each option with its config key, its name without dashes, and its value.
    pub fn options(&self) -> Vec<(&'static str, &'static str, Option<String>)> {
        // A list in brackets, as a name may have a comma.
        let ignored = (!self.ignore_columns.is_empty()).then(|| {
            match self.ignore_columns.iter().any(|name| name.contains(',')) {
                true => serde_json::json!(self.ignore_columns).to_string(),
                false => self.ignore_columns.join(","),
            }
        });
        let file = self.metric_file.as_ref().map(|path| path.display().to_string());
        vec![
            ("metric", "metric", self.metric.clone()),
            ("direction", "direction", self.direction.clone()),
            ("target", "target", self.target.clone()),
            ("id_column", "id-column", self.id_column.clone()),
            ("group_column", "group-column", self.group_column.clone()),
            ("time_column", "time-column", self.time_column.clone()),
            ("weight_column", "weight-column", self.weight_column.clone()),
            ("folds", "folds", self.folds.clone()),
            ("ignore_columns", "ignore-columns", ignored),
            ("positive_class", "positive-class", self.positive_class.clone()),
            ("metric_file", "metric-file", file),
            ("test_share", "test-share", self.test_share.clone()),
            ("sheet", "sheet", self.sheet.clone()),
        ]
    }
}
