//! Auxiliary tables: by which columns they join the training table, and what they add to it.

use std::path::Path;

use serde::Serialize;

use crate::problem::{Columns, input_path};
use mle_star_data::profile::{Column, ColumnKind, Profile, Table};

/// One auxiliary table, joined to train and test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Join {
    /// Variable that holds the table.
    pub(crate) name: String,
    pub(crate) file: String,
    /// Columns that name a row on both sides.
    pub(crate) keys: Vec<String>,
    /// Each key occurs once: columns are taken as they are. Otherwise they are summarised per key.
    pub(crate) unique: bool,
    /// Columns to summarise, with the functions to do it with.
    pub(crate) summaries: Vec<(String, &'static [&'static str])>,
    /// What the joined table has as new feature columns.
    pub(crate) gives: Columns,
}

/// The joins that a data folder offers, in the order of its tables.
pub(crate) fn joins(profile: &Profile, target: &str) -> Vec<Join> {
    profile.auxiliary.iter().filter_map(|table| join(profile, table, target)).collect()
}

fn join(profile: &Profile, table: &Table, target: &str) -> Option<Join> {
    let test = profile.test.as_ref()?;
    let shared: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| column.name != target && column.distinct > 0)
        .filter(|column| {
            [&profile.train, test]
                .iter()
                .all(|side| side.column(&column.name).is_some_and(|twin| same_type(column.kind, twin.kind)))
        })
        .collect();
    let keys = keys(&shared, table.rows);
    let unique = names_rows(&keys, table);
    let names: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
    let added: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| column.name != target && !names.contains(&column.name) && column.distinct > 1)
        .collect();
    if names.is_empty() || added.is_empty() {
        return None;
    }
    let name = variable_name(&table.file);
    let summaries = if unique { Vec::new() } else { added.iter().filter_map(|c| summary(c)).collect() };
    let gives = if unique { taken_columns(&name, &added) } else { summary_columns(&name, &summaries) };
    Some(Join { file: input_path(table), keys: names, unique, summaries, gives, name })
}

/// A single column that names each row is the key; otherwise all shared columns that look like names.
fn keys<'a>(shared: &[&'a Column], rows: usize) -> Vec<&'a Column> {
    let nameable = |column: &&&Column| !matches!(column.kind, ColumnKind::Float | ColumnKind::Text);
    if let Some(single) = shared.iter().filter(nameable).find(|column| column.distinct == rows) {
        return vec![single];
    }
    shared.iter().filter(nameable).copied().collect()
}

/// One key that is different in every row, or several that are so together.
fn names_rows(keys: &[&Column], table: &Table) -> bool {
    match keys {
        [] => false,
        [single] => single.distinct == table.rows && single.missing == 0,
        several => {
            several.len() == table.row_key.len()
                && several.iter().all(|key| table.row_key.contains(&key.name))
        }
    }
}

fn same_type(one: ColumnKind, other: ColumnKind) -> bool {
    let numeric = |kind| matches!(kind, ColumnKind::Integer | ColumnKind::Float);
    numeric(one) == numeric(other)
}

fn summary(column: &Column) -> Option<(String, &'static [&'static str])> {
    let functions: &[&str] = match column.kind {
        ColumnKind::Integer | ColumnKind::Float => &["mean", "min", "max"],
        ColumnKind::Category | ColumnKind::Boolean => &["nunique"],
        ColumnKind::Date | ColumnKind::Text | ColumnKind::Empty => return None,
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
