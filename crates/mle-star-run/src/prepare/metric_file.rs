//! The Python file that computes a metric of the user's own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use mle_star_domain::metric::Direction;
use mle_star_domain::task::{Answers, MetricFile};
use mle_star_domain::trouble::Trouble;

use super::task_file::TaskFile;
use super::task_source::TaskSource;

/// The largest file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A metric file and what it says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnMetric {
    /// The file with the modules that it needs.
    pub file: MetricFile,
    /// `NAME` in the file, or its stem.
    pub name: String,
    /// The direction: whether higher or lower scores win.
    pub direction: Direction,
}

/// The metric file of a task, if it has one.
///
/// # Errors
/// A metric is named beside it, it cannot be read, or nothing says which scores win.
pub fn own_metric(source: &TaskSource) -> Result<Option<OwnMetric>, Trouble> {
    let TaskFile { keys, kept_metric, .. } = &source.file;
    if let Some(file) = kept_metric.clone().filter(|_| keys.metric_file.is_none()) {
        let direction = keys.direction.ok_or_else(|| no_direction(&file.name))?;
        let name = keys.metric.clone().unwrap_or_else(|| file.name.clone());
        return Ok(Some(OwnMetric { file, name, direction }));
    }
    let Some(path) = &keys.metric_file else { return Ok(None) };
    if keys.metric.is_some() {
        return Err(Trouble::new(
            "both a metric and a metric file are given",
            "leave one of --metric and --metric-file out (evaluation_metric and metric_file in a task file)",
        ));
    }
    read(path, keys.direction).map(Some)
}

