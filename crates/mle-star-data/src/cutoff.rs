//! Finds auxiliary tables with rows that are known too early: those after the date of the row that they are joined to.
//!
//! A table of purchases may say more about the customers of old training rows than about those of new test rows, because
//! the purchases after the date of the row are there, too. Models learn from them and do not find them.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crate::dates::{Reading, seconds};
use crate::folder::{self, Source};
use crate::links::Link;
use crate::profile::{Column, ColumnKind, Profile, Table};
use crate::records::{self, Records, digest, value};

/// If the shares of later rows differ by more than this between training and test rows, models see something else in both.
const SHIFT: f64 = 0.1;
/// Summaries of earlier rows are of use if at least this share of the rows has some, and rows of the same date if at least
/// this share does.
const ENOUGH: f64 = 0.2;

/// The date before which the rows of an auxiliary table have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The column of dates that the training table and the test table have.
    pub date: String,
    /// The column of dates of the auxiliary table.
    pub own_date: String,
    /// The key columns of the auxiliary table that are no dates.
    pub own: Vec<String>,
    /// The same columns of the training table and the test table.
    pub columns: Vec<String>,
}

/// What rows find in an auxiliary table.
#[derive(Debug, Default)]
struct Found {
    /// Rows whose key is there.
    rows: f64,
    /// Those with rows of the same date, and those with earlier ones.
    together: f64,
    earlier: f64,
    /// The sum of the shares of later rows.
    later: f64,
}

/// The cutoff of a table that joins the training table and the test table: if summaries of all its rows say something else
/// about training rows than about test rows, or if it would join by a date that hardly any row has. `time` is the column
/// that puts rows in order, if there is one. `None` if a table cannot be read.
pub fn cutoff(data_dir: &Path, profile: &Profile, link: &Link, time: Option<&str>) -> Option<Cutoff> {
    let table = &profile.auxiliary[link.table];
    let own_date = only(table.columns.iter().filter(|column| column.kind == ColumnKind::Date))?;
    let is_date = |own: &String| *own == own_date.name;
    let by_date = link.own.iter().position(is_date);
    if link.to.is_some() || (link.unique && by_date.is_none()) {
        return None;
    }
    let date = match by_date {
        Some(at) => link.columns[at].clone(),
        None => date_of(profile, time)?,
    };
    let keys = link.own.iter().zip(&link.columns).filter(|(own, _)| !is_date(own));
    let (own, columns): (Vec<String>, Vec<String>) =
        keys.map(|(own, column)| (own.clone(), column.clone())).unzip();
    let cutoff = Cutoff { date, own_date: own_date.name.clone(), own, columns };
    let is_needed = !cutoff.own.is_empty()
        && cutoff.found(data_dir, profile, table).is_ok_and(|found| is_needed(&found, by_date.is_some()));
    is_needed.then_some(cutoff)
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

fn is_needed([train, test]: &[Found; 2], by_date: bool) -> bool {
    let share = |part: f64, side: &Found| part / side.rows.max(1.0);
    let has_earlier = [train, test].into_iter().all(|side| share(side.earlier, side) >= ENOUGH);
    let shift = (share(train.later, train) - share(test.later, test)).abs();
    has_earlier && (shift > SHIFT || by_date && share(train.together, train) < ENOUGH)
}

impl Cutoff {
    /// What the training rows and the test rows find.
    fn found(&self, data_dir: &Path, profile: &Profile, table: &Table) -> io::Result<[Found; 2]> {
        let listing = folder::list(data_dir).map_err(|trouble| io::Error::other(trouble.message))?;
        let source = listing.auxiliary.iter().find(|source| source.file == table.file);
        let (Some(train), Some(test), Some(source)) = (&listing.train, &listing.test, source) else {
            return Err(io::Error::other("a table is missing"));
        };
        let mut known: HashMap<u64, Vec<f64>> = HashMap::new();
        read(data_dir, source, (&self.own, &self.own_date), reading(table, &self.own_date), |key, at| {
            known.entry(key).or_default().push(at);
        })?;
        known.values_mut().for_each(|moments| moments.sort_by(f64::total_cmp));
        let side = |source: &Source| {
            let mut found = Found::default();
            let reading = reading(&profile.train, &self.date);
            read(data_dir, source, (&self.columns, &self.date), reading, |key, at| {
                known.get(&key).into_iter().for_each(|moments| found.add(moments, at));
            })?;
            io::Result::Ok(found)
        };
        Ok([side(train)?, side(test)?])
    }
}

impl Found {
    /// Adds a row at this moment, whose key has rows at these moments.
    fn add(&mut self, moments: &[f64], at: f64) {
        let earlier = moments.partition_point(|moment| *moment < at);
        let not_later = moments.partition_point(|moment| *moment <= at);
        self.rows += 1.0;
        self.earlier += f64::from(u8::from(earlier > 0));
        self.together += f64::from(u8::from(not_later > earlier));
        self.later += (moments.len() - not_later) as f64 / moments.len() as f64;
    }
}

fn reading(table: &Table, column: &str) -> Reading {
    let day_first = table.column(column).is_some_and(|column| column.day_first);
    if day_first { Reading::DayFirst } else { Reading::MonthFirst }
}

/// Calls `take` with a digest of the key and the moment of each row that has both.
fn read(
    data_dir: &Path,
    source: &Source,
    (keys, date): (&[String], &str),
    reading: Reading,
    mut take: impl FnMut(u64, f64),
) -> io::Result<()> {
    records::read(data_dir, source, |mut rows: Records<'_>| {
        let keys: Vec<usize> = keys.iter().map(|key| rows.position(key)).collect::<io::Result<_>>()?;
        let date = rows.position(date)?;
        while rows.next()? {
            let row = rows.row();
            let key: Option<Vec<&str>> = keys.iter().map(|key| value(row, *key)).collect();
            let at = value(row, date).and_then(|text| seconds(text, reading));
            if let (Some(key), Some(at)) = (key, at) {
                take(digest(&key), at);
            }
        }
        Ok(())
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
            |names: [&str; 2], train: fn(usize) -> usize, test: fn(usize) -> usize, expected: bool| {
                let [date, own_date] = names;
                let train = rows(&format!("row,client,{date},y"), 0..80, train);
                let test = rows(&format!("row,client,{date},z"), 80..160, test);
                // Each client has an event every eight days of ten months.
                let events = rows(&format!("event,client,{own_date},cost"), 0..1400, |row| row / 40 * 8);
                let dir = folder(&[("train.csv", &train), ("test.csv", &test), ("events.csv", &events)]);
                let profile = profile::read(dir.path()).unwrap();
                let link = &links(&profile, Some("y"), Some("row"))[0];
                let found = cutoff(dir.path(), &profile, link, None);
                let texts = |name: &str| vec![name.to_owned()];
                let wanted = Cutoff {
                    date: date.to_owned(),
                    own_date: own_date.to_owned(),
                    own: texts("client"),
                    columns: texts("client"),
                };
                assert_eq!(found, expected.then_some(wanted), "{names:?} {train}");
            };
        let [early, late, any]: [fn(usize) -> usize; 3] =
            [|row| 61 + row % 50, |row| 221 + row % 50, |row| 61 + row * 7 % 200];
        check(["asked", "bought"], early, late, true);
        check(["asked", "bought"], any, any, false);
        // Without earlier rows, later ones are all there is.
        check(["asked", "bought"], |_| 0, late, false);
        // A date of the same name is no key if it is hardly ever the same.
        check(["day", "day"], any, any, true);
        check(["day", "day"], |row| row / 40 * 8 + 80, |row| row / 40 * 8 + 80, false);
    }
}
