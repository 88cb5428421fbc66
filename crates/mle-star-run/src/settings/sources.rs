//! Settings from the environment, from files, and from texts.

use std::path::Path;

use mle_star_domain::trouble::Trouble;
use serde_json::Value;

use super::{Setting, Settings, resolve};
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
    set.map(|(name, key, value)| Setting::from_text(key, &value, name)).collect()
}

/// The settings of environment, config file and options, resolved. Later ones win.
///
/// # Errors
/// A mistake in a setting, or an unreadable config file.
pub fn layered(
    environment: &Environment<'_>,
    file: Option<&Path>,
    options: &[Setting],
) -> Result<Settings, Trouble> {
    let mut layers = from_environment(environment);
    if let Some(path) = file {
        layers.extend(from_file(&Document::read(path)?));
    }
    layers.extend_from_slice(options);
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

impl Setting {
    /// A setting whose value is given as text. Unless the key takes a text, the value is read as in a YAML file.
    pub fn from_text(key: &str, text: &str, origin: &str) -> Self {
        let value = if TEXTS.contains(&key) { Value::from(text) } else { parse_value(text) };
        Self { key: key.to_owned(), value, origin: origin.to_owned() }
    }

    /// A setting written `KEY=VALUE`.
    ///
    /// # Errors
    /// There is no `=`.
    pub fn from_pair(pair: &str, origin: &str) -> Result<Self, Trouble> {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Trouble::new(
                format!("{origin} {pair} has no value"),
                format!("write {origin} KEY=VALUE"),
            ));
        };
        Ok(Self::from_text(key.trim(), value.trim(), origin))
    }
}
