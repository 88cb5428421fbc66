//! The generated parts of `docs/`: commands, keys, variables, fields of `result.json` and of events. And the settings of the
//! Python package.
//!
//! Each test compares one part with its page. `INSTA_UPDATE=always cargo test -p mle-star-cli reference` writes them.

mod commands;
mod fields;
mod python;

use std::fs;
use std::path::PathBuf;

use mle_star::event::line_schema;
use mle_star::result::FinalResult;
use mle_star_domain::config::{Config, Key};
use mle_star_domain::task::TaskKeys;
use mle_star_run::settings::{Invocation, keys};
use schemars::schema_for;
use serde_json::Value;

fn docs(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs", name].iter().collect()
}

/// Compares a file with its new contents, or writes them.
fn agrees(file: &str, contents: &str) {
    mle_star_needs::assert_file(&docs(file), contents);
}

/// Compares the part of a page between `<!-- begin NAME -->` and `<!-- end NAME -->`, or writes it.
fn part_agrees(page: &str, name: &str, part: &str) {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let written = fs::read_to_string(docs(page)).unwrap();
    let (before, rest) = written.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    agrees(page, &format!("{before}{begin}\n{}\n\n{end}{after}", part.trim()));
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn the_page_of_commands_is_up_to_date() {
    part_agrees("commands.md", "commands", &commands::markdown());
}

#[test]
fn the_page_of_the_configuration_is_up_to_date() {
    let table = fields::with_defaults(&json(&schema_for!(Config)), &json(&Config::default()));
    part_agrees("configuration.md", "keys", &table);
    let others: Vec<&str> = Invocation::KEYS.iter().chain(TaskKeys::all()).map(Key::option_name).collect();
    let others = format!("A config file may also set `{}`.", others.join("`, `"));
    part_agrees("configuration.md", "other keys", &others);
    let variables = keys().filter_map(|key| Some((key.variable?, key.name)));
    let variables: String = variables.map(|(name, key)| format!("| `{name}` | `{key}` |\n")).collect();
    part_agrees("configuration.md", "variables", &format!("| variable | key |\n|---|---|\n{variables}"));
}

#[test]
fn the_page_of_the_result_is_up_to_date() {
    let schema = json(&schema_for!(FinalResult));
    part_agrees("result.md", "fields", &fields::table(&schema, &["config"]));
    agrees("result.schema.json", &format!("{}\n", serde_json::to_string_pretty(&schema).unwrap()));
}

#[test]
fn the_page_of_the_events_is_up_to_date() {
    part_agrees("events.md", "fields", &fields::event_sections(&json(&line_schema())));
}

#[test]
fn the_settings_of_the_python_package_are_up_to_date() {
    agrees("../python/mle_star/_settings.py", &python::settings());
}
