//! Auxiliary tables: the columns that join them to the training table or to each other, and the columns that they add.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::columns::{Columns, input_path, is_constant, is_number};
use mle_star_tables::profile::{Column, ColumnKind, INFERENCE_ROWS, Profile, Table};
use mle_star_tables::relations::{Cutoff, Date, Link};

/// The functions that summarise numbers.
const NUMBER_STATS: &[&str] = &["mean", "min", "max"];
/// Further ones, unless a table has many numbers.
const MORE_STATS: &[&str] = &["mean", "min", "max", "std"];
/// Parts of a table's time, of each of which the last one is recent.
const RECENT_PARTS: [u32; 3] = [3, 10, 30];
/// Those for rows in the order of time.
const ORDERED_STATS: &[&str] = &["mean", "min", "max", "std", "last"];
const MANY_NUMBERS: usize = 12;
/// Those for what a joined table has summarised already.
const NESTED_STATS: &[&str] = &["mean"];
/// Those for numbers of a table that joins another auxiliary one.
const PART_STATS: &[&str] = &["mean", "max", "sum"];
/// The functions that summarise dates, as days before the last one of the table.
const DATE_STATS: &[&str] = &["min", "max"];
/// The functions that summarise categories, and numbers that only name something.
const WORD_STATS: &[&str] = &["nunique"];
/// Of categories with as few values as a profile keeps, the share of each value is known, too.
const FEW_VALUES: usize = 10;
/// The greatest number of such shares of a table.
const MAX_SHARES: usize = 40;
/// The greatest numbers of columns and of cells that a table gets from the tables that join it.
const MAX_COLUMNS: usize = 100;
const MAX_CELLS: usize = 30_000_000;
/// The greatest number of columns of training and test rows by further links of the same tables.
const MAX_ROLE_COLUMNS: usize = 200;

/// One auxiliary table, joined to train and test, or to another auxiliary table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Join {
    /// The table's name in scripts: the start of its variable and of its columns.
    pub(crate) name: String,
    pub(crate) file: String,
    /// The tables that join this one.
    pub(crate) joins: Vec<Join>,
    /// Its key columns.
    pub(crate) own: Vec<String>,
    /// The names of the same columns in the table that it joins.
    pub(crate) keys: Vec<String>,
    /// Whether each key occurs once. If not, columns are summarised per key.
    pub(crate) unique: bool,
    /// Whether it tells the other table its keys, so that rows without one are of no use.
    pub(crate) tells_keys: bool,
    /// Key columns that are read as text.
    pub(crate) as_text: Vec<String>,
    /// Columns with words or blank cells among their numbers.
    pub(crate) nearly_numbers: Vec<String>,
    /// Columns to summarise, with the functions to use.
    pub(crate) summaries: Vec<(String, &'static [&'static str])>,
    /// Categories whose values have shares: their column, the value and the column that it becomes.
    pub(crate) shares: Vec<Share>,
    /// The dates that order rows.
    pub(crate) order: Option<Order>,
    /// The columns of recent rows: parts of the table's time, each with the share of rows in the last such part.
    pub(crate) recent: Vec<(u32, String)>,
    /// The dates of training and test rows, if only rows before them are known.
    pub(crate) before: Option<Order>,
    /// The days that the test rows are later than the last row of the table.
    pub(crate) lag: f64,
    /// The new columns.
    #[serde(skip)]
    columns: Vec<Column>,
}

/// The share of one value among the rows of a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Share {
    pub(crate) column: String,
    /// As Python.
    pub(crate) value: String,
    /// The column that it becomes.
    pub(crate) name: String,
}

/// A column of dates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Order {
    pub(crate) column: String,
    pub(crate) day_first: bool,
    /// Further columns of dates, the last of which counts.
    pub(crate) further: Vec<Order>,
}

impl Order {
    fn new(column: &str, day_first: bool) -> Self {
        Self { column: column.to_owned(), day_first, further: Vec::new() }
    }

    fn by(date: &Date) -> Self {
        Self::new(&date.column, date.day_first)
    }
}

