//! Finds auxiliary tables with rows that are known too early: those after the date of the row that they are joined to.
//!
//! A table of purchases may say more about the customers of old training rows than about those of new test rows, because
//! the purchases after the date of the row are there, too. Models learn from them and do not find them.

use std::collections::HashMap;
use std::io;

use crate::dates::{DAY, Reading, seconds};
use crate::links::Link;
use crate::profile::{Column, ColumnKind, Profile, Table};
use crate::records::digest;
use crate::table;

/// A table needs a cutoff if training rows and test rows differ by more than this in their share of later rows, and not by chance.
const SHIFT: f64 = 0.1;
/// Rows of the same date, or earlier ones, are of use if at least this share of the rows has some.
const ENOUGH: f64 = 0.2;

/// The date before which the rows of an auxiliary table have to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Cutoff {
    /// The column of dates that the training table and the test table have.
    pub date: Date,
    /// The columns of dates of the auxiliary table. A row is known from its last date on.
    pub own_dates: Vec<Date>,
    /// The days from the end of the auxiliary table to the test rows, in the median. Training rows must not know what happened
    /// in so many days before them either.
    pub lag: f64,
    /// The key columns of the auxiliary table, or of the one on the way, that are no dates.
    pub own: Vec<String>,
    /// The same columns of the training table and the test table.
    pub columns: Vec<String>,
    /// The table on the way to the training table; `None` if the auxiliary table has the keys itself.
    pub way: Option<Way>,
}

/// A column of dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// Its name.
    pub column: String,
    /// Whether its dates begin with the day: `31/01/2024`.
    pub day_first: bool,
}

/// A table between an auxiliary table and the training table: from payments, by accounts, to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The position among the auxiliary tables.
    pub table: usize,
    /// Its columns that name its rows.
    pub columns: Vec<String>,
    /// The same columns of the auxiliary table.
    pub own: Vec<String>,
}

/// What rows find in an auxiliary table.
#[derive(Debug, Default)]
struct Matches {
    rows: f64,
    /// Those that find rows of the same date, and those that find earlier ones.
    together: f64,
    earlier: f64,
    /// The sum of the shares of later rows, and that of their squares.
    later: f64,
    squares: f64,
    /// The moments of the rows.
    moments: Vec<f64>,
}

/// The cutoffs of the auxiliary table of `link`. It needs them if summaries of all its rows say something else about training rows
/// than about test rows, or if it would join by a date that hardly any row has. A table may join by way of another one; if several
/// columns refer to that one, there is a cutoff for each of them. `time` is the column that puts rows in order, if there is one.
/// There are no cutoffs if a table cannot be read.
pub fn cutoffs(profile: &Profile, links: &[Link], link: &Link, time: Option<&str>) -> Vec<Cutoff> {
    let by = |direct: &Link, way| cutoff(profile, direct, (link, way), time);
    let found: Vec<(Cutoff, bool)> = match link.to {
        None => by(link, None).into_iter().collect(),
        Some(_) if link.unique => Vec::new(),
        Some(to) => {
            let direct = links.iter().filter(|direct| direct.table == to && direct.to.is_none());
            let way = Way { table: to, columns: link.columns.clone(), own: link.own.clone() };
            direct.filter_map(|direct| by(direct, Some(way.clone()))).collect()
        }
    };
    let is_needed = found.iter().any(|(_, is_needed)| *is_needed);
    found.into_iter().filter(|_| is_needed).map(|(cutoff, _)| cutoff).collect()
}

/// The cutoff of a table with the keys of a link to the training table, and whether it is needed. `link` and `way` tell how the
/// table leads there.
fn cutoff(
    profile: &Profile,
    direct: &Link,
    (link, way): (&Link, Option<Way>),
    time: Option<&str>,
) -> Option<(Cutoff, bool)> {
    let table = &profile.auxiliary[link.table];
    let own_dates = dates(table);
    let is_date = |own: &String| own_dates.iter().any(|date| date.column == *own);
    let by_date = link.own.iter().position(is_date);
    if own_dates.is_empty() || way.is_some() && by_date.is_some() || link.unique && by_date.is_none() {
        return None;
    }
    let name = match by_date {
        Some(at) => link.columns[at].clone(),
        None => date_of(profile, time)?,
    };
    let sides = [Some(&profile.train), profile.test.as_ref()].into_iter().flatten();
    let sides: Vec<&Column> = sides.filter_map(|side| side.column(&name)).collect();
    if !sides.iter().all(|column| have_numbers(column)) {
        return None;
    }
    let date = Date { column: name, day_first: sides.iter().any(|column| column.day_first) };
    let keys = direct.own.iter().zip(&direct.columns).filter(|(own, _)| way.is_some() || !is_date(own));
    let (mut own, columns): (Vec<String>, Vec<String>) =
        keys.map(|(own, column)| (own.clone(), column.clone())).unzip();
    // The rows may name the keys themselves: sales have the employee whose number the training table has.
    let way = way.filter(|way| {
        let is_direct = way.columns == own;
        if is_direct {
            own.clone_from(&way.own);
        }
        !is_direct
    });
    let mut cutoff = Cutoff { date, own_dates, lag: 0.0, own, columns, way };
    let (found, end) = cutoff.found(profile, table).ok().filter(|_| !cutoff.own.is_empty())?;
    // No row of the table leads to a row of the training table.
    if end.is_infinite() {
        return None;
    }
    cutoff.lag = lag(&found[1], end);
    Some((cutoff, is_needed(&found, by_date.is_some())))
}

