//! `init`: creates a task file for a data folder, with an explanation of each guess.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use mle_star::shell;
use mle_star_domain::config::{Config, Key};
use mle_star_domain::task::{Roles, TaskKeys};
use mle_star_domain::trouble::{OpenQuestion, Reading, Trouble};
use mle_star_run::columns;
use mle_star_run::error::RunError;
use mle_star_run::prepare::RunOptions;
use mle_star_run::prepare::intake::Reader;
use mle_star_run::prepare::metric_file::own_metric;
use mle_star_run::prepare::task_source::{self, TaskSource};
use mle_star_run::prepare::{self, InferredFolder};
use mle_star_run::protocol;
use mle_star_run::settings::{Settings, process_environment, resolve};

use serde::Serialize;
use serde_json::Value;

use crate::args::InitArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Writes `task.yaml` into the folder.
///
/// # Errors
/// A folder without data, a field that cannot be inferred, or a task file that already exists.
pub fn init(args: &InitArgs) -> Result<Exit, Failure> {
    let source = task_source::find(&args.dir)?.with(options(args)?);
    if let Some(path) = source.path.as_ref().filter(|_| !args.json) {
        return Err(exists(path).into());
    }
    let own = own_metric(&source)?;
    let (Settings { config, .. }, _) =
        prepare::settings_of(&RunOptions::default(), &source, &process_environment)?;
    let reader = Reader { config: &config, say: &output::talk };
    let inferred = prepare::infer_folder(&source, own.as_ref(), reader)?;
    if args.json {
        output::data(&inferred.data.facts.to_string());
        return Ok(Exit::Done);
    }
    let preview = preview(&config, &inferred)?;
    let folder = folder_of(&args.dir);
    let path = folder.join("task.yaml");
    let text = task_text(folder, &source, &inferred, &preview);
    let written = OpenOptions::new().write(true).create_new(true).open(&path);
    written.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(&path),
        _ => Trouble::new(
            format!("cannot write {}: {error}", path.display()),
            "check the folder's permissions",
        ),
    })?;
    output::data(&path.display().to_string());
    inferred.inferred.guesses.iter().for_each(|guess| output::talk(&format!("  {guess}")));
    preview.evaluation.iter().for_each(|line| output::talk(line));
    if !preview.columns.is_empty() {
        output::talk("columns:");
        preview.columns.iter().for_each(|line| output::talk(&format!("  {line}")));
    }
    for OpenQuestion { seen, field, .. } in &inferred.inferred.questions {
        output::talk(&format!("{field} is open: {seen}"));
    }
    // A run of a table reads no task file.
    let run = if args.dir.is_file() { &path } else { &args.dir };
    output::talk(&format!("check the guesses in it, then run: mle-star run {}", shell::quoted(run)));
    Ok(Exit::Done)
}

/// The folder that gets the task file: the given one, or that of the given table.
fn folder_of(given: &Path) -> &Path {
    match given.parent() {
        Some(folder) if given.is_file() && folder == Path::new("") => Path::new("."),
        Some(folder) if given.is_file() => folder,
        _ => given,
    }
}

/// What a run of the task would say, in lines.
struct Preview {
    /// How it would read the data and evaluate solutions.
    evaluation: Vec<String>,
    /// The columns with role, type and reason.
    columns: Vec<String>,
}

/// What a run of the task would say.
fn preview(config: &Config, folder: &InferredFolder) -> Result<Preview, RunError> {
    let is_open = !folder.inferred.questions.is_empty();
    let decided = if is_open { None } else { folder.protocol(config)? };
    let profile = folder.data.profile.as_ref();
    let lines = decided.iter().flat_map(|protocol| protocol::lines(protocol, config));
    let roles = columns::data_notes(&folder.task, profile);
    let split = decided.as_ref().and_then(|protocol| protocol.split.as_ref());
    let table = profile.map(|profile| columns::table(&folder.task, profile, split, &folder.inferred));
    let columns = table.map(|table| columns::table_lines(&table)).unwrap_or_default();
    let evaluation = folder.lines().into_iter().chain(folder.data.note()).chain(roles).chain(lines).collect();
    Ok(Preview { evaluation, columns })
}

fn exists(path: &Path) -> Trouble {
    Trouble::new(format!("{} already exists", path.display()), "remove or rename it first, or edit it")
}

/// What options say of the task.
fn options(args: &InitArgs) -> Result<TaskKeys, Trouble> {
    Ok(resolve(args.task.settings())?.task)
}

/// The serialized name of a value.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A text as a YAML value, in quotes if needed; JSON is valid YAML.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_keyword = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(plain);
    if is_plain && !is_keyword.contains(&text.to_lowercase().as_str()) {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}