/// The possible joins of a data folder with these links, in the order of its tables. Columns of the training table and the test
/// table with a name in `as_text` are read as text.
pub(crate) fn joins(profile: &Profile, links: &[Link], targets: &[&str], as_text: &[String]) -> Vec<Join> {
    let Some(test) = &profile.test else { return Vec::new() };
    let joined = links.iter().filter_map(|link| link.to).map(|to| &profile.auxiliary[to]);
    let own = [&profile.train, test].into_iter().chain(joined);
    let taken = own.flat_map(|own| &own.columns).map(|column| column.name.clone()).collect();
    Tree { profile, targets, links, taken }.joins_to(None, as_text)
}

/// The links of the tables, on the way to joins.
struct Tree<'a> {
    profile: &'a Profile,
    targets: &'a [&'a str],
    links: &'a [Link],
    /// Names of columns.
    taken: HashSet<String>,
}

impl Tree<'_> {
    /// The joins to a table, and those to their tables.
    fn joins_to(&mut self, to: Option<usize>, as_text: &[String]) -> Vec<Join> {
        let rows = self.profile.train.rows + self.profile.test.as_ref().map_or(0, |test| test.rows);
        let mut left = MAX_ROLE_COLUMNS.min(MAX_CELLS / rows.max(1));
        let (mut joins, mut seen): (Vec<Join>, Vec<usize>) = (Vec::new(), Vec::new());
        for link in self.links {
            // Rows before the dates of training and test rows join these rows themselves.
            let cutoffs: Vec<Option<Cutoff>> = match &link.cutoffs[..] {
                [] if link.to == to => vec![None],
                cutoffs if to.is_none() => cutoffs.iter().cloned().map(Some).collect(),
                _ => Vec::new(),
            };
            let several = cutoffs.len() > 1;
            for cutoff in cutoffs {
                let Some(join) = self.join(link, cutoff, several, as_text) else { continue };
                if seen.contains(&link.table) {
                    if join.columns.len() > left {
                        continue;
                    }
                    left -= join.columns.len();
                }
                seen.push(link.table);
                joins.push(join);
            }
        }
        joins
    }

    /// The join of a link to a table of which these columns are read as text. Keys have to be equal in all tables. The link may have
    /// several cutoffs.
    fn join(
        &mut self,
        link: &Link,
        mut cutoff: Option<Cutoff>,
        several: bool,
        as_text: &[String],
    ) -> Option<Join> {
        let keys = match &mut cutoff {
            Some(cutoff) => self.keys(link, cutoff, as_text)?,
            None => None,
        };
        let (own, columns) = match &cutoff {
            Some(cutoff) => (&cutoff.own, &cutoff.columns),
            None => (&link.own, &link.columns),
        };
        let pairs = own.iter().zip(columns).filter(|_| keys.is_none());
        let mut table = self.profile.auxiliary[link.table].clone();
        let of_text = pairs.filter(|(_, column)| as_text.contains(column)).map(|(own, _)| own);
        let is_long = |column: &&Column| column.long && !own.contains(&column.name);
        let long = table.columns.iter().filter(is_long).map(|column| &column.name);
        let as_text: Vec<String> = of_text.chain(long).cloned().collect();
        let mut joins = self.joins_to(Some(link.table), &as_text);
        let is_key = |column: &Column| keys.iter().chain(&joins).any(|join| join.keys.contains(&column.name));
        for column in table.columns.iter_mut().filter(|column| !column.kind.is_number()) {
            column.nearly_numbers &= !is_key(column);
        }
        let mut left = MAX_COLUMNS.min(MAX_CELLS / table.rows.max(1));
        joins.retain(|join| {
            let fits = join.columns.len() <= left;
            left -= if fits { join.columns.len() } else { 0 };
            fits
        });
        joins.extend(keys);
        table.columns.extend(joins.iter().flat_map(|join| join.columns.clone()));
        let names = self.names(link, cutoff.as_ref().filter(|_| several));
        let name = free_name(&names, &table, &self.taken);
        let join = join(link, cutoff.as_ref(), &table, joins, self.targets, name)?;
        let join = Join { as_text, ..join };
        self.taken.extend(column_names(&join.name, &table));
        Some(join)
    }

    /// What a join may be called: like its table or, of several joins of a table, like the column that refers to it. `one_of` is the
    /// cutoff if the link has several.
    fn names(&self, link: &Link, one_of: Option<&Cutoff>) -> Vec<String> {
        let table = plain_name(&self.profile.auxiliary[link.table].file);
        let is_twin = |other: &&Link| (other.table, other.to) == (link.table, link.to);
        let twins: Vec<&Link> = self.links.iter().filter(is_twin).collect();
        let is_own = |column: &&String| !twins.iter().all(|twin| twin.columns.contains(*column));
        let role = match one_of {
            Some(cutoff) => cutoff.columns.first(),
            None if twins.len() > 1 => link.columns.iter().find(is_own).or(link.columns.last()),
            None => None,
        };
        match role.map(|role| plain(role)) {
            Some(role) => vec![role.clone(), format!("{role}_{table}")],
            None => vec![table],
        }
    }

    /// The join that tells a table with a cutoff the keys of its rows, if another table has them; `None` if it cannot. The cutoff
    /// gets their names in the table.
    fn keys(&mut self, link: &Link, cutoff: &mut Cutoff, as_text: &[String]) -> Option<Option<Join>> {
        let Some(way) = &cutoff.way else { return Some(None) };
        let mut table = self.profile.auxiliary[way.table].clone();
        table
            .columns
            .retain(|column| way.columns.contains(&column.name) || cutoff.own.contains(&column.name));
        let name = free_name(&[plain_name(&table.file)], &table, &self.taken);
        let (own, columns) = (way.columns.clone(), way.own.clone());
        let lookup =
            Link { table: way.table, to: Some(link.table), own, columns, unique: true, cutoffs: Vec::new() };
        let pairs = cutoff.own.iter().zip(&cutoff.columns);
        let as_text =
            pairs.filter(|(_, column)| as_text.contains(column)).map(|(own, _)| own.clone()).collect();
        cutoff.own = cutoff.own.iter().map(|own| format!("{name}_{own}")).collect();
        self.taken.extend(column_names(&name, &table));
        let keys = join(&lookup, None, &table, Vec::new(), &[], name)?;
        Some(Some(Join { as_text, tells_keys: true, ..keys }))
    }
}

