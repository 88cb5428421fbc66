//! Auxiliary tables: the columns that join them to the training table, and the columns that they add.

use std::path::Path;

use serde::Serialize;

use crate::problem::{Columns, input_path, is_number};
use mle_star_data::keys::{Key, key};
use mle_star_data::profile::{Column, ColumnKind, Profile, Table};

/// One auxiliary table, joined to train and test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Join {
    /// The variable of the table.
    pub(crate) name: String,
    pub(crate) file: String,
    /// The key columns, which both tables have.
    pub(crate) keys: Vec<String>,
    /// Whether each key occurs once. If not, columns are summarised per key.
    pub(crate) unique: bool,
    /// Columns with words or blank cells among their numbers.
    pub(crate) nearly_numbers: Vec<String>,
    /// Columns to summarise, with the functions to use.
    pub(crate) summaries: Vec<(String, &'static [&'static str])>,
    /// The new feature columns.
    pub(crate) gives: Columns,
}

/// The possible joins of a data folder, in the order of its tables.
pub(crate) fn joins(profile: &Profile, targets: &[&str]) -> Vec<Join> {
    profile.auxiliary.iter().filter_map(|table| join(profile, table, targets)).collect()
}

fn join(profile: &Profile, table: &Table, targets: &[&str]) -> Option<Join> {
    profile.test.as_ref()?;
    let Key { columns: names, unique } = key(profile, table, targets.first().copied())?;
    let added: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| {
            !targets.contains(&column.name.as_str()) && !names.contains(&column.name) && column.distinct > 1
        })
        .collect();
    if added.is_empty() {
        return None;
    }
    let name = variable_name(&table.file);
    let summaries = if unique { Vec::new() } else { added.iter().filter_map(|c| summary(c)).collect() };
    let gives = if unique { taken_columns(&name, &added) } else { summary_columns(&name, &summaries) };
    let is_nearly = |column: &&Column| {
        let taken_as_number = column.kind.is_number() || (!names.contains(&column.name) && is_number(column));
        column.nearly_numbers && taken_as_number && !targets.contains(&column.name.as_str())
    };
    let nearly_numbers = table.columns.iter().filter(is_nearly).map(|column| column.name.clone()).collect();
    Some(Join { file: input_path(table), keys: names, unique, nearly_numbers, summaries, gives, name })
}

fn summary(column: &Column) -> Option<(String, &'static [&'static str])> {
    let functions: &[&str] = match column.kind {
        _ if is_number(column) => &["mean", "min", "max"],
        ColumnKind::Category | ColumnKind::Boolean => &["nunique"],
        _ => return None,
    };
    Some((column.name.clone(), functions))
}

fn taken_columns(table: &str, added: &[&Column]) -> Columns {
    let mut columns = Columns::default();
    for column in added {
        columns.add(format!("{table}_{}", column.name), column);
    }
    columns
}

fn summary_columns(table: &str, summaries: &[(String, &'static [&'static str])]) -> Columns {
    let one = |(column, functions): &(String, &'static [&'static str])| {
        functions.iter().map(|function| format!("{table}_{column}_{function}")).collect::<Vec<_>>()
    };
    let mut numeric: Vec<String> = summaries.iter().flat_map(one).collect();
    numeric.push(format!("{table}_rows"));
    Columns { numeric, ..Columns::default() }
}

/// The file's stem as a Python name.
fn variable_name(file: &Path) -> String {
    let stem = file.file_name().and_then(|name| name.to_str()).unwrap_or("table");
    let stem = stem.split('.').next().unwrap_or("table");
    let plain: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let reserved = ["train", "test", "y", "id", "np", "pd", "os", "oof", "score", "metric", "final", ""];
    if reserved.contains(&plain.as_str()) || plain.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("table_{plain}");
    }
    plain
}
