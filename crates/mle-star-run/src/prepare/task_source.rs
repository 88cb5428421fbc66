//! Finds the task that an argument names: a task file, a folder with one, or a data folder.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star::shell;
use mle_star_domain::layout;
use mle_star_domain::task::TaskKeys;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::intake::{has_tables, is_table, stem};

use crate::prepare::task_file::{self, TaskFile};

const TASK_FILES: [&str; 3] = ["task.yaml", "task.yml", "task.toml"];
const CONFIG_FILES: [&str; 3] = ["config.yaml", "config.yml", "config.toml"];
/// Subfolders with the data, in MLE-bench and beside task files.
const NESTED_DATA: [&str; 5] = ["prepared/public", "public", "data", "input", "."];
/// Files of a task, also of one without a training table.
const SIGNS: [&str; 3] = ["description.md", "sample_submission.csv", "sampleSubmission.csv"];
const TRAINING_TABLES: [&str; 3] = ["train.csv", "train.csv.zip", "train.zip"];

/// A task before anything is inferred.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSource {
    /// The task file's fields; empty for a data folder.
    pub file: TaskFile,
    /// The task file, if there is one.
    pub path: Option<PathBuf>,
    /// The data folder, or the file of a single table.
    pub data_dir: PathBuf,
    /// The default name of the task.
    pub name: String,
    /// A config file beside the task.
    pub config: Option<PathBuf>,
}

impl TaskSource {
    /// The task with what options say of it.
    #[must_use]
    pub fn with(self, options: TaskKeys) -> Self {
        Self { file: self.file.with(options), ..self }
    }
}

/// Finds the task at this path.
///
/// # Errors
/// The path does not exist or is not a task, or the task file has a mistake.
pub fn find(task: &Path) -> Result<TaskSource, Trouble> {
    let shown = task.display();
    if !task.exists() {
        let hint = "give a data folder, a table, or a task file (.yaml, .yml, .toml or .json)";
        return Err(Trouble::new(format!("no such folder or file: {shown}"), hint));
    }
    if is_of_run(task) {
        let hint = format!(
            "resume it with `mle-star resume {}`, or give the original task for a new run",
            shell::quoted(task)
        );
        return Err(Trouble::new(format!("{shown} is a run folder"), hint));
    }
    if task.is_dir() {
        return match first_of(task, &TASK_FILES) {
            Some(path) => from_file(&path),
            None => Ok(from_folder(task)),
        };
    }
    let is_task = task
        .extension()
        .is_some_and(|ending| ["yaml", "yml", "toml", "json"].iter().any(|known| ending == *known));
    if is_task {
        return from_file(task);
    }
    if is_table(task) {
        return Ok(from_table(task));
    }
    let hint = "give the folder that holds train.csv, a table (.csv, .tsv, .parquet, .xlsx, .jsonl and others), or a task file (.yaml, .toml, .json)";
    Err(Trouble::new(format!("{shown} is neither a folder, a table nor a task file"), hint))
}

/// The tasks at the given paths. A folder that is not a task is replaced by the tasks in it.
pub fn all(given: &[PathBuf]) -> Vec<PathBuf> {
    let tasks = |path: &PathBuf| match tasks_in(path) {
        tasks if tasks.is_empty() || is_task(path) || is_of_run(path) => vec![path.clone()],
        tasks => tasks,
    };
    given.iter().flat_map(tasks).collect()
}

/// The task at the given path, or the only one in it.
///
/// # Errors
/// There are several.
pub fn find_one(given: &Path) -> Result<PathBuf, Trouble> {
    let mut tasks = all(&[given.to_owned()]);
    if tasks.len() > 1 {
        let names: Vec<String> = tasks.iter().map(|task| task.display().to_string()).collect();
        let message = format!("{} holds {} tasks: {}", given.display(), tasks.len(), names.join(", "));
        let hint = format!("name one of them; `mle-star bench {}` runs all", given.display());
        return Err(Trouble::new(message, hint));
    }
    Ok(tasks.remove(0))
}

/// The folders beside tasks that [`all`] skips because they do not look like a task.
pub fn skipped(given: &[PathBuf]) -> Vec<PathBuf> {
    let tasks = all(given);
    let groups = given.iter().filter(|path| !tasks.contains(path));
    groups.flat_map(|group| folders_in(group)).filter(|folder| !tasks.contains(folder)).collect()
}

/// The folders in this one that are tasks, sorted; none for a file.
fn tasks_in(folder: &Path) -> Vec<PathBuf> {
    folders_in(folder).into_iter().filter(|folder| is_task(folder)).collect()
}