impl Join {
    /// The new feature columns.
    pub(crate) fn gives(&self) -> Columns {
        let mut columns = Columns::default();
        self.columns.iter().for_each(|column| columns.add(column.name.clone(), column));
        columns
    }

    /// What is joined, in words.
    pub(crate) fn words(&self) -> String {
        let file = self.file.trim_start_matches("./input/");
        let further = self.joins.iter().map(Self::words).collect::<Vec<_>>().join(", ");
        let further = if further.is_empty() { further } else { format!(" (with {further})") };
        let before = self.before.iter().map(|date| format!(" before {}", date.column)).collect::<String>();
        format!("{file} by {}{before}{further}", self.keys.join(" and "))
    }

    fn gave(&self, column: &Column) -> bool {
        self.columns.iter().any(|own| own.name == column.name)
    }
}

/// Two joins that look up rows of the same table.
pub(crate) struct JoinPair<'a> {
    /// The columns that refer to these rows.
    pub(crate) names: [&'a str; 2],
    /// The columns that they give alike.
    pub(crate) columns: Vec<[String; 2]>,
}

/// All pairs of such joins.
pub(crate) fn twins(joins: &[Join]) -> Vec<JoinPair<'_>> {
    let pairs = joins.iter().enumerate();
    let pairs = pairs.flat_map(|(at, one)| joins[at + 1..].iter().map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| JoinPair::new(one, other)).collect()
}

impl<'a> JoinPair<'a> {
    fn new(one: &'a Join, other: &'a Join) -> Option<Self> {
        let key = |one: &'a Join, other: &Join| {
            one.keys.iter().find(|key| !other.keys.contains(key)).or(one.keys.first()).map(String::as_str)
        };
        let names = [key(one, other)?, key(other, one)?];
        let columns = one.columns.iter().zip(&other.columns);
        let columns = columns.map(|(one, other)| [one.name.clone(), other.name.clone()]).collect();
        let are_alike = one.unique && other.unique && (&one.file, &one.own) == (&other.file, &other.own);
        are_alike.then_some(Self { names, columns })
    }
}