/// Reads a metric file. The given direction wins over that of the file.
///
/// # Errors
/// The file cannot be read, or nothing says which scores win.
pub fn read(path: &Path, given: Option<Direction>) -> Result<OwnMetric, Trouble> {
    let text = text_of(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let said = match constant(&text, "DIRECTION") {
        Some((line, word)) => Some(direction(&name, line, &word)?),
        None => None,
    };
    let Some(direction) = given.or(said) else {
        return Err(no_direction(&name));
    };
    let label =
        constant(&text, "NAME").map(|(_, name)| name.trim().to_owned()).filter(|name| !name.is_empty());
    let modules = modules(path, &text);
    let file = MetricFile { name, text, modules, answers: Answers::Targets };
    Ok(OwnMetric { file, name: label.unwrap_or(stem), direction })
}

fn no_direction(name: &str) -> Trouble {
    Trouble::new(
        format!("{name} does not say which scores win"),
        "give --direction maximize or minimize, or write DIRECTION = \"maximize\" into the file",
    )
}

impl OwnMetric {
    /// What agents are told about the metric, after the description of the task.
    pub fn described(&self) -> String {
        let better = self.direction.comparative();
        format!(
            "## The metric\n\nSubmissions are scored by {} ({better} is better), which this file computes:\n\n```python\n{}\n```",
            self.name,
            self.file.text.trim_end()
        )
    }
}

fn text_of(path: &Path) -> Result<String, Trouble> {
    let unreadable = |why: String| {
        Trouble::new(
            format!("cannot read the metric file {}: {why}", path.display()),
            "give a Python file with --metric-file",
        )
    };
    let mut text = String::new();
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| unreadable(error.to_string()))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(unreadable(format!("it has more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    Ok(text)
}

/// The text that a line at the outermost level gives to a name, and the number of the line.
fn constant(text: &str, name: &str) -> Option<(usize, String)> {
    text.lines().zip(1..).find_map(|(line, number)| {
        let rest = line.strip_prefix(name)?.trim_start();
        // There may be an annotation.
        let value = match rest.strip_prefix(':') {
            Some(rest) => rest.split_once('=')?.1,
            None => rest.strip_prefix('=')?,
        };
        let value = value.trim();
        let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        let (value, _) = value[1..].split_once(quote)?;
        Some((number, value.to_owned()))
    })
}

fn direction(name: &str, line: usize, word: &str) -> Result<Direction, Trouble> {
    match word.trim().to_lowercase().as_str() {
        "maximize" | "maximise" => Ok(Direction::Maximize),
        "minimize" | "minimise" => Ok(Direction::Minimize),
        _ => Err(Trouble::new(
            format!("{name}, line {line}: DIRECTION is \"{word}\""),
            "write \"maximize\" or \"minimize\"",
        )),
    }
}

/// The modules beside the file that it imports, with those that they import: their names and texts.
fn modules(path: &Path, text: &str) -> Vec<(String, String)> {
    let mut found = BTreeMap::new();
    let mut texts = vec![text.to_owned()];
    while let Some(text) = texts.pop() {
        for name in imported(&text).map(|module| format!("{module}.py")) {
            let beside = path.with_file_name(&name);
            if beside == path || found.contains_key(&name) || !beside.is_file() {
                continue;
            }
            if let Ok(text) = fs::read_to_string(beside) {
                texts.push(text.clone());
                found.insert(name, text);
            }
        }
    }
    found.into_iter().collect()
}

/// The names in the import statements of a text: those of modules, and of what is imported from them.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_start);
    let imports = lines.filter(|line| line.starts_with("import ") || line.starts_with("from "));
    imports.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use mle_star_domain::task::TaskKeys;

    use super::*;
    use crate::prepare::task_source;

    fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my_metric.py");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_says_its_name_and_direction() {
        let check = |text: &str, given, expected: Result<(&str, Direction), &str>| {
            let (_folder, path) = written(text);
            let found = read(&path, given).map(|own| (own.name, own.direction));
            let expected = expected.map(|(name, direction)| (name.to_owned(), direction));
            assert_eq!(found.map_err(|trouble| trouble.message), expected.map_err(str::to_owned), "{text}");
        };
        let (larger, smaller) = (Direction::Maximize, Direction::Minimize);
        check("DIRECTION = \"maximize\"\n", None, Ok(("my_metric", larger)));
        check("NAME='my F1'\nDIRECTION: str = 'minimize'  # errors\n", None, Ok(("my F1", smaller)));
        check("DIRECTION = \"maximize\"\n", Some(smaller), Ok(("my_metric", smaller)));
        check("def score(): ...\n", Some(larger), Ok(("my_metric", larger)));
        check("    DIRECTION = \"maximize\"\n", None, Err("my_metric.py does not say which scores win"));
        check("DIRECTION = MAX\n", None, Err("my_metric.py does not say which scores win"));
        check("\nDIRECTION = 'up'\n", None, Err("my_metric.py, line 2: DIRECTION is \"up\""));
    }

    #[test]
    fn the_direction_of_a_task_file_belongs_to_its_metric() {
        let check = |task: &str, option: bool, expected: Direction| {
            let (folder, path) = written("DIRECTION = \"maximize\"\n");
            fs::write(folder.path().join("task.yaml"), task).unwrap();
            let options = TaskKeys { metric_file: option.then_some(path), ..TaskKeys::default() };
            let source = task_source::find(&folder.path().join("task.yaml")).unwrap().with(options);
            assert_eq!(own_metric(&source).unwrap().unwrap().direction, expected, "{task}");
        };
        let minimize = "data_dir: .\nmetric_direction: minimize\n";
        check(&format!("{minimize}evaluation_metric: RMSE\n"), true, Direction::Maximize);
        check(&format!("{minimize}metric_file: other.py\n"), true, Direction::Maximize);
        check(&format!("{minimize}metric_file: my_metric.py\n"), false, Direction::Minimize);
        check(minimize, true, Direction::Minimize);
    }

    #[test]
    fn modules_beside_it_come_along() {
        let (folder, path) =
            written("from .classes import CLASSES\nimport numpy as np\nfrom helper import f\n");
        fs::write(folder.path().join("classes.py"), "from . import more, my_metric\n").unwrap();
        fs::write(folder.path().join("helper.py"), "X = 1\n").unwrap();
        fs::write(folder.path().join("more.py"), "import classes\n").unwrap();
        fs::write(folder.path().join("other.py"), "X = 1\n").unwrap();
        let found = read(&path, Some(Direction::Maximize)).unwrap().file.modules;
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["classes.py", "helper.py", "more.py"]);
    }
}
