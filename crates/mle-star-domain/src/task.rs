//! The task to solve.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::config::Key;
use crate::keys;
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

keys! {
    /// What columns are for. Everything that is `None` or empty is inferred.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    pub struct Roles {
        /// The column to predict, or a list of several.
        target as "target_column" or "target": Option<Targets> = None,
            text(), named("target", Some('t')), option("COLUMN", "Set the target column");
        /// The column with the row IDs.
        id as "id_column" or "id": Option<String> = None,
            text(), option("COLUMN", "Use this column as the row ID");
        /// The column whose values are groups: rows of one group depend on each other.
        group as "group_column" or "group": Option<String> = None,
            text(), option("COLUMN", "Keep rows with the same value of this column together in folds and held-out rows");
        /// The column with the time of each row: test rows are later than training rows.
        time as "time_column" or "time": Option<String> = None,
            text(), option("COLUMN", "Use this column as the time of each row: later rows are predicted from earlier ones");
        /// The column with the weight of each labelled row in the metric: numbers from 0 on.
        weight as "weight_column" or "weight": Option<String> = None,
            text(), option("COLUMN", "Use this column as the weight of each row in the metric");
        /// Columns that are no features.
        ignored as "ignore_columns" or "ignored": Vec<String> = Vec::new(),
            list(), option("A,B", "Leave these columns out of the features");
        /// The label whose probability is predicted, of two labels.
        positive as "positive_class" or "positive": Option<String> = None,
            text(), option("LABEL", "Predict the probability of this label, of two");
    }
}

keys! {
    /// What a user says of a task, in options, a config file or a task file. Everything that is `None` is inferred.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct TaskKeys {
        /// The metric's name.
        metric as "evaluation_metric" or "metric": Option<String> = None,
            text(), named("metric", Some('m')), option("NAME", "Set the evaluation metric");
        /// Which scores win.
        direction as "metric_direction" or "direction": Option<Direction> = None,
            named("direction", None), option("DIRECTION", "Set the direction of the metric: maximize or minimize");
        /// A Python file that computes the metric.
        metric_file: Option<PathBuf> = None, path(), option("FILE", "Compute the metric with this Python file");
        /// The folds: a column of the training table, or a CSV file with row IDs and `fold`.
        folds: Option<String> = None,
            text(), option("COLUMN|FILE", "Validate on these folds: a column of the training table, or a CSV file with row IDs and `fold`");
        /// The share of the rows of a single table that become its test table.
        test_share: Option<f64> = None,
            option("SHARE", "Predict this share of the rows of a single table [default: 0.2]");
        /// The sheet of Excel files.
        sheet: Option<String> = None, text(), option("SHEET", "Read this sheet of Excel files [default: the first]");
        + /// The roles of columns.
        roles: Roles;
    }
}

impl TaskKeys {
    /// All keys, those of the roles first.
    pub fn all() -> impl Iterator<Item = &'static Key> {
        Roles::KEYS.iter().chain(Self::KEYS)
    }

    /// The key with this name, in a task file or as an option.
    pub fn key(name: &str) -> Option<&'static Key> {
        Self::all().find(|key| key.name == name || key.option == Some(name))
    }

    /// Whether they say what the metric is.
    pub fn names_metric(&self) -> bool {
        self.metric.is_some() || self.metric_file.is_some()
    }
}

/// A Python file that computes the metric, as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricFile {
    /// The name of the file, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Modules beside it that it imports: names of files with their texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<(String, String)>,
    /// The columns of the table with the true values that it is called with.
    #[serde(default)]
    pub answers: Answers,
}

impl MetricFile {
    /// The file as the data plane is told of it.
    pub fn to_json(&self) -> Value {
        let modules: Map<String, Value> =
            self.modules.iter().map(|(name, text)| (name.clone(), text.clone().into())).collect();
        json!({ "name": self.name, "text": self.text, "modules": modules, "answers": self.answers })
    }
}

/// The columns of the table with the true values that a metric file is called with, beside the row ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// The targets.
    #[default]
    Targets,
    /// The columns of the submission: the target under their name, or a column for each class that holds 1 or 0.
    Submission,
    /// The columns of the training table that the file names, or the targets if it names none of them, with those columns.
    Named,
    /// All columns of the training table, and those of the submission.
    All,
}

impl Roles {
    /// The first of the columns to predict.
    pub fn first_target(&self) -> Option<&str> {
        self.target.as_ref().and_then(Targets::first)
    }

    /// Whether a column has a role beside target and row ID.
    pub fn has(&self, name: &str) -> bool {
        self.time.iter().any(|column| column == name) || self.is_no_feature(name)
    }

    /// Whether no model may use a column: it is ignored, has the weights, or names groups. A time can be a feature.
    pub fn is_no_feature(&self, name: &str) -> bool {
        let named = [&self.group, &self.weight];
        named.into_iter().flatten().chain(&self.ignored).any(|column| column == name)
    }
}