/// The join of a table to which `joins` have added columns.
fn join(
    link: &Link,
    cutoff: Option<&Cutoff>,
    table: &Table,
    joins: Vec<Join>,
    targets: &[&str],
    name: String,
) -> Option<Join> {
    let (own, keys, unique) = match cutoff {
        Some(cutoff) => (cutoff.own.clone(), cutoff.columns.clone(), false),
        None => (link.own.clone(), link.columns.clone(), link.unique),
    };
    let added: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| {
            !targets.contains(&column.name.as_str()) && !own.contains(&column.name) && !is_constant(column)
        })
        .collect();
    if added.is_empty() {
        return None;
    }
    let summed: &[&Column] = if unique { &[] } else { &added };
    let is_own = |column: &&&Column| !joins.iter().any(|join| join.gave(column));
    let order = match cutoff {
        Some(cutoff) => order_of(cutoff, summed),
        None => order(summed.iter().filter(is_own)),
    };
    let before = cutoff.filter(|_| order.is_some());
    let before = before.map(|cutoff| Order::by(&cutoff.date));
    let is_direct = link.to.is_none() || cutoff.is_some();
    let summaries = summaries(is_direct, table, &joins, summed, order.as_ref());
    let shares = shares(&name, summed);
    // Of rows without a date of their own, the first and the last date tell as much.
    let moments = order.iter().filter(|_| before.is_some());
    let recent = |order: &Order| RECENT_PARTS.map(|part| (part, recent_name(&name, &order.column, part)));
    let recent: Vec<_> = moments.flat_map(recent).collect();
    let further: Vec<&String> =
        recent.iter().map(|(_, name)| name).chain(shares.iter().map(|share| &share.name)).collect();
    let columns =
        if unique { taken_columns(&name, &added) } else { summary_columns(&name, &summaries, &further) };
    let is_nearly = |column: &&Column| {
        let taken_as_number = column.kind.is_number() || (!own.contains(&column.name) && is_number(column));
        column.nearly_numbers && taken_as_number && !targets.contains(&column.name.as_str())
    };
    let nearly_numbers = table.columns.iter().filter(is_nearly).map(|column| column.name.clone()).collect();
    Some(Join {
        file: input_path(table),
        joins,
        own,
        keys,
        unique,
        tells_keys: false,
        as_text: Vec::new(),
        nearly_numbers,
        summaries,
        shares,
        order,
        recent,
        before,
        lag: cutoff.map_or(0.0, |cutoff| cutoff.lag),
        columns,
        name,
    })
}

/// The columns to summarise, with their functions. Whether a table joins training and test rows is `is_direct`.
fn summaries(
    is_direct: bool,
    table: &Table,
    joins: &[Join],
    summed: &[&Column],
    order: Option<&Order>,
) -> Vec<(String, &'static [&'static str])> {
    let numbers = if is_direct { number_functions(summed, order.is_some()) } else { PART_STATS };
    let is_summary = |column: &Column| joins.iter().any(|join| !join.unique && join.gave(column));
    let functions = |column: &Column| if is_summary(column) { NESTED_STATS } else { numbers };
    let is_order = |column: &Column| order.is_some_and(|order| order.column == column.name);
    // Other columns of dates are left out.
    let is_summed = |column: &&&Column| column.kind != ColumnKind::Date || is_order(column);
    let is_key = |column: &Column| joins.iter().any(|join| join.keys.contains(&column.name));
    let names =
        |column: &Column| !is_order(column) && (is_key(column) || column.says_code && column.names_things);
    let summary = |column: &&Column| match names(column) {
        true if table.is_named_by(column) => None,
        true => Some((column.name.clone(), WORD_STATS)),
        false => summary(column, functions(column)),
    };
    summed.iter().filter(is_summed).filter_map(summary).collect()
}

/// The dates of a table that has one column of them.
fn order<'a>(added: impl Iterator<Item = &'a &'a Column>) -> Option<Order> {
    let mut dates = added.filter(|column| column.kind == ColumnKind::Date);
    let only = dates.next().filter(|_| dates.next().is_none())?;
    Some(Order::new(&only.name, only.day_first))
}

/// The dates from which the rows of a table are known, if models get one of them.
fn order_of(cutoff: &Cutoff, summed: &[&Column]) -> Option<Order> {
    let mut dates: Vec<Order> = cutoff.own_dates.iter().map(Order::by).collect();
    let first = dates.iter().position(|date| summed.iter().any(|column| column.name == date.column))?;
    let order = dates.remove(first);
    Some(Order { further: dates, ..order })
}

