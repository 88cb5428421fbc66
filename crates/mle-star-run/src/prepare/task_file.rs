//! Task files.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star_domain::metric::Direction;
use mle_star_domain::task::{DataModality, MetricFile, Targets, TaskType};
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::check_keys;
use crate::settings::document::Document;

/// The fields of a task file, all optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskFile {
    /// A short name.
    pub competition_id: Option<String>,
    /// The kind of problem.
    pub task_type: Option<TaskType>,
    /// The kind of data.
    pub data_modality: Option<DataModality>,
    /// The metric's name.
    pub evaluation_metric: Option<String>,
    /// Whether larger or smaller scores are better.
    pub metric_direction: Option<Direction>,
    /// The description, or the name of a file with it.
    pub description: Option<String>,
    /// The data folder.
    pub data_dir: Option<PathBuf>,
    /// A folder that also receives `submission.csv`.
    pub output_dir: Option<PathBuf>,
    /// The column to predict, or a list of several.
    pub target_column: Option<Targets>,
    /// The column with the row ID.
    pub id_column: Option<String>,
    /// The column whose values are groups.
    pub group_column: Option<String>,
    /// The column with the time of each row.
    pub time_column: Option<String>,
    /// The column with the weight of each row.
    pub weight_column: Option<String>,
    /// The folds: a column of the training table, or a CSV file with row IDs and `fold`.
    pub folds: Option<String>,
    /// Columns that are no features.
    pub ignore_columns: Vec<String>,
    /// The label, of two, whose probability is predicted.
    pub positive_class: Option<String>,
    /// A Python file that computes the metric.
    pub metric_file: Option<PathBuf>,
    /// The metric file of a run, which its `task.json` holds.
    #[serde(skip)]
    pub kept_metric: Option<MetricFile>,
    /// The share of the rows of a single table that become its test table.
    pub test_share: Option<f64>,
    /// The sheet of Excel files.
    pub sheet: Option<String>,
    /// Texts, or names of files, that the solution is compared with.
    pub reference_discussions: Vec<String>,
    /// A script to start from, or the name of its file.
    pub baseline_solution: Option<String>,
}

impl TaskFile {
    /// Whether it names a metric, or a file that computes one.
    pub fn names_metric(&self) -> bool {
        self.evaluation_metric.is_some() || self.metric_file.is_some() || self.kept_metric.is_some()
    }
}

/// Fields of a run's `task.json` that a new run finds out again.
const FOUND_AGAIN: [&str; 2] = ["columns", "text_columns"];

/// Reads a task file, or the `task.json` of a run, and the files that it names; relative paths start from its folder.
///
/// # Errors
/// A file that cannot be read or parsed, an unknown key, or a value of the wrong type.
pub fn read(path: &Path) -> Result<TaskFile, Trouble> {
    let mut document = Document::read(path)?;
    document.values.retain(|key, _| !FOUND_AGAIN.contains(&key.as_str()));
    let unfit =
        |error: serde_json::Error| Trouble::new(format!("{}: {error}", path.display()), "fix the task file");
    let kept = match document.values.get("metric_file") {
        Some(Value::Object(_)) => document.values.remove("metric_file"),
        _ => None,
    };
    check_keys::<TaskFile>(&document, "task")?;
    let mut task: TaskFile = serde_json::from_value(Value::Object(document.values.clone())).map_err(unfit)?;
    task.kept_metric = kept.map(serde_json::from_value).transpose().map_err(unfit)?;
    let folder = document.folder();
    let absolute = |path: &mut Option<PathBuf>| *path = path.take().map(|path| folder.join(path));
    absolute(&mut task.data_dir);
    absolute(&mut task.output_dir);
    absolute(&mut task.metric_file);
    // Anything else is a column.
    let file = |name: String| {
        Some(folder.join(&name)).filter(|path| path.is_file()).map_or(name, |path| path.display().to_string())
    };
    task.folds = task.folds.map(file);
    task.description = task.description.map(|text| text_or_file(folder, text, "md txt rst")).transpose()?;
    task.baseline_solution =
        task.baseline_solution.map(|text| text_or_file(folder, text, "py")).transpose()?;
    let discussions = task.reference_discussions.into_iter();
    task.reference_discussions = discussions
        .map(|text| text_or_file(folder, text, "md txt rst py html ipynb"))
        .collect::<Result<_, _>>()?;
    Ok(task)
}

/// The text itself, or the contents of the file that it names: one line with one of these extensions.
fn text_or_file(folder: &Path, text: String, endings: &str) -> Result<String, Trouble> {
    let name = text.trim();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if name.contains('\n') || name.len() > 500 || !endings.split(' ').any(|known| known == ending) {
        return Ok(text);
    }
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(contents) => Ok(contents),
        // A sentence may end in "see notes.md".
        Err(_) if name.contains(' ') => Ok(text),
        Err(error) => {
            let message = format!("cannot read {}: {error}", path.display());
            Err(Trouble::new(message, "check the file's name; relative paths start from the task file"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> Result<TaskFile, Trouble> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.md"), "the words").unwrap();
        fs::write(dir.path().join(name), text).unwrap();
        read(&dir.path().join(name))
    }

    #[test]
    fn texts_are_read_from_files() {
        let task =
            read_text("task.yaml", "description: notes.md\nreference_discussions: [notes.md, plain]\n")
                .unwrap();
        assert_eq!(task.description.as_deref(), Some("the words"));
        assert_eq!(task.reference_discussions, ["the words", "plain"]);
        let toml = read_text(
            "task.toml",
            "description = \"see the file notes.txt\"\nmetric_direction = \"minimize\"\n",
        );
        assert_eq!(toml.unwrap().metric_direction, Some(Direction::Minimize));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let check = |text: &str, message: &str, hint: &str| {
            let trouble = read_text("task.yaml", text).unwrap_err();
            assert!(trouble.message.contains(message), "{trouble} / {message}");
            assert!(trouble.hint.contains(hint), "{} / {hint}", trouble.hint);
        };
        check("data_dir: x\ntarget: y\n", "task.yaml:2:1: unknown task key", "target_column");
        check("metric_direction: up\n", "task.yaml:1:1: metric_direction is \"up\"", "maximize or minimize");
        check("reference_discussions: 3\n", "reference_discussions is 3", "a list");
        check("baseline_solution: gone.py\n", "gone.py", "task file");
        check("competition_id: a\n\tdata_dir: x\n", "task.yaml:2:1: a tab", "spaces");
    }
}
