//! The settings of the Python package, as a typed dictionary.

use std::collections::BTreeMap;

use clap::CommandFactory as _;
use mle_star_domain::config::{Config, Form, Key};
use mle_star_domain::task::TaskKeys;
use mle_star_run::settings::{Invocation, keys};
use schemars::schema_for;
use serde_json::Value;

use super::json;
use crate::args::Cli;

/// Parameters of `mle_star.run` with names of their own, and what a call from Python has no use for.
const SKIPPED_OPTIONS: [&str; 7] = ["agents", "direction", "json", "metric", "quiet", "runs_dir", "target"];
/// Options of `mle-star run` that are no keys.
const OPTIONS: [&str; 3] = ["config", "jobs", "learn_from"];
const PATH: &str = "str | os.PathLike[str]";
const HEAD: &str = r#""""The settings of a run, made from the program's table of keys: do not edit.

`INSTA_UPDATE=always cargo test -p mle-star-cli reference` writes this file.
"""

from __future__ import annotations

import os
from typing import Any, Literal, TypedDict

#: Settings that are options of the program and no keys of its configuration.
ONLY_OPTIONS = (OPTIONS)


class Settings(TypedDict, total=False):
    """What a run can be told beside its data: keys of the configuration, and options of `mle-star run`."""

"#;

/// The module.
pub fn settings() -> String {
    let schema = json(&schema_for!(Config));
    let of_config = schema["properties"].as_object().into_iter().flatten();
    let of_config = of_config.map(|(name, field)| (name.as_str(), (kind(name, field, &schema), text(field))));
    let others = Invocation::KEYS.iter().chain(TaskKeys::all()).map(Key::option_name).chain(OPTIONS);
    let others = others.map(|name| (name, (other_kind(name).to_owned(), help(name))));
    let mut fields: BTreeMap<&str, (String, String)> = of_config.chain(others).collect();
    fields.retain(|name, _| !SKIPPED_OPTIONS.contains(name));
    let field = |(name, (kind, about)): (&&str, &(String, String))| {
        format!("    {name}: {kind}\n{}\n", wrapped(&format!("\"\"\"{about}\"\"\"")))
    };
    HEAD.replace("(OPTIONS)", &format!("({})", OPTIONS.map(|name| format!("{name:?}")).join(", ")))
        + &fields.iter().map(field).collect::<String>()
}

/// The type of a key of the configuration.
fn kind(name: &str, field: &Value, schema: &Value) -> String {
    match keys().find(|key| key.name == name).map(|key| key.form) {
        Some(Form::Switch) => "bool | Literal[\"on\", \"off\"]".to_owned(),
        Some(Form::Path | Form::Command) => PATH.to_owned(),
        _ if name.ends_with("_seconds") => "int | str".to_owned(),
        _ => typed(field, &schema["$defs"]),
    }
}

/// The type of a value with this schema.
fn typed(field: &Value, types: &Value) -> String {
    if let Some(name) = field["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return typed(&types[name], types);
    }
    let choices = ["anyOf", "oneOf"].into_iter().find_map(|name| field[name].as_array());
    if let Some(choices) = choices {
        let words: Option<Vec<&Value>> = choices.iter().map(|choice| choice.get("const")).collect();
        let kinds = || choices.iter().map(|one| typed(one, types)).filter(|kind| kind != "None");
        return words.map_or_else(|| kinds().collect::<Vec<_>>().join(" | "), |words| literal(&words));
    }
    if let Some(words) = field["enum"].as_array() {
        return literal(&words.iter().collect::<Vec<_>>());
    }
    let name = field["type"].as_str().or(field["type"][0].as_str());
    match name {
        Some("string") => "str".to_owned(),
        Some("integer") => "int".to_owned(),
        Some("number") => "float".to_owned(),
        Some("array") => format!("list[{}]", typed(&field["items"], types)),
        Some("null") => "None".to_owned(),
        _ => "dict[str, Any]".to_owned(),
    }
}

fn literal(words: &[&Value]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    format!("Literal[{}]", words.join(", "))
}

/// The type of what is no key of the configuration.
fn other_kind(name: &str) -> &'static str {
    match name {
        "config" | "metric_file" => PATH,
        "ignore_columns" | "runner" => "str | list[str]",
        "learn_from" => "str | os.PathLike[str] | list[str | os.PathLike[str]]",
        "jobs" => "int",
        "positive_class" => "int | str",
        "runners" => "list[dict[str, Any]]",
        "test_share" => "float",
        _ => "str",
    }
}

fn text(field: &Value) -> String {
    field["description"].as_str().unwrap_or_default().to_owned()
}

/// What the help of `mle-star run` says about an option.
fn help(name: &str) -> String {
    let program = Cli::command();
    let arg =
        program.find_subcommand("run").and_then(|run| run.get_arguments().find(|arg| arg.get_id() == name));
    let help = arg.and_then(|arg| arg.get_help()).map(ToString::to_string);
    help.map_or_else(
        || "Runners on other machines.".to_owned(),
        |help| help.replace(" (repeatable)", "") + ".",
    )
}

/// A text in lines of at most 120 letters, indented.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().filter(|line| line.len() + word.len() < 115);
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.extend([" ", word]),
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
