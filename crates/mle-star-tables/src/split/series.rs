//! Whether groups of rows go on in the test table, as series of later rows do.

use std::collections::HashMap;
use std::io;

use super::times::Clock;
use crate::profile::Profile;
use crate::records::digest;
use crate::table::Table;

/// Fewer series may end before their test rows by chance.
const FEWEST_SERIES: usize = 5;
/// As many series among so many may, too.
const AMONG: usize = 3;

/// The groups of a column, and their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// More than half of the test rows have groups of the training table.
    pub(super) go_on: bool,
    /// Nine in ten groups of the training table, or more, begin at the same time.
    pub(super) begin_together: bool,
}

/// Series of the test table that the training table has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) series: usize,
    /// Those whose test rows are all later than their training rows.
    pub(super) later: usize,
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
    /// The ends of the series that these columns of both tables name.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(super) fn of(profile: &Profile, series: &[&str], time: (&str, Clock)) -> io::Result<Self> {
        let mut lasts = HashMap::<u64, f64>::new();
        each(profile.tables.train()?, series, time, |series, at| {
            lasts.entry(series).and_modify(|last| *last = last.max(at)).or_insert(at);
        })?;
        let mut are_later = HashMap::<u64, bool>::new();
        each(profile.tables.test()?, series, time, |series, at| {
            if let Some(last) = lasts.get(&series) {
                *are_later.entry(series).or_insert(true) &= at > *last;
            }
        })?;
        let later = are_later.values().filter(|is_later| **is_later).count();
        Ok(Self { series: are_later.len(), later })
    }

    /// Whether it is no chance that the test rows are later.
    pub(super) fn are_notable(self) -> bool {
        self.later >= FEWEST_SERIES && self.later * AMONG >= self.series
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
