//! Tells agents in a few lines of Markdown what the data holds.
//!
//! [`summarize`] describes the tables, the target, the columns and the other files of a data folder. It describes them
//! as scripts see them: held-out rows are rows of the test table, and nothing is said about their labels. Columns are
//! described from at most [`ROWS_LOOKED_AT`](super::profile::ROWS_LOOKED_AT) rows, which are spread over the table.

mod auxiliary;
mod column;
mod columns;
mod effects;
mod files;
mod media;
mod names;
mod relations;
mod tables;
mod target;
mod times;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::task::ColumnRoles;

use super::facts::CLASSES_WITHOUT_ROWS;
use super::folder::{self, Listing};
use super::links::links;
use super::profile::{self, Column, Profile, Table};
use tables::TableFacts;
use target::Labels;

/// The greatest number of characters of a summary.
pub const MOST: usize = 7_500;

/// The greatest number of characters of each section. The section of the columns gets what the others leave.
const TABLES: usize = 900;
const TARGETS: usize = 1_200;
const RELATIONS: usize = 1_700;
const TIMES: usize = 1_400;
const FIRST_ROWS: usize = 1_100;
const AUXILIARY: usize = 900;
const FILES: usize = 1_000;
/// The same without a training table.
const ONLY_FILES: usize = 4_000;
/// Columns of the sample submission, and of a table alone.
const NAMES: usize = 8;

/// The data that is summarized.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The data folder.
    pub data_dir: &'a Path,
    /// Its tables; `None` without a readable training table.
    pub profile: Option<&'a Profile>,
    /// The column to predict.
    pub target: Option<&'a str>,
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// The roles of further columns.
    pub roles: Option<&'a ColumnRoles>,
    /// How the test rows differ from the training rows.
    pub split: Option<&'a Split>,
    /// The first and the last time of the rows to predict, where these are later: seconds for dates, else the column's
    /// values.
    pub period: Option<[f64; 2]>,
    /// The tables that the folder has instead of the user's files, which a description may name: each table, and the file.
    pub instead: &'a [(PathBuf, PathBuf)],
}

/// Summarizes a data folder in Markdown with at most [`MOST`] characters. A table that cannot be read is one sentence.
pub fn summarize(asked: &Asked<'_>) -> String {
    let listing = match folder::list(asked.data_dir) {
        Ok(listing) => listing,
        Err(trouble) => return format!("The data cannot be read: {}.", words::sentence(&trouble.message)),
    };
    let text = match asked.profile {
        Some(profile) => with_profile(asked, profile, &listing),
        None => joined(&[
            without_profile(asked.data_dir, &listing),
            files::section(asked.data_dir, &listing, &[], ONLY_FILES),
        ]),
    };
    text.chars().take(MOST).collect()
}

fn with_profile(asked: &Asked<'_>, profile: &Profile, listing: &Listing) -> String {
    let chosen = columns::in_detail(asked, profile);
    let links = links(profile, asked.target, asked.id);
    let direct = links.iter().filter(|link| link.to.is_none());
    let keys: Vec<Vec<String>> = direct.map(|link| link.columns.clone()).collect();
    let facts = match tables::read(asked, profile, &chosen, &keys) {
        Ok(facts) => facts,
        Err(error) => return format!("The tables cannot be read: {}.", words::sentence(&error.to_string())),
    };
    let named = files::named(profile, &facts.first_rows);
    let labels = facts.labels.iter().find(|labels| Some(labels.column()) == asked.target);
    let told = relations::relations(asked, profile, labels, RELATIONS)
        .and_then(|relations| Ok([relations, times::times(asked, profile, labels, TIMES)?]));
    let [relations, times] = match told {
        Ok(told) => told,
        Err(error) => return format!("The tables cannot be read: {}.", words::sentence(&error.to_string())),
    };
    let before =
        [tables_section(asked, profile, &facts), target_section(profile, &facts.labels), relations, times];
    let after = [
        first_rows_section(asked, profile, &facts.first_rows),
        auxiliary::section(asked, profile, listing, (&links, &facts)),
        files::section(asked.data_dir, listing, &named, FILES),
    ];
    let used: usize = before.iter().chain(&after).map(|section| section.chars().count() + 2).sum();
    let columns = columns::section(asked, profile, (&chosen, &facts), MOST.saturating_sub(used));
    let [tables, target, relations, times] = before;
    let [first_rows, auxiliary, files] = after;
    joined(&[tables, target, relations, times, columns, first_rows, auxiliary, files])
}

