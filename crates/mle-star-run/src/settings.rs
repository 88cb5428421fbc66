//! Settings from options, config file, environment and defaults, in this order of precedence.
//!
//! Every source becomes a list of [`Setting`]s with their origin; [`resolve`] layers them over the defaults, so that
//! errors name the place of a mistake.

pub mod document;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::SignedDuration;
use mle_star_backends::runners::entry::{RunnerEntry, selected};
use mle_star_domain::config::{Config, FinalChoice, Form, HoldoutShare, Key, Preset};
use mle_star_domain::role::AgentType;
use mle_star_domain::task::TaskKeys;
use mle_star_domain::trouble::Trouble;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use sources::{Environment, from_file, from_folder, layered, process_environment};

use crate::settings::document::Document;
use mle_star_domain::nearest::nearest;

/// The value of a key and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key; a nested one is written `phase_time_budget.phase1_pct`.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The origin, for messages: `--time-limit`, `MLE_STAR_MODEL`, `config.yaml:3:1`.
    pub origin: String,
}

mle_star_domain::keys! {
    /// Keys of a config file that are part of neither the [`Config`] nor the task: where the run is kept, and how it is shown.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Invocation {
        /// The runs directory.
        runs_dir: Option<PathBuf> = None, path(), variable("MLE_STAR_RUNS_DIR");
        /// The run ID.
        run_id: Option<String> = None, text();
        /// Print events as JSON.
        json: bool = false;
        /// Print only errors.
        quiet: bool = false;
        /// Runners on other machines.
        runners: Vec<RunnerEntry> = Vec::new();
        /// The names of those to use; all if there are none.
        runner: Vec<String> = Vec::new();
    }
}

/// All settings, resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The configuration of the run.
    pub config: Config,
    /// Where the run is kept, and how it is shown.
    pub invocation: Invocation,
    /// What replaces fields of the task.
    pub task: TaskKeys,
    /// The top-level keys that the user set, in any source.
    pub given: BTreeSet<String>,
}

/// The keys of the configuration, those beside it, and those of the task.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    Config::keys().chain(Invocation::KEYS).chain(TaskKeys::all())
}

/// The key with this name, which may be that of its option.
fn key(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name || key.option == Some(name))
}

/// How the value of a key is written.
fn form(name: &str) -> Form {
    key(name).map_or(Form::Plain, |key| key.form)
}

/// Values of keys, in one map for each struct that the keys belong to.
struct Layers {
    config: Map<String, Value>,
    invocation: Map<String, Value>,
    task: Map<String, Value>,
}

/// A check that values fit the fields of a struct; returns what is wrong.
type FitCheck = fn(Map<String, Value>) -> Option<serde_json::Error>;

impl Layers {
    /// The map that a key belongs to, with the check for its values; `None` for an unknown key.
    fn with_key(&mut self, key: &str) -> Option<(&mut Map<String, Value>, FitCheck)> {
        let of_invocation: FitCheck = |only| serde_json::from_value::<Invocation>(Value::Object(only)).err();
        let of_task: FitCheck = |only| serde_json::from_value::<TaskKeys>(Value::Object(only)).err();
        let of_config: FitCheck = |only| Config::from_layer(only).err();
        let layers =
            [(&mut self.config, of_config), (&mut self.invocation, of_invocation), (&mut self.task, of_task)];
        layers.into_iter().find(|(layer, _)| layer.contains_key(key))
    }
}

/// Layers settings over the defaults; later ones win.
///
/// # Errors
/// As [`resolve_over`], or scripts have no machine to run on.
pub fn resolve(settings: impl IntoIterator<Item = Setting>) -> Result<Settings, Trouble> {
    let resolved = resolve_over(&Config::default(), settings)?;
    check_machines(&resolved.config, &resolved.invocation.runners)?;
    Ok(resolved)
}

