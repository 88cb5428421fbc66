//! The task to solve.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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

/// What a user says about columns, beside target and row ID. Everything that is `None` or empty is inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnRoles {
    /// The column whose values are groups.
    pub group: Option<String>,
    /// The column with the time of each row.
    pub time: Option<String>,
    /// The column with the weight of each labelled row in the metric.
    pub weight: Option<String>,
    /// Columns that are no features.
    pub ignored: Vec<String>,
    /// The label whose probability is predicted, of two labels.
    pub positive_class: Option<String>,
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
    pub fn told(&self) -> Value {
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

impl ColumnRoles {
    /// Whether a column has one of these roles.
    pub fn has(&self, name: &str) -> bool {
        let named = [&self.group, &self.time, &self.weight];
        named.into_iter().flatten().chain(&self.ignored).any(|column| column == name)
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
    /// The column to predict, or a list of several.
    #[serde(default)]
    pub target_column: Option<Targets>,
    /// The column with the row IDs.
    #[serde(default)]
    pub id_column: Option<String>,
    /// The column whose values are groups: rows of one group depend on each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_column: Option<String>,
    /// The column with the time of each row: test rows are later than training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_column: Option<String>,
    /// The column with the weight of each labelled row in the metric: numbers from 0 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_column: Option<String>,
    /// The folds of the validation: a column of the training table, or the path of a CSV file with row IDs and `fold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<String>,
    /// Columns that are no features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_columns: Vec<String>,
    /// The label whose probability is predicted, of two labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive_class: Option<String>,
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
        self.target_column.as_ref().and_then(Targets::first)
    }

    /// What scripts must do because of the roles of columns, one sentence each. Groups and times are told with the split.
    pub fn column_rules(&self) -> Vec<String> {
        let names: Vec<String> = self.ignore_columns.iter().map(|name| format!("`{name}`")).collect();
        let ignored = (!names.is_empty()).then(|| {
            format!("Do not use {} in any way, not even for joins: the user excluded it.", names.join(", "))
        });
        let weight = self.weight_column.as_ref().map(|name| {
            format!(
                "Each labelled row counts by its weight in `{name}`. Weight every score with it (`sample_weight=` in scikit-learn), and fit with it where the model takes weights. `{name}` is no feature, and the test table need not have it."
            )
        });
        let texts = self.text_columns.iter().map(TextColumn::rule);
        let positive = self.positive_class.as_ref().map(|label| {
            format!("A predicted probability or score is that of the label `{label}`, and so is F1: higher means `{label}`, in validation and in the submission.")
        });
        ignored.into_iter().chain(weight).chain(positive).chain(texts).collect()
    }

    /// The roles of its columns beside target and row ID.
    pub fn column_roles(&self) -> ColumnRoles {
        ColumnRoles {
            group: self.group_column.clone(),
            time: self.time_column.clone(),
            weight: self.weight_column.clone(),
            ignored: self.ignore_columns.clone(),
            positive_class: self.positive_class.clone(),
        }
    }
}
