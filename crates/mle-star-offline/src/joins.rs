//! Auxiliary tables: the columns that join them to the training table, and the columns that they add.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use crate::problem::{Columns, input_path, is_constant, is_number};
use mle_star_data::keys::{Key, key};
use mle_star_data::profile::{Column, ColumnKind, Profile, Table};

/// The functions that summarise numbers.
const NUMBERS: &[&str] = &["mean", "min", "max"];
/// Further ones, unless a table has many numbers.
const MORE: &[&str] = &["mean", "min", "max", "std"];
/// Those for rows in the order of time.
const IN_ORDER: &[&str] = &["mean", "min", "max", "std", "last"];
const MANY_NUMBERS: usize = 12;
/// The functions that summarise dates, as days before the last one of the table.
const DATES: &[&str] = &["min", "max"];
/// The functions that summarise categories.
const WORDS: &[&str] = &["nunique"];
/// Of categories with as few values as a profile keeps, the share of each value is known, too.
const FEW_VALUES: usize = 10;
/// The greatest number of such shares of a table.
const MOST_SHARES: usize = 40;

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
    /// Categories whose values have shares: their column, the value and the column that it becomes.
    pub(crate) shares: Vec<Share>,
    /// The dates that order rows.
    pub(crate) order: Option<Order>,
    /// The new feature columns.
    pub(crate) gives: Columns,
}

/// The share of one value among the rows of a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Share {
    pub(crate) column: String,
    pub(crate) value: String,
    /// The column that it becomes.
    pub(crate) name: String,
}

/// A column of dates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Order {
    pub(crate) column: String,
    pub(crate) day_first: bool,
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
    let summed: &[&Column] = if unique { &[] } else { &added };
    let order = order(summed);
    let functions = number_functions(summed, order.is_some());
    // Several columns of dates are left out.
    let is_summed = |column: &&&Column| column.kind != ColumnKind::Date || order.is_some();
    let summaries: Vec<_> =
        summed.iter().filter(is_summed).filter_map(|column| summary(column, functions)).collect();
    let shares = shares(&name, summed);
    let gives =
        if unique { taken_columns(&name, &added) } else { summary_columns(&name, &summaries, &shares) };
    let is_nearly = |column: &&Column| {
        let taken_as_number = column.kind.is_number() || (!names.contains(&column.name) && is_number(column));
        column.nearly_numbers && taken_as_number && !targets.contains(&column.name.as_str())
    };
    let nearly_numbers = table.columns.iter().filter(is_nearly).map(|column| column.name.clone()).collect();
    Some(Join {
        file: input_path(table),
        keys: names,
        unique,
        nearly_numbers,
        summaries,
        shares,
        order,
        gives,
        name,
    })
}

/// The dates of a table that has one column of them.
fn order(added: &[&Column]) -> Option<Order> {
    let mut dates = added.iter().filter(|column| column.kind == ColumnKind::Date);
    let only = dates.next().filter(|_| dates.next().is_none())?;
    Some(Order { column: only.name.clone(), day_first: only.day_first })
}

fn number_functions(added: &[&Column], in_order: bool) -> &'static [&'static str] {
    let numbers = added.iter().filter(|column| is_number(column)).count();
    match in_order {
        _ if numbers > MANY_NUMBERS => NUMBERS,
        true => IN_ORDER,
        false => MORE,
    }
}

/// The shares of the values of categories that have few.
fn shares(table: &str, added: &[&Column]) -> Vec<Share> {
    let has_few = |column: &&&Column| {
        matches!(column.kind, ColumnKind::Category | ColumnKind::Boolean)
            && !is_number(column)
            // Scripts find only values that pandas leaves as they are in the file.
            && !column.respelled
            && column.padded == 0
            && (2..=FEW_VALUES).contains(&column.distinct)
    };
    let of_column = |column: &&Column| {
        let share = |(value, _): &(String, usize)| Share {
            column: column.name.clone(),
            value: value.clone(),
            name: format!("{table}_{}_{value}", column.name),
        };
        column.top_values.iter().map(share).collect::<Vec<_>>()
    };
    // Columns such as `a_b` and `a` may have values that give the same name.
    let mut taken: HashSet<String> = added.iter().map(|column| column.name.clone()).collect();
    let mut is_new = |share: &Share| taken.insert(share.name.clone());
    let offered = added.iter().filter(has_few).flat_map(of_column);
    offered.filter(|share| is_new(share)).take(MOST_SHARES).collect()
}

fn summary(column: &Column, numbers: &'static [&'static str]) -> Option<(String, &'static [&'static str])> {
    let functions = match column.kind {
        _ if is_number(column) => numbers,
        ColumnKind::Date => DATES,
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

fn summary_columns(
    table: &str,
    summaries: &[(String, &'static [&'static str])],
    shares: &[Share],
) -> Columns {
    let one = |(column, functions): &(String, &'static [&'static str])| {
        functions.iter().map(|function| format!("{table}_{column}_{function}")).collect::<Vec<_>>()
    };
    let mut numeric: Vec<String> = summaries.iter().flat_map(one).collect();
    numeric.extend(shares.iter().map(|share| share.name.clone()));
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
        let summaries = IN_ORDER.iter().chain(WORDS).map(|function| format!("{plain}_{function}"));
        let values = column.top_values.iter().map(|(value, _)| format!("{plain}_{value}"));
        summaries.chain(values).chain([plain.clone()]).collect::<Vec<_>>()
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
