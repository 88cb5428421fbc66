//! The columns of the training table: some in detail, the others by their kinds.

use std::collections::{BTreeMap, HashMap};

use mle_star_domain::protocol::SplitKind;
use mle_star_domain::task::ColumnRoles;

use super::column::Facts;
use super::tables::TableFacts;
use super::{Asked, words};
use crate::profile::{Column, ColumnKind, Profile};

/// The greatest number of columns in detail.
const IN_DETAIL: usize = 40;
/// Shares of missing values that differ by less are said to be equal.
const NOTABLE: f64 = 0.02;
/// Characters that are kept for the other columns.
const OTHERS: usize = 500;
/// Values are rare if none is in more than one of this many rows.
const RARE: usize = 100;
/// Most frequent values that are shown; all of a few, if they are short.
const LEVELS: usize = 4;
const ALL_LEVELS: usize = 12;
const SHORT_LEVELS: usize = 160;

/// Columns of the same kind make a series if at least this many have the same name before a number.
const SERIES: usize = 5;
/// In a wide table, columns of a series that are shown.
const OF_SERIES: usize = 3;

/// The kind of a series and the name before the number.
type Series<'a> = (ColumnKind, &'a str);

const KINDS: [ColumnKind; 7] = [
    ColumnKind::Integer,
    ColumnKind::Float,
    ColumnKind::Boolean,
    ColumnKind::Date,
    ColumnKind::Category,
    ColumnKind::Text,
    ColumnKind::Empty,
];

/// A column with a part in the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Id,
    LaterInTest,
    OtherGroupsInTest,
    Time,
    Group,
    Weight,
    Ignored,
    Feature,
}

/// The columns to describe in detail, most interesting first. Targets have their own section.
pub(super) fn in_detail<'a>(asked: &Asked<'_>, profile: &'a Profile) -> Vec<&'a Column> {
    let targets = asked.targets(profile);
    let is_feature = |column: &&Column| targets.iter().all(|target| target.name != column.name);
    let mut columns: Vec<&Column> = profile.train.columns.iter().filter(is_feature).collect();
    if columns.len() > IN_DETAIL {
        columns = with_few_alike(&columns);
    }
    let is_wide = columns.len() > IN_DETAIL;
    // Among many numbers, a few dates and texts are interesting.
    let rank = |column: &&Column| {
        let rare = matches!(column.kind, ColumnKind::Date | ColumnKind::Text | ColumnKind::Category);
        (role(asked, profile, column), is_wide && !rare)
    };
    columns.sort_by_key(rank);
    columns.truncate(IN_DETAIL);
    columns
}

/// Only the first columns of each series, such as `f0` to `f311`.
fn with_few_alike<'a>(columns: &[&'a Column]) -> Vec<&'a Column> {
    let series = series(columns);
    let mut shown: HashMap<Series<'_>, usize> = HashMap::new();
    let is_among_first = |column: &&'a Column| {
        let shown = shown.entry(series_of(column)).or_default();
        *shown += 1;
        *shown <= OF_SERIES || series[&series_of(column)] < SERIES
    };
    columns.iter().copied().filter(is_among_first).collect()
}

/// How many columns each series has.
fn series<'a>(columns: &[&'a Column]) -> HashMap<Series<'a>, usize> {
    let mut series = HashMap::new();
    columns.iter().for_each(|column| *series.entry(series_of(column)).or_default() += 1);
    series
}

fn series_of(column: &Column) -> Series<'_> {
    (column.kind, column.name.trim_end_matches(|letter: char| letter.is_ascii_digit()))
}

/// Whether a column that is no target has no part in the task but that of a feature.
pub(super) fn is_feature(asked: &Asked<'_>, profile: &Profile, column: &Column) -> bool {
    role(asked, profile, column) == Role::Feature
}