/// The columns of dates that scripts read as they are meant.
fn dates(table: &Table) -> Vec<Date> {
    let dates = table.columns.iter().filter(|column| column.kind == ColumnKind::Date && have_numbers(column));
    dates.map(|column| Date { column: column.name.clone(), day_first: column.day_first }).collect()
}

/// The median number of days from `end` to the rows; 0 if `end` is later.
fn lag(rows: &Matches, end: f64) -> f64 {
    let mut moments = rows.moments.clone();
    moments.sort_by(f64::total_cmp);
    moments.get(moments.len() / 2).map_or(0.0, |middle| ((middle - end) / DAY).max(0.0))
}

/// Whether the dates have two numbers or more. Scripts read dates with one, such as `Feb-24`, in another way.
fn have_numbers(column: &Column) -> bool {
    let numbers = |text: &str| {
        text.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty()).count()
    };
    column.top_values.iter().all(|(value, _)| numbers(value) > 1)
}

/// The column that tells the date of the rows of both tables, if it is clear which one does.
fn date_of(profile: &Profile, time: Option<&str>) -> Option<String> {
    let test = profile.test.as_ref()?;
    let is_date = |column: &Column| column.kind == ColumnKind::Date;
    let dates = || {
        let in_both = |column: &&Column| is_date(column) && test.column(&column.name).is_some_and(is_date);
        profile.train.columns.iter().filter(in_both)
    };
    let ordering = dates().find(|column| Some(column.name.as_str()) == time);
    ordering.or_else(|| only(dates())).map(|column| column.name.clone())
}

/// The item, if it is the only one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

fn is_needed(found: &[Matches; 2], by_date: bool) -> bool {
    let share = |part: f64, side: &Matches| part / side.rows.max(1.0);
    if by_date {
        let has_few =
            |side: &Matches| share(side.together, side) < ENOUGH && share(side.earlier, side) >= ENOUGH;
        return found.iter().any(has_few);
    }
    let [train, test] = found.each_ref().map(|side| share(side.later, side));
    let variance = |side: &Matches| {
        let mean = share(side.later, side);
        (share(side.squares, side) - mean * mean) / side.rows.max(1.0)
    };
    let error = found.iter().map(variance).sum::<f64>().max(0.0).sqrt();
    (train - test).abs() > SHIFT + 2.0 * error
}

impl Cutoff {
    /// What the training rows and the test rows find, and the last moment of the table.
    fn found(&self, profile: &Profile, table: &Table) -> io::Result<([Matches; 2], f64)> {
        let (tables, source) = (&profile.tables, profile.tables.auxiliary(&table.file)?);
        let mut known: HashMap<u64, Vec<f64>> = HashMap::new();
        let (own, by) = match &self.way {
            None => (&self.own, None),
            Some(way) => {
                let between = tables.auxiliary(&profile.auxiliary[way.table].file)?;
                (&way.own, Some(pairs(between, (&way.columns, &self.own))?))
            }
        };
        read(source, (own, &self.own_dates), |key, at| {
            if let Some(key) = by.as_ref().map_or(Some(key), |by| by.get(&key).copied()) {
                known.entry(key).or_default().push(at);
            }
        })?;
        known.values_mut().for_each(|moments| moments.sort_by(f64::total_cmp));
        let end =
            known.values().filter_map(|moments| moments.last().copied()).fold(f64::NEG_INFINITY, f64::max);
        let side = |side: &table::Table| {
            let mut found = Matches::default();
            let date = std::slice::from_ref(&self.date);
            read(side, (&self.columns, date), |key, at| {
                found.add(known.get(&key).map_or(&[], Vec::as_slice), at);
            })?;
            io::Result::Ok(found)
        };
        Ok(([side(tables.train()?)?, side(tables.test()?)?], end))
    }
}