/// What a run takes a column for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnRole {
    /// Its name.
    pub column: String,
    /// `target`, `id`, `group`, `time`, `weight`, `ignored`, `feature`, `only in train` or `only in test`.
    pub role: String,
    /// The kind of its values: `integer`, `number`, `boolean`, `date`, `category`, `text` or `empty`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The reason for its role.
    pub why: String,
}

/// A column whose cells are read as text, letter by letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextColumn {
    /// Its name.
    pub column: String,
    /// The words that look missing, such as `NA` and `None`, but are values of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The reason, in a few words.
    pub why: String,
}

/// The columns to predict: a text in files, or a list of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Targets {
    /// One column.
    One(String),
    /// Several columns.
    Several(Vec<String>),
}

impl Targets {
    /// All of them.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// The first of them.
    pub fn first(&self) -> Option<&str> {
        self.all().first().map(String::as_str)
    }
}

impl From<String> for Targets {
    fn from(name: String) -> Self {
        Self::One(name)
    }
}

impl From<Vec<String>> for Targets {
    fn from(names: Vec<String>) -> Self {
        match <[String; 1]>::try_from(names) {
            Ok([only]) => Self::One(only),
            Err(names) => Self::Several(names),
        }
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.all().join(", "))
    }
}

/// A task with every inferred value and the contents of its files, as in `task.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The roles of its columns.
    #[serde(flatten)]
    pub roles: Roles,
    /// The folds of the validation: a column of the training table, or the path of a CSV file with row IDs and `fold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<String>,
    /// Columns that are read as text, and words in them that look missing but are values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_columns: Vec<TextColumn>,
    /// What the columns of the tables are taken for, the features of wide tables in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnRole>,
    /// The Python file that computes the metric; `None` for a metric that the program knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric_file: Option<MetricFile>,
    /// Texts that the final solution is compared with, to see whether it was copied.
    #[serde(default)]
    pub reference_discussions: Vec<String>,
    /// A Python script to start from, as one more candidate of Phase 1.
    #[serde(default)]
    pub baseline_solution: Option<String>,
}

impl TextColumn {
    /// The words that look missing but are values of columns that `is_wanted` selects.
    pub fn words_of(columns: &[Self], is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = columns.iter().filter(|column| is_wanted(&column.column));
        wanted.flat_map(|column| column.words.clone()).collect()
    }

    /// How scripts read the column, in a few sentences.
    pub fn rule(&self) -> String {
        let name = &self.column;
        // A JSON text is a text in Python as well.
        let literal = serde_json::Value::from(name.as_str());
        let quoted: Vec<String> = self.words.iter().map(|word| format!("`{word}`")).collect();
        let are = match quoted.as_slice() {
            [] => {
                return format!(
                    "Values of `{name}` are text, also where they look like numbers: read every table that has the column with `dtype={{{literal}: str}}`."
                );
            }
            [word] => format!("{word} is a value of `{name}`, not a missing one"),
            words => format!("{} are values of `{name}`, not missing ones", words.join(", ")),
        };
        format!(
            "{are}, but pandas reads it as missing. Read the column of every table again, as text: `table[{literal}] = pd.read_csv(path, usecols=[{literal}], dtype=str, keep_default_na=False, na_values=[\"\"])[{literal}]`. Only its empty cells are missing then."
        )
    }
}

impl Task {
    /// The column to predict, the first of several.
    pub fn target(&self) -> Option<&str> {
        self.roles.first_target()
    }

    /// What scripts must do because of the roles of columns, one sentence each. Groups and times are told with the split.
    pub fn column_rules(&self) -> Vec<String> {
        let names: Vec<String> = self.roles.ignored.iter().map(|name| format!("`{name}`")).collect();
        let ignored = (!names.is_empty()).then(|| {
            format!("Do not use {} in any way, not even for joins: the user excluded it.", names.join(", "))
        });
        let weight = self.roles.weight.as_ref().map(|name| {
            format!(
                "Each labelled row counts by its weight in `{name}`. Weight every score with it (`sample_weight=` in scikit-learn), and fit with it where the model takes weights. `{name}` is no feature, and the test table need not have it."
            )
        });
        let texts = self.text_columns.iter().map(TextColumn::rule);
        let positive = self.roles.positive.as_ref().map(|label| {
            format!("A predicted probability or score is that of the label `{label}`, and so is F1: higher means `{label}`, in validation and in the submission.")
        });
        ignored.into_iter().chain(weight).chain(positive).chain(texts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_name_in_files_and_another_as_an_option() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(TaskKeys::key(name).map(|key| key.name), expected, "{name}");
        };
        check("target", Some("target_column"));
        check("target_column", Some("target_column"));
        check("weight_column", Some("weight_column"));
        check("weight", None);
    }
}
