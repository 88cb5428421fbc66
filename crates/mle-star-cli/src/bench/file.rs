//! Bench files.

use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_run::settings::document::Document;
use mle_star_run::settings::{check_keys, from_folder};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::scale::{Anchors, Medals};
use crate::args::BenchPreset;

/// The keys of a bench file, all optional except for `tasks`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BenchFile {
    /// The tasks.
    pub tasks: Vec<TaskEntry>,
    /// A number of seeds, or a list of them.
    pub seeds: Option<Seeds>,
    /// Time limits in seconds.
    pub budgets: Vec<u64>,
    /// A benchmark's budgets, seeds and settings.
    pub preset: Option<BenchPreset>,
    /// The hidden answers of all tasks.
    pub answers: Option<PathBuf>,
    /// The grader of all tasks: a program with its arguments.
    pub grader: Vec<String>,
    /// The folder of the bench.
    pub out: Option<PathBuf>,
    /// The config file of the runs.
    pub config: Option<PathBuf>,
    /// Config keys of the runs.
    pub options: Map<String, Value>,
}

/// A task of a bench file: a path, or a path with more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskEntry {
    /// Task file or folder.
    pub task: PathBuf,
    /// Its name in the table.
    pub name: Option<String>,
    /// Its hidden answers.
    pub answers: Option<PathBuf>,
    /// Its grader.
    #[serde(default)]
    pub grader: Vec<String>,
    /// The scores that win medals.
    pub medals: Option<Medals>,
    /// The scores that are 0 and 1 units.
    pub anchors: Option<Anchors>,
}

/// `3` or `[1, 2, 3]`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Seeds {
    /// The seeds from 1 to this number.
    Number(u32),
    /// These seeds.
    List(Vec<u32>),
}

/// Reads a bench file; relative paths start from its folder, except for those in the arguments of graders.
///
/// # Errors
/// A file that cannot be read or parsed, an unknown key, a value of the wrong type, or no tasks.
pub fn read(path: &Path) -> Result<BenchFile, Trouble> {
    let document = Document::read(path)?;
    check_keys::<BenchFile>(&document, "bench")?;
    let mut values = Value::Object(document.values.clone());
    let tasks = values.get_mut("tasks").and_then(Value::as_array_mut);
    for entry in tasks.into_iter().flatten().filter(|entry| entry.is_string()) {
        *entry = json!({ "task": entry });
    }
    let mut file: BenchFile = serde_json::from_value(values)
        .map_err(|error| Trouble::new(format!("{}: {error}", path.display()), "correct the bench file"))?;
    if file.tasks.is_empty() {
        let message = format!("{} has no tasks", path.display());
        return Err(Trouble::new(message, "list the tasks under `tasks`"));
    }
    // `./` in front of every path helps nobody.
    let folder = Some(document.folder()).filter(|folder| *folder != Path::new("."));
    let folder = folder.unwrap_or(Path::new(""));
    let from_here = |path: &mut Option<PathBuf>| *path = path.take().map(|path| folder.join(path));
    [&mut file.answers, &mut file.out, &mut file.config].into_iter().for_each(from_here);
    for entry in &mut file.tasks {
        entry.task = folder.join(&entry.task);
        from_here(&mut entry.answers);
    }
    file.options.iter_mut().for_each(|(key, value)| *value = from_folder(folder, key, value));
    Ok(file)
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let wrong = || D::Error::custom("expected a number of seeds from 1 to 10000, or a list of seeds");
        let seed = |value: &Value| value.as_u64().and_then(|seed| u32::try_from(seed).ok());
        match &value {
            Value::Array(list) if !list.is_empty() => {
                list.iter().map(seed).collect::<Option<_>>().map(Self::List).ok_or_else(wrong)
            }
            one => seed(one).filter(|count| (1..=10_000).contains(count)).map(Self::Number).ok_or_else(wrong),
        }
    }
}

impl Seeds {
    /// The seeds.
    pub fn all(&self) -> Vec<u32> {
        match self {
            Self::Number(count) => (1..=*count).collect(),
            Self::List(seeds) => seeds.clone(),
        }
    }
}
