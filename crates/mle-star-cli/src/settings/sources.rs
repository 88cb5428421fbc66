//! Settings from the environment, from a file, and from options.

use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use serde_json::Value;

use super::{Setting, Settings, resolve};
use crate::args::RunArgs;
use crate::settings::document::{Document, parse_value};

/// Looks up an environment variable; `None` if it is empty.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Environment variables and their keys.
pub const VARIABLES: [(&str, &str); 9] = [
    ("MLE_STAR_MODEL", "model"),
    ("MLE_STAR_LOG_LEVEL", "log_level"),
    ("MLE_STAR_MAX_BUDGET", "max_budget_usd"),
    ("MLE_STAR_TIME_LIMIT", "time_limit_seconds"),
    ("MLE_STAR_CLAUDE_PATH", "claude_path"),
    ("MLE_STAR_CODEX_PATH", "codex_path"),
    ("MLE_STAR_OPENAI_URL", "openai.url"),
    ("MLE_STAR_AGENTS_DIR", "agents_dir"),
    ("MLE_STAR_RUNS_DIR", "runs_dir"),
];

/// Keys whose values are texts, even if they look like numbers.
const TEXTS: [&str; 15] = [
    "model",
    "log_level",
    "claude_path",
    "codex_path",
    "openai.url",
    "openai.key_variable",
    "agents_dir",
    "runs_dir",
    "run_id",
    "metric",
    "target",
    "id_column",
    "python",
    "prompts",
    "log_file",
];

/// Keys whose values are paths; those of a file are relative to its folder.
const PATHS: [&str; 8] = [
    "log_file",
    "retrieved_models",
    "prompts",
    "runs_dir",
    "python",
    "claude_path",
    "codex_path",
    "agents_dir",
];

/// Keys whose values are tables with names of the user's, which may hold dots.
const TABLES: [&str; 1] = ["prices"];

/// The environment of this process.
pub fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Settings from the environment.
pub fn from_environment(lookup: &Environment<'_>) -> Vec<Setting> {
    let set = VARIABLES.iter().filter_map(|(name, key)| Some((name, key, lookup(name)?)));
    set.map(|(name, key, value)| setting(key, &value, name)).collect()
}

/// The settings of environment, config file and options, resolved. Later ones win.
///
/// # Errors
/// A mistake in a setting, or an unreadable config file.
pub fn layered(
    environment: &Environment<'_>,
    file: Option<&Path>,
    options: &RunArgs,
) -> Result<Settings, Trouble> {
    let mut layers = from_environment(environment);
    if let Some(path) = file {
        layers.extend(from_file(&Document::read(path)?));
    }
    layers.extend(from_run_options(options)?);
    resolve(layers)
}

/// Settings from a config file.
pub fn from_file(document: &Document) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (key, value) in &document.values {
        match value {
            Value::Object(inner) if !inner.is_empty() && !TABLES.contains(&key.as_str()) => {
                settings.extend(inner.iter().map(|(name, value)| Setting {
                    key: format!("{key}.{name}"),
                    value: value.clone(),
                    origin: document.position(&[key, name]),
                }));
            }
            _ => settings.push(Setting {
                key: key.clone(),
                value: from_folder(document.folder(), key, value),
                origin: document.position(&[key]),
            }),
        }
    }
    settings
}

/// Settings from the options of `run`. `--set` comes first: a named option overrides it.
///
/// # Errors
/// A `--set` without `=`.
pub fn from_run_options(args: &RunArgs) -> Result<Vec<Setting>, Trouble> {
    let mut settings = Vec::new();
    let RunArgs { settings: shared, task, .. } = args;
    for text in &shared.set {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Trouble::new(format!("--set {text} has no value"), "write --set KEY=VALUE"));
        };
        settings.push(setting(key.trim(), value.trim(), "--set"));
    }
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let named = [
        ("agents", "--agents", shared.agents.clone()),
        ("model", "--model", shared.model.clone()),
        ("time_limit_seconds", "--time-limit", args.time_limit.clone()),
        ("max_budget_usd", "--max-budget-usd", shared.max_budget_usd.clone()),
        ("prompts", "--prompts", path(&shared.prompts)),
        ("runs_dir", "--runs-dir", path(&args.runs_dir)),
        ("run_id", "--run-id", args.run_id.clone()),
        ("metric", "--metric", task.metric.clone()),
        ("direction", "--direction", task.direction.clone()),
        ("target", "--target", task.target.clone()),
        ("id_column", "--id-column", task.id_column.clone()),
        ("max_concurrent_scripts", "--jobs", shared.jobs.clone()),
        ("json", "--json", args.json.then(|| "true".to_owned())),
        ("quiet", "--quiet", args.quiet.then(|| "true".to_owned())),
    ];
    let given = named.into_iter().filter_map(|(key, option, value)| Some(setting(key, &value?, option)));
    settings.extend(given);
    settings.extend(runner_names(&shared.runner));
    Ok(settings)
}

/// The setting of `--runner`.
pub fn runner_names(names: &[String]) -> Option<Setting> {
    let origin = "--runner".to_owned();
    (!names.is_empty()).then(|| Setting {
        key: "runner".to_owned(),
        value: Value::from(names.to_vec()),
        origin,
    })
}

fn setting(key: &str, text: &str, origin: &str) -> Setting {
    let value = if TEXTS.contains(&key) { Value::from(text) } else { parse_value(text) };
    Setting { key: key.to_owned(), value, origin: origin.to_owned() }
}

/// A path of a file, relative to the working directory; a bare `python3` stays a name on PATH.
fn from_folder(folder: &Path, key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if PATHS.contains(&key) => {
            let is_command = matches!(key, "python" | "claude_path" | "codex_path") && !text.contains('/');
            if is_command { value.clone() } else { Value::from(folder.join(text).display().to_string()) }
        }
        _ => value.clone(),
    }
}