/// Layers settings over a configuration; later ones win.
///
/// # Errors
/// An unknown key (the message suggests the nearest one), a value of the wrong type, or a value out of range.
pub fn resolve_over(
    config: &Config,
    settings: impl IntoIterator<Item = Setting>,
) -> Result<Settings, Trouble> {
    let settings: Vec<Setting> = settings.into_iter().collect();
    let mut layers = Layers {
        config: fields(config),
        invocation: fields(&Invocation::default()),
        task: fields(&TaskKeys::default()),
    };
    layers.config.extend(preset(&settings));
    let mut origins = BTreeMap::new();
    for setting in settings {
        let mut names: Vec<&str> = setting.key.split('.').collect();
        names[0] = key(names[0]).map_or(names[0], |key| key.name);
        let Some((layer, fits)) = layers.with_key(names[0]) else { return Err(unknown_key(&setting)) };
        let before = layer.clone();
        put(layer, &names, checked_value(&setting.key, &setting.value));
        check(&setting, (layer, fits), &names, &before)?;
        origins.insert(names[0].to_owned(), setting.origin.clone());
    }
    let config = Config::from_layer(layers.config).map_err(|error| unfit(&error))?;
    let of = |layer| Value::Object(layer);
    let mut invocation: Invocation =
        serde_json::from_value(of(layers.invocation)).map_err(|error| unfit(&error))?;
    let task: TaskKeys = serde_json::from_value(of(layers.task)).map_err(|error| unfit(&error))?;
    invocation.runners = selected(&invocation.runners, &invocation.runner)?;
    config.validate().map_err(|error| {
        let origin = origins.get(error.field).map(|origin| format!(" ({origin})")).unwrap_or_default();
        Trouble::new(format!("{error}{origin}"), format!("set {} to an allowed value", error.field))
    })?;
    check_choice(&config, &origins)?;
    Ok(Settings { config, invocation, task, given: origins.into_keys().collect() })
}

/// The defaults that the last given preset changes.
fn preset(settings: &[Setting]) -> Map<String, Value> {
    let given = settings.iter().rev().find(|setting| setting.key == "preset");
    let preset = given.and_then(|setting| serde_json::from_value(setting.value.clone()).ok());
    Config::of_preset(preset.unwrap_or(Preset::Default))
}

/// `final_choice: holdout` needs held-out rows.
fn check_choice(config: &Config, origins: &BTreeMap<String, String>) -> Result<(), Trouble> {
    if (config.holdout, config.final_choice) != (HoldoutShare::Off, FinalChoice::Holdout) {
        return Ok(());
    }
    let origin = |key: &str| origins.get(key).map(|origin| format!(" ({origin})"));
    let by_preset = if config.preset == Preset::Paper { " (preset: paper)" } else { "" };
    let off = origin("holdout").unwrap_or_else(|| by_preset.to_owned());
    let chosen = origin("final_choice").unwrap_or_default();
    let message = format!("holdout is off{off}, but final_choice is holdout{chosen}");
    Err(Trouble::new(message, "set holdout to auto or a share, or final_choice to auto"))
}

/// Scripts need a machine to run on.
///
/// # Errors
/// There is none.
pub fn check_machines(config: &Config, runners: &[RunnerEntry]) -> Result<(), Trouble> {
    if config.max_concurrent_scripts != Some(0) || !runners.is_empty() {
        return Ok(());
    }
    let message = "max_concurrent_scripts is 0, and there are no runners";
    Err(Trouble::new(message, "allow scripts on this machine, or name `runners` in a config file"))
}

fn unknown_key(setting: &Setting) -> Trouble {
    let top = keys().map(Key::option_name).filter(|name| !name.contains('.'));
    let nearest = nearest(&setting.key, top).unwrap_or_default();
    let message = format!("{}: unknown config key \"{}\"", setting.origin, setting.key);
    Trouble::new(message, format!("did you mean {nearest}?"))
}