fn role(asked: &Asked<'_>, profile: &Profile, column: &Column) -> Role {
    let name = Some(column.name.as_str());
    let split = asked.split.filter(|split| split.column.as_deref() == name);
    let has = |of: fn(&ColumnRoles) -> Option<&String>| asked.roles.and_then(of).map(String::as_str) == name;
    match split.map(|split| split.kind) {
        _ if name == asked.id => Role::Id,
        _ if has(|roles| roles.weight.as_ref()) => Role::Weight,
        _ if has(|roles| roles.group.as_ref()) => Role::Group,
        _ if has(|roles| roles.time.as_ref()) => Role::Time,
        _ if asked.roles.is_some_and(|roles| roles.is_no_feature(&column.name)) => Role::Ignored,
        Some(SplitKind::Time) => Role::LaterInTest,
        Some(SplitKind::Groups) => Role::OtherGroupsInTest,
        _ if profile.groups.iter().any(|group| group.column == column.name) => Role::OtherGroupsInTest,
        _ => Role::Feature,
    }
}

/// The section of the columns, with at most `room` characters.
pub(super) fn section(
    asked: &Asked<'_>,
    profile: &Profile,
    (chosen, facts): (&[&Column], &TableFacts),
    room: usize,
) -> String {
    let title = format!("## Columns of {}\n\n", words::path(&profile.train.file));
    let head = "| column | type | missing | distinct | values |\n|---|---|---|---|---|\n";
    let legend = legend(facts);
    let length = |text: &str| text.chars().count();
    let mut left = room.saturating_sub(length(&title) + length(head) + length(&legend) + OTHERS);
    let mut rows = String::new();
    let mut shown: Vec<&str> = asked.targets(profile).iter().map(|target| target.name.as_str()).collect();
    for (at, column) in chosen.iter().enumerate() {
        let Some(row) = row(role(asked, profile, column), at, facts) else { continue };
        if length(&row) > left {
            break;
        }
        left -= length(&row);
        rows.push_str(&row);
        shown.push(&column.name);
    }
    let others: Vec<&Column> =
        profile.train.columns.iter().filter(|column| !shown.contains(&column.name.as_str())).collect();
    let others = words::fit(&groups(&others), OTHERS).join("\n");
    let table = if rows.is_empty() { String::new() } else { format!("{head}{rows}") };
    format!("{title}{legend}{table}\n{others}").trim_end().to_owned()
}

/// What the values are.
fn legend(facts: &TableFacts) -> String {
    let sampled = match facts.train.sampled as u64 {
        sampled if sampled < facts.train.rows => {
            format!(" Computed from {} rows.", words::count(sampled))
        }
        _ => String::new(),
    };
    let is_new = facts.unseen.iter().flatten().any(|(new, _)| *new > 0);
    let new = if is_new { " \"new\": test rows whose value no training row has." } else { "" };
    format!("Values: minimum / quartiles / maximum, or the most frequent ones.{new}{sampled}\n\n")
}

/// A column in one row of the table.
fn row(role: Role, at: usize, facts: &TableFacts) -> Option<String> {
    let train = facts.train.columns.get(at)?.as_ref()?;
    let test = facts
        .test
        .as_ref()
        .and_then(|test| test.columns.get(at)?.as_ref().map(|facts| (facts, test.sampled)));
    let column = &train.column;
    let role = match role {
        Role::Id => ", row ID",
        Role::LaterInTest => ", later in test",
        Role::OtherGroupsInTest => ", other groups in test",
        Role::Time => ", time of the row",
        Role::Group => ", group, no feature",
        Role::Weight => ", weight of the row, no feature",
        Role::Ignored => ", no feature",
        Role::Feature => "",
    };
    let mut values = vec![values(train, facts.train.sampled)];
    values.extend(test.and_then(|(test, _)| range_in_test(train, test)));
    if let Some((new, all)) = facts.unseen.get(at).copied().flatten().filter(|(new, _)| *new > 0) {
        values.push(format!("new {}", words::share(new, all)));
    }
    values.retain(|text| !text.is_empty());
    Some(format!(
        "| {} | {}{role} | {} | {} | {} |\n",
        words::name(&column.name),
        column.kind.name(),
        missing(train, facts.train.sampled, test),
        words::count(column.distinct as u64),
        values.join("; ")
    ))
}