impl Matches {
    /// Adds a row at this moment, whose key has rows at these moments.
    fn add(&mut self, moments: &[f64], at: f64) {
        let earlier = moments.partition_point(|moment| *moment < at);
        let not_later = moments.partition_point(|moment| *moment <= at);
        let later = (moments.len() - not_later) as f64 / moments.len().max(1) as f64;
        self.rows += 1.0;
        self.earlier += f64::from(u8::from(earlier > 0));
        self.together += f64::from(u8::from(not_later > earlier));
        self.later += later;
        self.squares += later * later;
        self.moments.push(at);
    }
}

/// For each row that has both, the digest of the second columns by that of the first ones.
fn pairs(table: &table::Table, columns: (&[String], &[String])) -> io::Result<HashMap<u64, u64>> {
    let both = table.positions(columns.0.iter().chain(columns.1).map(String::as_str))?;
    let mut pairs = HashMap::new();
    table.each(&both, |row| {
        let mut values = (0..both.len()).map(|at| row.value(at));
        let first = values.by_ref().take(columns.0.len()).collect::<Option<Vec<&str>>>();
        if let (Some(first), Some(second)) = (first, values.collect::<Option<Vec<&str>>>()) {
            pairs.insert(digest(&first), digest(&second));
        }
        true
    })?;
    Ok(pairs)
}

/// Calls `take` with a digest of the key and the last moment of each row that has both.
fn read(
    table: &table::Table,
    (keys, dates): (&[String], &[Date]),
    mut take: impl FnMut(u64, f64),
) -> io::Result<()> {
    let names = keys.iter().chain(dates.iter().map(|date| &date.column));
    let columns = table.positions(names.map(String::as_str))?;
    let reading = |date: &Date| if date.day_first { Reading::DayFirst } else { Reading::MonthFirst };
    table.each(&columns, |row| {
        let key: Option<Vec<&str>> = (0..keys.len()).map(|at| row.value(at)).collect();
        let dates = dates.iter().zip(keys.len()..);
        let moments = dates.filter_map(|(date, at)| seconds(row.value(at)?, reading(date)));
        if let (Some(key), Some(at)) = (key, moments.reduce(f64::max)) {
            take(digest(&key), at);
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::links::links;
    use crate::profile;
    use crate::testing::folder;

    /// A table of 40 clients with a row on each of these days, one after the other.
    fn rows(header: &str, clients: std::ops::Range<usize>, day: impl Fn(usize) -> usize) -> String {
        clients.fold(format!("{header}\n"), |mut text, row| {
            let (client, day) = (row % 40, day(row));
            writeln!(text, "{row},{client},2024-{:02}-{:02},{}", day / 28 + 1, day % 28 + 1, row % 2)
                .unwrap();
            text
        })
    }

    #[test]
    fn later_rows_count_if_only_training_rows_have_them() {
        let check =
            |names: [&str; 2], train: fn(usize) -> usize, test: fn(usize) -> usize, expected: Option<f64>| {
                let [date, own_date] = names;
                let train = rows(&format!("row,client,{date},y"), 0..80, train);
                let test = rows(&format!("row,client,{date},z"), 80..160, test);
                // Each client has an event every eight days of ten months.
                let events = rows(&format!("event,client,{own_date},cost"), 0..1400, |row| row / 40 * 8);
                let dir = folder(&[("train.csv", &train), ("test.csv", &test), ("events.csv", &events)]);
                let profile = profile::read(dir.path()).unwrap();
                let links = links(&profile, Some("y"), Some("row"));
                let found = cutoffs(&profile, &links, &links[0], None).pop();
                let texts = |name: &str| vec![name.to_owned()];
                let dates = |name: &str| Date { column: name.to_owned(), day_first: false };
                let wanted = Cutoff {
                    date: dates(date),
                    own_dates: vec![dates(own_date)],
                    lag: 0.0,
                    own: texts("client"),
                    columns: texts("client"),
                    way: None,
                };
                assert_eq!(found, expected.map(|lag| Cutoff { lag, ..wanted }), "{names:?} {train}");
            };
        let [early, late, any]: [fn(usize) -> usize; 3] =
            [|row| 61 + row % 50, |row| 221 + row % 50, |row| 61 + row * 7 % 200];
        check(["asked", "bought"], early, late, Some(0.0));
        check(["asked", "bought"], any, any, None);
        // From the end of the events, 21 October, to the test rows of 3 December.
        check(["asked", "bought"], early, |row| 300 + row % 20, Some(43.0));
        // A date of the same name is no key if it is hardly ever the same.
        check(["day", "day"], any, any, Some(0.0));
        check(["day", "day"], |row| row / 40 * 8 + 80, |row| row / 40 * 8 + 80, None);
        // Where it is, rows of later days do not join.
        check(["day", "day"], |row| row / 40 * 8 + 40, |row| row / 40 * 8 + 160, None);
    }
}
