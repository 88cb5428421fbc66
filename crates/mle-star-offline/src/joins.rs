//! Auxiliary tables: the columns that join them to the training table, and the columns that they add.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use crate::problem::{Columns, input_path, is_constant, is_number};
use mle_star_data::keys::{Key, key};
use mle_star_data::profile::{Column, ColumnKind, Profile, Table};

/// The functions that summarise numbers.
const NUMBERS: &[&str] = &["mean", "min", "max"];
/// The functions that summarise categories.
const WORDS: &[&str] = &["nunique"];

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
    let own = [Some(&profile.train), profile.test.as_ref()].into_iter().flatten();
    let mut taken: HashSet<String> =
        own.flat_map(|own| &own.columns).map(|column| column.name.clone()).collect();
    let mut joins: Vec<Join> = Vec::new();
    for table in &profile.auxiliary {
        let name = free_name(table, &taken);
        if let Some(join) = join(profile, table, targets, name) {
            taken.extend(column_names(&join.name, table));
            joins.push(join);
        }
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
    let functions = match column.kind {
        _ if is_number(column) => NUMBERS,
        ColumnKind::Category | ColumnKind::Boolean => WORDS,
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

/// A name whose columns are not taken.
fn free_name(table: &Table, taken: &HashSet<String>) -> String {
    let plain = plain_name(&table.file);
    let is_free = |name: &String| column_names(name, table).all(|column| !taken.contains(&column));
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or(plain)
}

/// The columns that a table of this name may give.
fn column_names(name: &str, table: &Table) -> impl Iterator<Item = String> {
    let of_column = move |column: &Column| {
        let plain = format!("{name}_{}", column.name);
        let summaries = NUMBERS.iter().chain(WORDS).map(|function| format!("{plain}_{function}"));
        summaries.chain([plain.clone()]).collect::<Vec<_>>()
    };
    table.columns.iter().flat_map(of_column).chain([format!("{name}_rows")])
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
