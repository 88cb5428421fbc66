//! Whether groups of rows go on in the test table, as series of later rows do.

use std::collections::HashMap;
use std::io;

use super::known::name;
use super::times::Clock;
use crate::profile::Profile;
use crate::records::digest;
use crate::table::Table;

/// Fewer series may end before their test rows by chance.
const FEWEST_SERIES: usize = 5;
/// As many series among so many may, too.
const AMONG: usize = 3;

/// So many times as many as by chance are no chance.
const CHANCES: f64 = 5.0;

/// The groups of a column, and their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// More than half of the test rows have groups of the training table.
    pub(super) go_on: bool,
    /// Nine in ten groups of the training table, or more, begin at the same time.
    pub(super) begin_together: bool,
}

/// Series of the test table that the training table has, too.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ends {
    /// The columns that name them.
    pub(super) columns: Vec<String>,
    pub(super) series: usize,
    /// Those whose test rows are all later than their training rows.
    pub(super) later: usize,
    /// The number of series that would have all test rows later by chance.
    by_chance: f64,
    /// More than half of the test rows have one of these series.
    go_on: bool,
}

/// The rows of a series.
struct Rows {
    /// The last time in the training table.
    last: f64,
    train: usize,
    test: usize,
    /// The test rows that are later.
    later: usize,
}

impl Groups {
    /// The groups of this column; `None` if the test table lacks a column.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(super) fn of(profile: &Profile, group: &str, time: (&str, Clock)) -> io::Result<Option<Self>> {
        let names = [time.0, group];
        let test = profile.tables.test.as_ref();
        let Some(test) = test.filter(|test| names.iter().all(|name| test.find(name).is_some())) else {
            return Ok(None);
        };
        let mut firsts = HashMap::<u64, f64>::new();
        each(profile.tables.train()?, &[group], time, |group, at| {
            firsts.entry(group).and_modify(|first| *first = first.min(at)).or_insert(at);
        })?;
        let (mut rows, mut known) = (0, 0);
        each(test, &[group], time, |group, _| {
            rows += 1;
            known += usize::from(firsts.contains_key(&group));
        })?;
        let first = firsts.values().copied().fold(f64::INFINITY, f64::min);
        let together = firsts.values().filter(|at| **at <= first).count();
        Ok(Some(Self { go_on: known * 2 > rows, begin_together: together * 10 >= firsts.len() * 9 }))
    }
}

impl Ends {
    /// The ends of the series that these columns of both tables name; `None` if there are no columns.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(super) fn of(
        profile: &Profile,
        columns: Vec<String>,
        time: (&str, Clock),
    ) -> io::Result<Option<Self>> {
        if columns.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut all = HashMap::<u64, Rows>::new();
        each(profile.tables.train()?, &names, time, |series, at| {
            let rows = all.entry(series).or_insert(Rows { last: at, train: 0, test: 0, later: 0 });
            rows.last = rows.last.max(at);
            rows.train += 1;
        })?;
        let mut count = 0;
        each(profile.tables.test()?, &names, time, |series, at| {
            count += 1;
            if let Some(rows) = all.get_mut(&series) {
                rows.test += 1;
                rows.later += usize::from(at > rows.last);
            }
        })?;
        let asked = || all.values().filter(|rows| rows.test > 0);
        let (known, series) = (asked().map(|rows| rows.test).sum::<usize>(), asked().count());
        let later = asked().filter(|rows| rows.later == rows.test).count();
        let by_chance = asked().map(Rows::by_chance).sum();
        Ok(Some(Self { columns, series, later, by_chance, go_on: known * 2 > count }))
    }

    /// Whether it is no chance that the test rows are later.
    pub(super) fn are_notable(&self) -> bool {
        self.later >= FEWEST_SERIES
            && self.later * AMONG >= self.series
            && self.go_on
            && self.later as f64 >= CHANCES * self.by_chance
    }

    /// Whether test rows of some series are not later than all of its training rows.
    pub(super) fn are_mixed(&self) -> bool {
        self.later < self.series
    }

    /// That they end at times of their own, in one sentence.
    pub(super) fn evidence(&self, profile: &Profile, time: &str) -> String {
        let Self { columns, series, later, .. } = self;
        let columns = columns.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let test = profile.test.as_ref().map(name).unwrap_or_default();
        let others = if self.are_mixed() {
            "; some test rows of the others lie between their training rows"
        } else {
            ""
        };
        format!(
            "in {later} of {series} series by {columns}, all rows of {test} are later in `{time}` than those of {}, but not than those of \
             other series{others}",
            name(&profile.train)
        )
    }
}

impl Rows {
    /// The chance that all test rows come last in a random order.
    fn by_chance(&self) -> f64 {
        (1..=self.test).map(|at| at as f64 / (self.train + at) as f64).product()
    }
}

/// Calls `take` with the digest of each row's group and its time. Rows that lack one are passed over.
fn each(
    table: &Table,
    groups: &[&str],
    (time, clock): (&str, Clock),
    mut take: impl FnMut(u64, f64),
) -> io::Result<()> {
    let columns = table.positions([time].into_iter().chain(groups.iter().copied()))?;
    table.each(&columns, |row| {
        let values: Option<Vec<&str>> = (1..=groups.len()).map(|at| row.value(at)).collect();
        if let (Some(values), Some(at)) = (values, row.value(0).and_then(|text| clock.read(text))) {
            take(digest(&values), at);
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use mle_star_domain::protocol::SplitKind::{self, Groups, Time};

    use crate::split::Known;
    use crate::split::tests::{Cells, KNOWN, of};

    #[test]
    fn named_groups_that_go_on_are_series() {
        let check =
            |cells: Cells, time: Option<&str>, expected: (SplitKind, &str, Option<&str>), why: &str| {
                let found = of("day,shop", [cells, cells], &Known { group: Some("shop"), time, ..KNOWN });
                let columns = (found.kind, found.column.as_deref().unwrap(), found.groups.as_deref());
                assert_eq!((columns, found.why.as_str()), (expected, why));
            };
        let runs = "`day` runs from 2021-01-01 to 2021-01-12 in train.csv and from 2021-01-13 on in test.csv";
        let series: Cells = |id| format!("2021-01-{:02},s{}", id / 5 + 1, id % 5);
        let told = "the groups of `shop` go on in the test table";
        let by_day = (Time, "day", None);
        check(series, None, by_day, &format!("{runs}; {told}, so they are series, not kept whole"));
        check(series, Some("day"), by_day, &format!("as given; {told}, so they are series, not kept whole"));
        // New shops, which open one after the other, and which all open on the first day.
        let opened: Cells = |id| format!("2021-01-{:02},s{}", id / 5 + 1, id / 10);
        let whole = (Time, "day", Some("shop"));
        check(opened, None, whole, &format!("{runs}; whole groups of `shop` as given"));
        check(opened, Some("day"), whole, "as given");
        let together: Cells = |id| {
            format!("2021-01-{:02},{}", id / 5 + 1, ["s", "n"][id / 60].to_owned() + &(id % 5).to_string())
        };
        check(
            together,
            None,
            (Groups, "shop", None),
            &format!("as given; the test rows are also later: {runs}"),
        );
        let why = "as given; all groups of `shop` begin at the same time, so they are series, not kept whole";
        check(together, Some("day"), by_day, why);
        // Times that do not tell the tables apart.
        let at_random: Cells = |id| format!("2021-01-{:02},s{}", id % 12 + 1, id / 6);
        check(at_random, None, (Groups, "shop", None), "as given");
    }
}
