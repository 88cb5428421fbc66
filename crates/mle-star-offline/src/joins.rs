//! Auxiliary tables: the columns that join them to the training table, and the columns that they add.

use std::path::Path;

use serde::Serialize;

use crate::problem::{Columns, input_path, is_constant, is_number};
use mle_star_data::keys::{Key, key};
use mle_star_data::profile::{Column, ColumnKind, Profile, Table};

/// One auxiliary table, joined to train and test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Join {
    /// The table's name in scripts: the start of its variable and of its columns.
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
    let mut joins: Vec<Join> = Vec::new();
    for table in &profile.auxiliary {
        let name = free_name(profile, table, &joins);
        joins.extend(join(profile, table, targets, name));
    }
    joins
}

fn join(profile: &Profile, table: &Table, targets: &[&str], name: String) -> Option<Join> {
    profile.test.as_ref()?;
    let Key { columns: names, unique } = key(profile, table, targets.first().copied())?;
    let added: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| {
            !targets.contains(&column.name.as_str()) && !names.contains(&column.name) && !is_constant(column)
        })
        .collect();
    if added.is_empty() {
        return None;
    }
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

/// A name that no other table has, and whose columns neither train nor test has.
fn free_name(profile: &Profile, table: &Table, others: &[Join]) -> String {
    let plain = plain_name(&table.file);
    let own = || [Some(&profile.train), profile.test.as_ref()].into_iter().flatten();
    let starts = |name: &str, start: &str| {
        name.strip_prefix(start).is_some_and(|rest| {
            rest == "rows" || table.columns.iter().any(|column| rest.starts_with(&column.name))
        })
    };
    let is_free = |name: &String| {
        let start = format!("{name}_");
        let taken = own().flat_map(|own| &own.columns).any(|column| starts(&column.name, &start));
        !taken && others.iter().all(|other| other.name != *name)
    };
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or(plain)
}

/// The file's name without its ending, as a part of a Python name.
fn plain_name(file: &Path) -> String {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let stem = stem.strip_suffix(".csv").unwrap_or(stem);
    let plain: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("table_{plain}");
    }
    plain
}
