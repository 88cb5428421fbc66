//! Settings from the environment, from files, and from texts.

use std::path::Path;

use mle_star_domain::config::{Form, Key};
use mle_star_domain::trouble::Trouble;
use serde_json::Value;

use super::{Setting, Settings, form, keys, resolve};
use crate::settings::document::{Document, parse_value};

/// Looks up an environment variable. An empty one counts as missing.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The environment of this process.
pub fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Settings from the environment.
pub fn from_environment(lookup: &Environment<'_>) -> Vec<Setting> {
    let set = |key: &Key| Some(Setting::from_text(key.name, &lookup(key.variable?)?, key.variable?));
    keys().filter_map(set).collect()
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
            Value::Object(inner) if !inner.is_empty() && form(key) != Form::Names => {
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

/// A value of a file; a path becomes relative to the working directory. A bare `python3` stays a name on PATH, and `folds`
/// may be a column.
pub fn from_folder(folder: &Path, key: &str, value: &Value) -> Value {
    let is_path = |text: &str| match form(key) {
        Form::Path => true,
        Form::Command => text.contains('/'),
        _ => key == "folds" && folder.join(text).is_file(),
    };
    match value {
        Value::String(text) if is_path(text) => Value::from(folder.join(text).display().to_string()),
        _ => value.clone(),
    }
}

impl Setting {
    /// A setting whose value is given as text. Unless the key takes a text, the value is read as in a YAML file.
    pub fn from_text(key: &str, text: &str, origin: &str) -> Self {
        let value = match form(key) {
            // The names of columns, such as `Unnamed: 0`, or a list of them.
            Form::List if !text.trim_start().starts_with(['[', '"', '\'']) => Value::from(text),
            Form::Text | Form::Path | Form::Command => Value::from(text),
            Form::Plain | Form::Switch | Form::Names | Form::List => parse_value(text),
        };
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