/// The fields of these keys that have a value, as YAML.
fn fields(keys: &'static [Key], values: &impl Serialize) -> impl Iterator<Item = (&'static str, String)> {
    let values = serde_json::to_value(values).unwrap_or_default();
    keys.iter().filter_map(move |key| {
        let value = match &values[key.name] {
            Value::Null => return None,
            Value::Array(names) if names.is_empty() => return None,
            Value::String(text) => quoted(text),
            other => other.to_string(),
        };
        Some((key.name, value))
    })
}

/// A path as a task file in this folder has it: such paths start from the folder.
fn from_folder(file: &Path, dir: &Path) -> String {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (file, dir) = (whole(file), whole(dir));
    file.strip_prefix(&dir).unwrap_or(&file).display().to_string()
}

/// Lines below a heading, as comments; empty without lines.
fn comments(heading: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("#   {}\n", line.replace('\n', " "))).collect();
    if lines.is_empty() { lines } else { format!("# {heading}\n{lines}") }
}

/// A field with its reason, or with the answers to the question about it.
fn entry(name: &str, value: Option<String>, why: &str, question: Option<&OpenQuestion>) -> String {
    let why = question.map_or(why, |question| question.seen.as_str()).replace('\n', " ");
    let lines = match question.map(|question| question.readings.as_slice()) {
        Some(readings @ [_, ..]) => {
            let choice =
                |reading: &Reading| format!("# {name}: {}  # {}\n", quoted(&reading.value), reading.means);
            readings.iter().map(choice).collect()
        }
        _ => match value {
            Some(value) => format!("{name}: {value}\n"),
            None => format!("# {name}:\n"),
        },
    };
    format!("# {why}\n{lines}\n")
}

fn task_text(dir: &Path, source: &TaskSource, folder: &InferredFolder, preview: &Preview) -> String {
    let InferredFolder { inferred, description, .. } = folder;
    let asked = |field: &str| inferred.questions.iter().find(|question| question.field == field);
    let reason = |field: &str| inferred.reason(field).unwrap_or("as given").to_owned();
    let data_dir = source.data_dir.strip_prefix(dir).unwrap_or(&source.data_dir).display().to_string();
    let data_dir = if data_dir.is_empty() { ".".to_owned() } else { data_dir };
    let mut text =
        String::from("# A task for mle-star. All values were inferred; correct what is wrong.\n\n");
    let mut written = Vec::new();
    let mut field = |name: &'static str, value: Option<String>, why: String| {
        if !written.contains(&name) {
            text.push_str(&entry(name, value, &why, asked(name)));
            written.push(name);
        }
    };
    let (named, data) =
        if source.data_dir.is_file() { ("table", "") } else { ("folder", " with the tables") };
    field("competition_id", Some(quoted(&source.name)), format!("the {named}'s name"));
    field("task_type", Some(word(&inferred.task_type)), reason("task_type"));
    field("data_modality", Some(word(&inferred.data_modality)), reason("data_modality"));
    let mut keys = source.file.keys.clone();
    let metric = (!inferred.metric.is_empty()).then(|| quoted(&inferred.metric));
    let why = format!("computes {}", inferred.metric);
    match keys.metric_file.take() {
        Some(file) => field("metric_file", Some(quoted(&from_folder(&file, dir))), why),
        None => field("evaluation_metric", metric, reason("evaluation_metric")),
    }
    let direction = (!inferred.metric.is_empty()).then(|| inferred.direction.name().to_owned());
    let why = if direction.is_some() { reason("metric_direction") } else { "that of the metric".to_owned() };
    field("metric_direction", direction, why);
    let roles: Vec<_> = fields(Roles::KEYS, &inferred.roles).collect();
    let value = |name: &str| Some(roles.iter().find(|(role, _)| *role == name)?.1.clone());
    field("target_column", value("target_column"), reason("target_column"));
    let id =
        if inferred.roles.id.is_some() { reason("id_column") } else { "no ID column was found".to_owned() };
    field("id_column", value("id_column"), id);
    let file = keys.folds.as_ref().map(PathBuf::from).filter(|file| file.is_file());
    keys.folds = file.map(|file| from_folder(&file, dir)).or(keys.folds);
    for (name, value) in roles.clone().into_iter().chain(fields(TaskKeys::KEYS, &keys)) {
        field(name, Some(value), reason(name));
    }
    for key in TaskKeys::all().filter(|key| asked(key.name).is_some()) {
        field(key.name, None, String::new());
    }
    field("data_dir", Some(quoted(&data_dir)), format!("the {named}{data}, relative to this file"));
    let words = match description.as_str() {
        "" => "a description of the task",
        _ => "read from description.md unless it is set here",
    };
    field("description", None, words.to_owned());
    field("output_dir", None, "a folder that also receives submission.csv".to_owned());
    let heading = "How solutions are evaluated. A run decides this again; `holdout` is a key of config.yaml.";
    text.push_str(&comments(heading, &preview.evaluation));
    text.push_str(&comments("Columns, with role, type and reason.", &preview.columns));
    text
}
