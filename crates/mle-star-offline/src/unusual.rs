//! Values that scripts must treat with care: numbers too large for models, and texts that look like numbers.

use std::collections::HashSet;

use serde::Serialize;

use crate::columns::{Columns, input_path};
use crate::metric::Metric;
use crate::row_time::TimeColumn;
use mle_star_tables::metrics::Kind;
use mle_star_tables::profile::{Column, ColumnKind, INFERENCE_ROWS, Profile, Table};

/// pandas reads at least so many cells of a table at once.
const CELLS_AT_ONCE: usize = 500_000;

/// What is unusual about the values of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Unusual {
    /// Whether a feature has infinite or huge values, or may have them in rows that were not looked at.
    pub(crate) huge: bool,
    /// Whether a numeric feature may have texts in rows that were not looked at.
    pub(crate) unseen: bool,
    /// Whether a numeric target has infinite or huge values.
    pub(crate) huge_target: bool,
    /// Numeric features with words or blank cells among their numbers.
    pub(crate) nearly_numbers: Vec<String>,
    /// The columns to read as text, because pandas would write them in another way: the ID, class labels, and categories
    /// that it would write in two ways.
    pub(crate) as_text: Vec<String>,
    /// Columns with words that look missing but are values, and these words.
    pub(crate) words: Vec<(String, Vec<String>)>,
    /// The files of all tables, if there are such words.
    pub(crate) files: Vec<String>,
    /// Whether pandas would read a table in parts, each with kinds of its own for the columns.
    pub(crate) in_parts: bool,
    /// Whether pandas alone would misread some dates: those that begin with the day, if others begin with the year, and `Jan-24`.
    pub(crate) own_dates: bool,
    /// Python: the arguments that read these columns as text, and these words as values.
    pub(crate) reading: String,
    /// Whether class labels that differ in blanks alone have to be made equal.
    pub(crate) padded: bool,
    /// Whether class labels are numbers that are read as text.
    pub(crate) numbered: bool,
}

/// What is unusual about the values of this task; `time` is the column that orders rows.
pub(crate) fn unusual(
    profile: &Profile,
    id: Option<&str>,
    target: &Column,
    metric: &Metric,
    time: Option<&TimeColumn>,
    columns: &Columns,
) -> Unusual {
    let time = time.map(|time| time.column.as_str());
    let tables = || profile.auxiliary.iter().chain([&profile.train]).chain(&profile.test);
    let unseen = tables().any(|table| table.rows > INFERENCE_ROWS);
    let is_huge = |column: &Column| column.huge > 0 && column.name != target.name;
    let classes = !matches!(metric.id.kind_for(target.distinct), Kind::Numbers | Kind::Intervals);
    let padded = classes && target.padded > 0 && !target.kind.is_number();
    // The order of classes is that of their numbers where the metric counts their distance.
    let respelled = classes && target.respelled && !metric.ordinal;
    let is_id = |table: &Table| id.and_then(|id| table.column(id)).is_some_and(|column| column.respelled);
    let named = id.filter(|id| time != Some(*id) && tables().chain(&profile.sample).any(is_id));
    let label = (padded || respelled).then_some(target.name.as_str());
    let long =
        profile.train.columns.iter().filter(|column| column.long && time != Some(column.name.as_str()));
    let mut as_text: Vec<String> = named
        .into_iter()
        .chain(label)
        .chain(long.map(|column| column.name.as_str()))
        .map(str::to_owned)
        .chain(differently_read(profile, columns, time))
        .collect();
    let mut seen = HashSet::new();
    as_text.retain(|name| seen.insert(name.clone()));
    let words: Vec<(String, Vec<String>)> = profile
        .text_columns
        .iter()
        .filter(|column| !column.words.is_empty())
        .map(|column| (column.column.clone(), column.words.clone()))
        .collect();
    let is_large = |table: &Table| table.rows * table.columns.len() > CELLS_AT_ONCE;
    let in_parts = tables().chain(&profile.sample).any(is_large);
    Unusual {
        unseen,
        huge: unseen || tables().any(|table| table.columns.iter().any(is_huge)),
        huge_target: !classes && target.huge > 0,
        files: if words.is_empty() { Vec::new() } else { files(profile) },
        in_parts,
        own_dates: tables().any(|table| table.columns.iter().any(is_misread)),
        reading: reading(&as_text, &words, in_parts),
        words,
        as_text,
        nearly_numbers: nearly_numbers(profile, columns),
        padded,
        numbered: respelled && matches!(target.kind, ColumnKind::Integer | ColumnKind::Float),
    }
}

/// Whether pandas alone would misread some dates of a column.
fn is_misread(column: &Column) -> bool {
    let is_month_of_year = |value: &str| {
        let parts = value.trim().split_once('-');
        parts.is_some_and(|(month, year)| {
            month.starts_with(|first: char| first.is_ascii_alphabetic()) && year.len() == 2
        })
    };
    let has_months = || column.top_values.iter().any(|(value, _)| is_month_of_year(value));
    column.kind == ColumnKind::Date && (column.day_first || has_months())
}

fn files(profile: &Profile) -> Vec<String> {
    let own = [Some(&profile.train), profile.test.as_ref(), profile.sample.as_ref()];
    own.into_iter().flatten().chain(&profile.auxiliary).map(input_path).collect()
}

fn reading(as_text: &[String], words: &[(String, Vec<String>)], in_parts: bool) -> String {
    let text = if as_text.is_empty() { "" } else { ", dtype=AS_TEXT" };
    let words = if words.is_empty() { "" } else { ", keep_default_na=False, na_values=MISSING" };
    let whole = if in_parts { ", low_memory=False" } else { "" };
    format!("{text}{words}{whole}")
}

/// Categories that pandas would read as numbers or truth values in one table and as text in the other, so that `1` would
/// be another category than `1.0`.
fn differently_read(profile: &Profile, columns: &Columns, time: Option<&str>) -> Vec<String> {
    let kind = |table: &Table, name: &str| table.column(name).map(|column| column.kind);
    let differs = |name: &&String| {
        let in_test = profile.test.as_ref().and_then(|test| kind(test, name));
        in_test != Some(ColumnKind::Empty) && in_test != kind(&profile.train, name)
    };
    let categories = columns.categorical.iter().chain(&columns.many_levels).filter(differs);
    categories.filter(|name| time != Some(name.as_str())).cloned().collect()
}

fn nearly_numbers(profile: &Profile, columns: &Columns) -> Vec<String> {
    let tables = || [Some(&profile.train), profile.test.as_ref()].into_iter().flatten();
    let nearly = |name: &&String| {
        tables().any(|table| table.column(name.as_str()).is_some_and(|column| column.nearly_numbers))
    };
    columns.numeric.iter().filter(nearly).cloned().collect()
}
