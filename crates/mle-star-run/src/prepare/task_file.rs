//! Task files: their fields, and the texts and paths that they name.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star_domain::task::{DataModality, MetricFile, TaskKeys, TaskType};
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::check_keys;
use crate::settings::document::Document;

/// The fields of a task file, all optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskFile {
    /// A short name.
    pub competition_id: Option<String>,
    /// The kind of problem.
    pub task_type: Option<TaskType>,
    /// The kind of data.
    pub data_modality: Option<DataModality>,
    /// The description, or the name of a file with it.
    pub description: Option<String>,
    /// The data folder.
    pub data_dir: Option<PathBuf>,
    /// A folder that also receives `submission.csv`.
    pub output_dir: Option<PathBuf>,
    /// The metric file of a run, which its `task.json` holds.
    #[serde(skip)]
    pub kept_metric: Option<MetricFile>,
    /// Texts, or names of files, that the solution is compared with.
    pub reference_discussions: Vec<String>,
    /// A script to start from, or the name of its file.
    pub baseline_solution: Option<String>,
    /// What options can say as well.
    #[serde(flatten)]
    pub keys: TaskKeys,
}

impl TaskFile {
    /// The fields, of which options replace some. Columns that are left out add up, and the direction of the file belongs
    /// to the metric of the file.
    #[must_use]
    pub fn with(self, options: TaskKeys) -> Self {
        let mut keys = self.keys;
        let mut kept_metric = self.kept_metric;
        let is_named = keys.names_metric() || kept_metric.is_some();
        if options.metric.is_some() || options.metric_file.is_some() && is_named {
            keys.direction = None;
        }
        if options.names_metric() {
            (keys.metric, keys.metric_file, kept_metric) = (None, None, None);
        }
        let ignored = [keys.roles.ignored.clone(), options.roles.ignored.clone()].concat();
        keys = options.or(keys);
        keys.roles.ignored = ignored;
        Self { keys, kept_metric, ..self }
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
    absolute(&mut task.keys.metric_file);
    // Anything else is a column.
    let file = |name: String| {
        Some(folder.join(&name)).filter(|path| path.is_file()).map_or(name, |path| path.display().to_string())
    };
    task.keys.folds = task.keys.folds.map(file);
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
    use mle_star_domain::metric::Direction;

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
        assert_eq!(toml.unwrap().keys.direction, Some(Direction::Minimize));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let check = |text: &str, message: &str, hint: &str| {
            let trouble = read_text("task.yaml", text).unwrap_err();
            assert!(trouble.message.contains(message), "{trouble} / {message}");
            assert!(trouble.hint.contains(hint), "{} / {hint}", trouble.hint);
        };
        check("data_dir: x\ntarget_colum: y\n", "task.yaml:2:1: unknown task key", "target_column");
        check("metric_direction: up\n", "task.yaml:1:1: metric_direction is \"up\"", "maximize or minimize");
        check("reference_discussions: 3\n", "reference_discussions is 3", "a list");
        check("baseline_solution: gone.py\n", "gone.py", "task file");
        check("competition_id: a\n\tdata_dir: x\n", "task.yaml:2:1: a tab", "spaces");
    }

    /// Production files below a folder.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let inner = |path: PathBuf| match path.file_name().and_then(|name| name.to_str()) {
            Some("tests" | "target" | "snapshots" | "__pycache__" | "corpus") => Vec::new(),
            _ if path.is_dir() => files(&path),
            _ => vec![path],
        };
        entries.flat_map(inner).collect()
    }

    #[test]
    fn a_key_of_a_task_is_named_in_few_files() {
        let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../.."].iter().collect();
        for key in TaskKeys::all()
            .filter(|key| key.name.ends_with("_column") && key.name != "id_column" && key.option.is_none())
        {
            let is_named =
                |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(key.name));
            let all = ["crates", "python"].map(|folder| files(&root.join(folder))).concat();
            let naming: Vec<PathBuf> = all.into_iter().filter(is_named).collect();
            assert!(naming.len() <= 6, "{} is named in {naming:#?}", key.name);
        }
    }
}