fn fields(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn put(map: &mut Map<String, Value>, names: &[&str], value: Value) {
    match names {
        [] => {}
        [name] => {
            map.insert((*name).to_owned(), value);
        }
        [name, inner @ ..] => {
            let below = map.entry((*name).to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if !below.is_object() {
                *below = Value::Object(Map::new());
            }
            if let Value::Object(below) = below {
                put(below, inner, value);
            }
        }
    }
}

fn checked_value(key: &str, value: &Value) -> Value {
    match value {
        Value::Bool(on) if form(key) == Form::Switch => Value::from(if *on { "on" } else { "off" }),
        // Some tools write `holdout: off` as a boolean.
        Value::Bool(false) if key == "holdout" => Value::from("off"),
        Value::String(level) if key == "log_level" => Value::from(level.to_uppercase()),
        Value::String(names) if form(key) == Form::List => names.split(',').map(str::trim).collect(),
        // Columns may be named by years.
        Value::Array(names) if form(key) == Form::List => names.iter().map(as_text).collect(),
        // `run_id: 2026` is meant as a text.
        value if form(key) == Form::Text => as_text(value),
        Value::String(text) if is_time(key) => whole_seconds(text).map_or_else(|| value.clone(), Value::from),
        other => other.clone(),
    }
}

fn as_text(value: &Value) -> Value {
    if value.is_number() || value.is_boolean() { Value::from(value.to_string()) } else { value.clone() }
}

fn is_time(key: &str) -> bool {
    key.ends_with("_seconds")
}

/// The seconds of a time such as `90s`, `10m` or `1h 30m`.
fn whole_seconds(text: &str) -> Option<u64> {
    let time: SignedDuration = text.parse().ok()?;
    u64::try_from(time.as_secs()).ok().filter(|_| time.subsec_nanos() == 0)
}

/// Checks the type of one setting, whose key has these names; `before` has the known nested keys.
fn check(
    setting: &Setting,
    (layer, fits): (&mut Map<String, Value>, FitCheck),
    names: &[&str],
    before: &Map<String, Value>,
) -> Result<(), Trouble> {
    let name = names[0];
    let only = Map::from_iter([(name.to_owned(), layer.get(name).cloned().unwrap_or_default())]);
    match fits(only) {
        Some(error) => Err(wrong_value(setting, &error.to_string(), before.get(name))),
        None => Ok(()),
    }
}

fn wrong_value(setting: &Setting, error: &str, known: Option<&Value>) -> Trouble {
    let Setting { key, value, origin } = setting;
    if let Some(agent) = key.strip_prefix("agent_models.").filter(|_| error.contains("unknown variant")) {
        let nearest = nearest(agent, AgentType::ALL.map(AgentType::name)).unwrap_or_default();
        let message = format!("{origin}: agent_models: unknown agent \"{agent}\"");
        return Trouble::new(message, format!("did you mean agent_models.{nearest}?"));
    }
    if let (true, Some(Value::Object(known))) = (error.contains("unknown field"), known) {
        let inner = key.rsplit('.').next().unwrap_or(key);
        let (outer, _) = key.split_once('.').unwrap_or((key, ""));
        let nearest = nearest(inner, known.keys().map(String::as_str)).unwrap_or_default();
        return Trouble::new(
            format!("{origin}: unknown config key \"{key}\""),
            format!("did you mean {outer}.{nearest}?"),
        );
    }
    if error.contains("missing field") {
        let message = format!("{origin}: {key} is not enough: {}", error.replace('`', "\""));
        return Trouble::new(message, "set all its fields together, in a config file or as one JSON value");
    }
    let shown = value.as_str().map_or_else(|| value.to_string(), |text| format!("\"{text}\""));
    let wanted = match wanted(error) {
        number if is_time(key) => format!("{number} (seconds), or a time such as 10m or 2h"),
        other => other,
    };
    Trouble::new(
        format!("{origin}: {key} is {shown}, but must be {wanted}"),
        format!("set {key} to {wanted}"),
    )
}

/// The type that serde expected, in plain words.
fn wanted(error: &str) -> String {
    let expected = error.rsplit_once("expected ").map_or(error, |(_, expected)| expected);
    let plain = match expected {
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        "a string" | "path string" | "a borrowed string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a list of `key: value` lines",
        other if other.starts_with("struct ") => "a list of `key: value` lines",
        other if other.starts_with("string or map") => "a word",
        other => return other.trim_start_matches("one of ").replace("`, `", " or ").replace('`', ""),
    };
    plain.to_owned()
}

/// Checks each key of a file by itself, so that the error names its line. The keys are those of `T`; `what` says what they
/// belong to.
///
/// # Errors
/// An unknown key, or a value of the wrong type.
pub fn check_keys<T: Default + Serialize + DeserializeOwned>(
    document: &Document,
    what: &str,
) -> Result<(), Trouble> {
    let known = fields(&T::default());
    for (key, value) in &document.values {
        let at = document.position(&[key]);
        let name = self::key(key).map_or(key.as_str(), |key| key.name);
        if !known.contains_key(name) {
            let nearest = nearest(key, known.keys().map(String::as_str)).unwrap_or_default();
            return Err(Trouble::new(
                format!("{at}: unknown {what} key \"{key}\""),
                format!("did you mean {nearest}?"),
            ));
        }
        let only = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        if let Err(error) = serde_json::from_value::<T>(only) {
            let error = error.to_string();
            // In a list of entries.
            if error.contains("unknown field") || error.contains("missing field") {
                return Err(Trouble::new(format!("{at}: {key}: {error}"), "correct this key"));
            }
            let setting = Setting { key: key.clone(), value: value.clone(), origin: at };
            return Err(wrong_value(&setting, &error, None));
        }
    }
    Ok(())
}

fn unfit(error: &serde_json::Error) -> Trouble {
    Trouble::new(format!("invalid settings: {error}"), "check the config file")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn layered(env: &[(&str, &str)], file: &str, options: &[Setting]) -> Result<Settings, Trouble> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yaml");
        fs::write(&path, file).unwrap();
        let lookup =
            |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        super::layered(&lookup, Some(&path), options)
    }

    fn option(key: &str, text: &str, option: &str) -> Vec<Setting> {
        vec![Setting::from_text(key, text, option)]
    }

    fn set(pairs: &[&str]) -> Vec<Setting> {
        pairs.iter().map(|pair| Setting::from_pair(pair, "--set").unwrap()).collect()
    }

    #[test]
    fn option_beats_file_beats_environment_beats_default() {
        let env =
            [("MLE_STAR_MODEL", "from-env"), ("MLE_STAR_TIME_LIMIT", "100"), ("MLE_STAR_LOG_LEVEL", "debug")];
        let with_option = || option("model", "from-option", "--model");
        let check = |env: &[(&str, &str)], file: &str, options: Vec<Setting>, expected: (&str, u64, &str)| {
            let config = layered(env, file, &options).unwrap().config;
            assert_eq!(
                (config.model.as_str(), config.time_limit_seconds, config.log_level.as_str()),
                expected
            );
        };
        check(&[], "", Vec::new(), ("sonnet", 86_400, "INFO"));
        check(&env, "", Vec::new(), ("from-env", 100, "DEBUG"));
        check(&env, "model: from-file\n", Vec::new(), ("from-file", 100, "DEBUG"));
        check(&env, "model: from-file\nlog_level: warn\n", with_option(), ("from-option", 100, "WARN"));
        check(
            &[],
            "time_limit_seconds: 5",
            option("time_limit_seconds", "7", "--time-limit"),
            ("sonnet", 7, "INFO"),
        );
        for (written, seconds) in [("90s", 90), ("10m", 600), ("2h", 7_200), ("1h 30m", 5_400)] {
            let env = [("MLE_STAR_TIME_LIMIT", written)];
            check(&env, "", Vec::new(), ("sonnet", seconds, "INFO"));
            let file = format!("time_limit_seconds: {written}\n");
            check(&[], &file, Vec::new(), ("sonnet", seconds, "INFO"));
        }
    }

    #[test]
    fn keys_are_set_from_texts() {
        let settings = set(&[
            "phase_time_budget.phase1_pct=15",
            "phase_time_budget.phase2_pct=60",
            "agent_models.coder=opus",
            "search_blocked_domains=[a.com, b.com]",
            "network=on",
        ]);
        let config = layered(&[], "", &settings).unwrap().config;
        assert_eq!((config.phase_time_budget.phase1_pct, config.phase_time_budget.phase3_pct), (15.0, 15.0));
        assert_eq!(config.agent_models.len(), 1);
        assert_eq!(config.search_blocked_domains, ["a.com", "b.com"]);
        assert_eq!(config.network, mle_star_domain::config::Switch::On);
        assert!(Setting::from_pair("time_limit_seconds", "--set").unwrap_err().hint.contains("KEY=VALUE"));
    }

    #[test]
    fn names_of_columns_are_no_yaml() {
        let names = |text: &str| {
            layered(&[], "", &option("ignore_columns", text, "--ignore-columns")).unwrap().task.roles.ignored
        };
        assert_eq!(names("Unnamed: 0, 2020,price #2,null"), ["Unnamed: 0", "2020", "price #2", "null"]);
        assert_eq!(names("[2020, a]"), ["2020", "a"]);
    }

    #[test]
    fn mistakes_name_their_place_and_what_is_right() {
        let check = |env: &[(&str, &str)], file: &str, options: Vec<Setting>, message: &str, hint: &str| {
            let trouble = layered(env, file, &options).unwrap_err();
            assert!(trouble.message.contains(message), "{trouble} / {message}");
            assert!(trouble.hint.contains(hint), "{} / {hint}", trouble.hint);
        };
        let none = Vec::new;
        check(&[], "model: a\nouter_steps: 3\n", none(), "config.yaml:2:1: unknown", "outer_loop_steps");
        check(&[], "phase_time_budget:\n  phase_1: 3\n", none(), "config.yaml:2:3: unknown", "phase1_pct");
        check(
            &[],
            "outer_loop_steps: ten\n",
            none(),
            "config.yaml:1:1: outer_loop_steps is \"ten\"",
            "a whole number",
        );
        check(&[], "agents: robots\n", none(), "agents is \"robots\"", "auto or claude or offline");
        check(
            &[],
            "\nouter_loop_steps: 0\n",
            none(),
            "outer_loop_steps must be at least 1 (",
            "outer_loop_steps",
        );
        check(&[], "phase_time_budget:\n  phase1_pct: 50\n", none(), "add up to 100", "");
        check(
            &[],
            "agent_models:\n  codr: x\n",
            none(),
            "2:3: agent_models: unknown agent \"codr\"",
            "agent_models.coder?",
        );
        check(
            &[("MLE_STAR_TIME_LIMIT", "soon")],
            "",
            none(),
            "MLE_STAR_TIME_LIMIT: time_limit_seconds",
            "whole number",
        );
        check(
            &[],
            "",
            set(&["time_limit=3"]),
            "--set: unknown config key \"time_limit\"",
            "time_limit_seconds",
        );
        check(&[], "", set(&["prices.x.input=1"]), "prices.x.input is not enough: missing field", "together");
        check(&[], "", option("direction", "up", "--direction"), "--direction", "maximize or minimize");
        check(&[], "openai:\n  urll: x\n", none(), "config.yaml:2:3: unknown", "did you mean openai.url?");
        check(&[], "prices:\n  m: {in: 1}\n", none(), "config.yaml:1:1: ", "");
        check(&[], "openai:\n  stall_seconds: 0\n", none(), "openai.stall_seconds must be at least 1", "");
        check(&[], "\tmodel: x\n", none(), "config.yaml:1:1: a tab", "spaces");
    }
}