/// The sections with text, with an empty line between them.
fn joined(sections: &[String]) -> String {
    let texts: Vec<&str> = sections.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// A title and lines below it, with at most `room` characters; empty without lines.
fn section(title: &str, lines: &[String], room: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("## {title}\n\n{}", words::fit(lines, room.saturating_sub(title.len() + 5)).join("\n"))
}

fn tables_section(asked: &Asked<'_>, profile: &Profile, facts: &TableFacts) -> String {
    let given = |table: &Table| asked.instead.iter().find(|(plain, _)| *plain == table.file);
    let instead = |table: &Table| {
        let given = given(table).map(|(_, given)| words::path(given));
        given.map_or_else(String::new, |given| format!(" (`./input` has it instead of {given})"))
    };
    let size = |table: &Table, rows: usize| {
        let columns = words::counted(table.columns.len(), "column");
        let file = words::path(&table.file);
        format!("- {file}{}: {}, {columns}", instead(table), words::counted(rows, "row"))
    };
    let whole = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    let mut lines = vec![size(&profile.train, whole(facts.train.rows))];
    if let (Some(table), Some(test)) = (&profile.test, &facts.test) {
        lines.push(size(table, whole(test.rows)));
    }
    if let Some(sample) = &profile.sample {
        let columns: Vec<String> = sample.columns.iter().map(in_sample).collect();
        lines.push(format!("{}: {}", size(sample, sample.rows), words::list(&columns, NAMES)));
    }
    lines.extend(only_in_one(asked, profile));
    lines.extend(asked.split.and_then(difference));
    section("Tables", &lines, TABLES)
}

/// How the test rows differ. The reason of the split is no help: it tells of all labelled rows.
fn difference(split: &Split) -> Option<String> {
    let column = words::name(split.column.as_deref()?);
    match split.kind {
        SplitKind::Time if split.has_own_ends() => Some(format!(
            "- The test rows are later than the training rows of their series by {}, by {column}",
            split.series_words()
        )),
        SplitKind::Time if split.given => {
            Some(format!("- Rows to predict count as later than the training rows, by {column}"))
        }
        SplitKind::Time => Some(format!("- The test rows are later than the training rows, by {column}")),
        SplitKind::Groups if split.given => Some(format!("- Rows of a group belong together, by {column}")),
        SplitKind::Groups => Some(format!("- The test rows belong to other groups, by {column}")),
        SplitKind::Rows | SplitKind::Stratified => None,
    }
}

/// A column of the sample submission.
fn in_sample(column: &Column) -> String {
    let name = words::name(&column.name);
    match column.top_values.as_slice() {
        [(only, _)] if column.missing == 0 => format!("{name} (always {})", words::value(only)),
        _ => format!("{name} ({})", column.kind.name()),
    }
}

/// The columns that only one of the two tables has.
fn only_in_one(asked: &Asked<'_>, profile: &Profile) -> Vec<String> {
    let Some(test) = &profile.test else { return Vec::new() };
    let targets = asked.targets(profile);
    let only = |table: &Table, other: &Table| {
        let lacks = |column: &&Column| {
            other.column(&column.name).is_none() && targets.iter().all(|target| target.name != column.name)
        };
        let names: Vec<String> =
            table.columns.iter().filter(lacks).map(|column| words::name(&column.name)).collect();
        let file = words::path(&table.file);
        (!names.is_empty()).then(|| format!("- Only in {file}: {}", words::list(&names, NAMES)))
    };
    only(&profile.train, test).into_iter().chain(only(test, &profile.train)).collect()
}

fn target_section(profile: &Profile, labels: &[Labels]) -> String {
    let lines = labels.iter().map(|labels| format!("- {}", labels.line()));
    let lines: Vec<String> = lines.chain(without_rows(profile)).collect();
    section("Target", &lines, TARGETS)
}

/// The columns of the sample submission for classes that no training row has, and what to write there.
fn without_rows(profile: &Profile) -> Option<String> {
    let found = profile.columns_without_rows();
    let names: Vec<String> = found.iter().map(|name| words::name(name)).collect();
    let sample = words::path(&profile.sample.as_ref()?.file);
    (!names.is_empty()).then(|| {
        let names = words::list(&names, NAMES);
        format!("- No training row has these classes of {sample}: {names}; {CLASSES_WITHOUT_ROWS}.")
    })
}

/// The first rows of the training table, with as many columns as fit. The targets are among them.
fn first_rows_section(asked: &Asked<'_>, profile: &Profile, rows: &[Vec<String>]) -> String {
    let columns = &profile.train.columns;
    let cells = |at: usize| -> Vec<String> {
        let cells = rows.iter().map(|row| words::plain(row.get(at).map_or("", String::as_str), 30));
        let head = [format!(" {} |", words::plain(&columns[at].name, 30)), "---|".to_owned()];
        head.into_iter().chain(cells.map(|cell| format!(" {cell} |"))).collect()
    };
    let targets = asked.targets(profile);
    let is_target = |at: &usize| targets.iter().any(|target| target.name == columns[*at].name);
    let (first, others): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_target);
    let mut left = FIRST_ROWS.saturating_sub(100 + rows.len() + 2);
    let mut shown = BTreeMap::new();
    for at in first.into_iter().chain(others) {
        let column = cells(at);
        let length = column.iter().map(|cell| cell.chars().count()).sum::<usize>();
        let Some(rest) = left.checked_sub(length) else { break };
        (left, _) = (rest, shown.insert(at, column));
    }
    if shown.is_empty() || rows.is_empty() {
        return String::new();
    }
    let mut lines = vec![String::from("|"); rows.len() + 2];
    for column in shown.values() {
        lines.iter_mut().zip(column).for_each(|(line, cell)| line.push_str(cell));
    }
    let (few, all) = (shown.len(), columns.len());
    let of = if few < all { format!(", {few} of {all} columns") } else { String::new() };
    section(&format!("First rows of {}{of}", words::path(&profile.train.file)), &lines, FIRST_ROWS)
}