/// The share of missing values; that of the test table if it is another one.
fn missing(train: &Facts, rows: usize, test: Option<(&Facts, usize)>) -> String {
    let part = |missing: usize, rows: usize| missing as f64 / rows.max(1) as f64;
    let in_train = words::share(train.column.missing, rows);
    match test {
        Some((test, test_rows))
            if (part(test.column.missing, test_rows) - part(train.column.missing, rows)).abs() >= NOTABLE =>
        {
            format!("{in_train}, test {}", words::share(test.column.missing, test_rows))
        }
        _ => in_train,
    }
}

fn values(facts: &Facts, rows: usize) -> String {
    let column = &facts.column;
    let filled = rows.saturating_sub(column.missing);
    let top = column.top_values.first().map_or(0, |(_, rows)| *rows);
    match (column.kind, &facts.quantiles, &facts.dates) {
        (ColumnKind::Empty, ..) => String::new(),
        (_, _, Some((first, last))) => format!("{} to {}", words::plain(first, 30), words::plain(last, 30)),
        // Codes and flags.
        (ColumnKind::Integer, ..) if column.distinct <= LEVELS => levels(column, filled),
        (ColumnKind::Integer | ColumnKind::Float, Some(quantiles), _) => {
            quantiles.map(words::number).join(" / ")
        }
        (ColumnKind::Text, ..) => format!("{:.0} characters on average", column.mean_length),
        _ if top * RARE <= filled || top <= 1 => {
            let examples: Vec<String> =
                column.top_values.iter().take(2).map(|(value, _)| words::value(value)).collect();
            format!("such as {}", examples.join(", "))
        }
        _ => levels(column, filled),
    }
}

fn levels(column: &Column, filled: usize) -> String {
    let one =
        |(value, rows): &(String, usize)| format!("{} {}", words::value(value), words::share(*rows, filled));
    let mut shown: Vec<String> = column.top_values.iter().take(ALL_LEVELS).map(one).collect();
    let length = shown.iter().map(|level| level.chars().count() + 2).sum::<usize>();
    if column.distinct > ALL_LEVELS || length > SHORT_LEVELS {
        shown.truncate(LEVELS);
    }
    let more = if column.distinct > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The range in the test table, if it is another one: for dates, and for numbers most of which lie outside that of the
/// training table.
fn range_in_test(train: &Facts, test: &Facts) -> Option<String> {
    if let (Some(train), Some(test)) = (&train.dates, &test.dates) {
        let (first, last) = (words::plain(&test.0, 30), words::plain(&test.1, 30));
        return (train != test).then(|| format!("test {first} to {last}"));
    }
    let ([low, .., high], [first, _, median, _, last]) = (train.quantiles?, test.quantiles?);
    let range = || format!("test {} to {}", words::number(first), words::number(last));
    (median < low || median > high).then(range)
}

/// The other columns, a line for each series and for the rest of each kind.
fn groups(others: &[&Column]) -> Vec<String> {
    let series = series(others);
    let mut groups: BTreeMap<(usize, &str), Vec<&Column>> = BTreeMap::new();
    for column in others {
        let kind = KINDS.iter().position(|kind| *kind == column.kind).unwrap_or(KINDS.len());
        let key = series_of(column);
        let name = if series[&key] < SERIES { "" } else { key.1 };
        groups.entry((kind, name)).or_default().push(column);
    }
    groups.values().filter_map(|columns| group(columns)).collect()
}

/// Columns of the same kind in one line.
fn group(columns: &[&Column]) -> Option<String> {
    let (first, last) = (columns.first()?, columns.last()?);
    let names = match columns {
        [only] => words::name(&only.name),
        [_, _] => format!("{} and {}", words::name(&first.name), words::name(&last.name)),
        _ => format!("{} … {}", words::name(&first.name), words::name(&last.name)),
    };
    let missing = match columns.iter().filter(|column| column.missing > 0).count() {
        _ if first.kind == ColumnKind::Empty => String::new(),
        0 => ", no missing values".to_owned(),
        some => format!(", missing values in {}", words::count(some as u64)),
    };
    let constant = match columns.iter().filter(|column| column.distinct == 1).count() {
        0 => String::new(),
        constant => format!(", {constant} constant"),
    };
    let number = words::counted(columns.len(), &format!("more {} column", first.kind.name()));
    Some(format!("- {number}: {names}{missing}{constant}"))
}