/// The folders in this one, sorted, without those that are never tasks.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir() && !is_never_a_task(path)).collect();
    folders.sort();
    folders
}

/// A hidden folder, or a run folder, which has the same files as a task.
fn is_never_a_task(folder: &Path) -> bool {
    let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    is_hidden || is_of_run(folder)
}

fn is_of_run(folder: &Path) -> bool {
    folder.join(layout::LOCK).is_file()
}

/// Whether the folder looks like one task.
fn is_task(folder: &Path) -> bool {
    let holds = |names: &[&str]| first_of(folder, names).is_some();
    let has_data = || first_of(&data_below(folder, &NESTED_DATA), &TRAINING_TABLES).is_some();
    !is_never_a_task(folder)
        && (holds(&TASK_FILES) || holds(&SIGNS) || folder.join("prepared/public").is_dir() || has_data())
}

fn from_file(path: &Path) -> Result<TaskSource, Trouble> {
    let file = task_file::read(path)?;
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let data_dir = file.data_dir.clone().unwrap_or_else(|| data_below(folder, &["data", "input", "."]));
    Ok(TaskSource {
        name: name_of(folder),
        config: first_of(folder, &CONFIG_FILES),
        path: Some(path.to_owned()),
        // Normalizes `./.`, which is shown to people.
        data_dir: data_dir.components().collect(),
        file,
    })
}

fn from_table(table: &Path) -> TaskSource {
    let name = table.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    TaskSource { name: slug(stem(&name)), data_dir: table.to_owned(), ..TaskSource::default() }
}

fn from_folder(folder: &Path) -> TaskSource {
    TaskSource {
        name: name_of(folder),
        config: first_of(folder, &CONFIG_FILES),
        data_dir: data_below(folder, &NESTED_DATA),
        ..TaskSource::default()
    }
}

/// The folder itself if it has the training table, else the first of `names` that has it or, without any, another table
/// with a role.
fn data_below(folder: &Path, names: &[&str]) -> PathBuf {
    let holds_training = |folder: &Path| first_of(folder, &TRAINING_TABLES).is_some();
    let below =
        |holds: &dyn Fn(&Path) -> bool| names.iter().map(|name| folder.join(name)).find(|path| holds(path));
    if holds_training(folder) {
        return folder.to_owned();
    }
    let other = || below(&has_tables).filter(|_| !has_tables(folder));
    below(&holds_training).or_else(other).unwrap_or_else(|| folder.to_owned())
}

fn first_of(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// A name from the folder's path, without generic parts such as `prepared/public`.
fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let names = whole.iter().rev().map(|name| name.to_string_lossy().into_owned());
    let telling = |name: &String| !["public", "prepared", "data", "input", "/"].contains(&name.as_str());
    slug(&names.into_iter().find(telling).unwrap_or_else(|| "task".to_owned()))
}

fn slug(name: &str) -> String {
    let slug: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    slug.trim_matches('-').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_lead_to_their_data() {
        let check = |files: &[(&str, &str)], task: &str, data: &str, config: Option<&str>| {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("House Prices");
            for (name, text) in files {
                let path = root.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let source = find(&root.join(task)).unwrap();
            assert_eq!(
                source.data_dir.canonicalize().unwrap(),
                root.join(data).canonicalize().unwrap(),
                "{task}"
            );
            assert_eq!(source.config, config.map(|name| root.join(name)));
            assert_eq!(source.name, "house-prices");
        };
        check(&[("train.csv", "")], "", "", None);
        check(&[("train.csv.zip", ""), ("config.yaml", "")], "", "", Some("config.yaml"));
        check(&[("prepared/public/train.csv", "")], "", "prepared/public", None);
        check(&[("prepared/public/train.csv", "")], "prepared/public", "prepared/public", None);
        check(&[("task.yaml", "data_dir: tables"), ("tables/x", "")], "", "tables", None);
        check(&[("task.toml", "data_dir = 'tables'"), ("tables/x", "")], "task.toml", "tables", None);
        check(&[("task.yml", ""), ("data/train.csv", "")], "task.yml", "data", None);
    }

    #[test]
    fn anything_else_is_refused() {
        let (file, run) = (tempfile::NamedTempFile::new().unwrap(), tempfile::tempdir().unwrap());
        fs::write(run.path().join("journal.lock"), "").unwrap();
        assert!(find(run.path()).unwrap_err().message.contains("is a run folder"));
        assert!(find(Path::new("/no/such")).unwrap_err().message.contains("no such folder"));
        assert!(find(file.path()).unwrap_err().message.contains("neither a folder, a table nor a task file"));
    }
}