/// The tables one by one, where the training table cannot be read.
fn without_profile(data_dir: &Path, listing: &Listing) -> String {
    let line = |source: &folder::Source| {
        let file = words::path(&source.file);
        match profile::read_table(data_dir, source) {
            Ok(table) => {
                let columns: Vec<String> = table.columns.iter().map(in_table).collect();
                let rows = words::counted(table.rows, "row");
                format!("- {file}: {rows}; columns {}", words::list(&columns, 3 * NAMES))
            }
            Err(trouble) => format!("- {file} cannot be read: {}.", words::sentence(&trouble.message)),
        }
    };
    section("Tables", &listing.tables().map(line).collect::<Vec<_>>(), MOST / 3)
}

/// A column of a table that stands alone.
fn in_table(column: &Column) -> String {
    let name = words::name(&column.name);
    let values: Vec<String> =
        column.top_values.iter().take(2).map(|(value, _)| words::value(value)).collect();
    match column.top_values.as_slice() {
        [] => name,
        [(only, _)] if column.missing == 0 => format!("{name} (always {})", words::value(only)),
        _ => format!("{name} ({}, such as {})", column.kind.name(), values.join(", ")),
    }
}

impl<'a> Asked<'a> {
    /// The columns to predict: the target, and further columns that the sample submission asks for.
    fn targets(&self, profile: &'a Profile) -> Vec<&'a Column> {
        let asked = |name: &str| profile.sample.as_ref().is_some_and(|sample| sample.column(name).is_some());
        let in_test = |name: &str| profile.test.as_ref().is_some_and(|test| test.column(name).is_some());
        let is_target = |column: &&Column| {
            let name = column.name.as_str();
            Some(name) == self.target || Some(name) != self.id && asked(name) && !in_test(name)
        };
        profile.train.columns.iter().filter(is_target).collect()
    }

    /// The column by which the rows to predict are later, if they are.
    fn later_in(&self) -> Option<&'a str> {
        let split = self.split.filter(|split| split.kind == SplitKind::Time)?;
        split.column.as_deref()
    }
}

#[cfg(test)]
mod tests;