fn number_functions(added: &[&Column], in_order: bool) -> &'static [&'static str] {
    let numbers = added.iter().filter(|column| is_number(column)).count();
    match in_order {
        _ if numbers > MANY_NUMBERS => NUMBER_STATS,
        true => ORDERED_STATS,
        false => MORE_STATS,
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
            value: as_python(value, column.kind),
            name: format!("{table}_{}_{value}", column.name),
        };
        column.top_values.iter().map(share).collect::<Vec<_>>()
    };
    // Columns such as `a_b` and `a` may have values that give the same name.
    let mut taken: HashSet<String> = added.iter().map(|column| column.name.clone()).collect();
    let mut is_new = |share: &Share| taken.insert(share.name.clone());
    let offered = added.iter().filter(has_few).flat_map(of_column);
    offered.filter(|share| is_new(share)).take(MAX_SHARES).collect()
}

/// The column of the share of rows in the last part of the time of a table.
fn recent_name(table: &str, date: &str, part: u32) -> String {
    format!("{table}_{date}_recent_{part}")
}

/// A value of a category as scripts read it.
fn as_python(value: &str, kind: ColumnKind) -> String {
    match (kind, value.to_lowercase().as_str()) {
        (ColumnKind::Boolean, "true") => "True".to_owned(),
        (ColumnKind::Boolean, "false") => "False".to_owned(),
        _ => json!(value).to_string(),
    }
}

fn summary(column: &Column, numbers: &'static [&'static str]) -> Option<(String, &'static [&'static str])> {
    let functions = match column.kind {
        _ if is_number(column) => numbers,
        ColumnKind::Date => DATE_STATS,
        ColumnKind::Category | ColumnKind::Boolean => WORD_STATS,
        _ => return None,
    };
    Some((column.name.clone(), functions))
}

fn taken_columns(table: &str, added: &[&Column]) -> Vec<Column> {
    let taken = |column: &&Column| {
        let mut taken = (**column).clone();
        taken.name = format!("{table}_{}", column.name);
        if is_number(column) && column.nearly_numbers {
            // Scripts have made numbers of its words.
            (taken.kind, taken.nearly_numbers) = (ColumnKind::Float, false);
        }
        taken
    };
    added.iter().map(taken).collect()
}

fn summary_columns(
    table: &str,
    summaries: &[(String, &'static [&'static str])],
    further: &[&String],
) -> Vec<Column> {
    let one = |(column, functions): &(String, &'static [&'static str])| {
        functions.iter().map(|function| format!("{table}_{column}_{function}")).collect::<Vec<_>>()
    };
    let summed = summaries.iter().flat_map(one);
    let names = summed.chain(further.iter().map(|name| (*name).clone())).chain([format!("{table}_rows")]);
    // Nobody has counted the values; they may be many.
    let number =
        |name| Column { name, kind: ColumnKind::Float, distinct: INFERENCE_ROWS, ..Column::default() };
    names.map(number).collect()
}

/// The first of these names whose columns are not taken, or the last one with a number.
fn free_name(names: &[String], table: &Table, taken: &HashSet<String>) -> String {
    let is_free = |name: &String| column_names(name, table).all(|column| !taken.contains(&column));
    let last = names.last().map_or("", String::as_str);
    let numbered = (2..).map(|number| format!("{last}_{number}"));
    names.iter().cloned().chain(numbered).find(is_free).unwrap_or_default()
}

/// The columns that a table of this name may give.
fn column_names(name: &str, table: &Table) -> impl Iterator<Item = String> {
    let of_column = move |column: &Column| {
        let plain = format!("{name}_{}", column.name);
        let summaries =
            ORDERED_STATS.iter().chain(WORD_STATS).chain(PART_STATS).map(|stat| format!("{plain}_{stat}"));
        let values = column.top_values.iter().map(|(value, _)| format!("{plain}_{value}"));
        let recent = RECENT_PARTS.map(|part| recent_name(name, &column.name, part));
        summaries.chain(values).chain(recent).chain([plain.clone()]).collect::<Vec<_>>()
    };
    table.columns.iter().flat_map(of_column).chain([format!("{name}_rows")])
}

/// The file's name without its ending, like a column.
fn plain_name(file: &Path) -> String {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    plain(stem.strip_suffix(".csv").unwrap_or(stem))
}

/// A name as a part of a Python name.
fn plain(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("table_{plain}");
    }
    plain
}
