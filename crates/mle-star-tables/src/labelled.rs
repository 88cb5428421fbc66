//! The labelled rows of a training table.

use std::collections::HashMap;
use std::io;

use crate::profile::{HUGE, Profile};
use crate::records::digest;
use crate::seeded::RowSet;
use crate::split::times::Clock;
use crate::table::Table;

/// The columns of a training table that tell its labelled rows.
#[derive(Clone, Debug)]
pub(crate) struct Labelled<'a> {
    pub(crate) train: &'a Table,
    /// All columns with labels, and whether they hold numbers.
    pub(crate) targets: Vec<(&'a str, bool)>,
    /// The column with the row IDs; without one, rows have numbers.
    pub(crate) id: Option<&'a str>,
}

/// The columns that put rows into parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The column of the groups or of the times.
    pub(crate) column: Option<String>,
    /// For times, the column whose groups stay whole.
    pub(crate) groups: Option<String>,
}

/// A labelled row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelledRow<'a> {
    pub(crate) number: u64,
    pub(crate) id: &'a str,
    /// The first label.
    pub(crate) label: &'a str,
    /// The group or the time.
    pub(crate) part: Option<&'a str>,
    /// The group, where times have groups.
    pub(crate) group: Option<&'a str>,
}

/// The times of all rows of a training table.
#[derive(Clone, Debug)]
pub(crate) struct RowTimes {
    /// For each row its time, or that of the first row of its group; not a number if it has none.
    pub(crate) rows: Vec<f64>,
    /// The rows with labels.
    pub(crate) labelled: RowSet,
}

impl<'a> Labelled<'a> {
    /// The labelled rows of a training table with this target, and possibly others.
    ///
    /// # Errors
    /// There is no training table.
    pub(crate) fn of(profile: &'a Profile, target: &'a str, id: Option<&'a str>) -> io::Result<Self> {
        let is_number = |name: &str| profile.train.column(name).is_some_and(|column| column.kind.is_number());
        let mut targets = profile.targets(target, id);
        // The classes of the given target keep their shares.
        targets.sort_by_key(|name| *name != target);
        let targets = targets.into_iter().map(|name| (name, is_number(name))).collect();
        Ok(Self { train: profile.tables.train()?, targets, id })
    }

    /// Calls `take` with each labelled row. Returns the number of labelled rows.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(crate) fn each(&self, by: &Parts, mut take: impl FnMut(LabelledRow<'_>)) -> io::Result<u64> {
        let mut labelled = 0;
        self.each_row(by, |row, is_labelled| {
            if is_labelled {
                labelled += 1;
                take(row);
            }
        })?;
        Ok(labelled)
    }

    /// Calls `take` with each row and whether it is labelled. Rows are labelled if they have all labels.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(crate) fn each_row(&self, by: &Parts, mut take: impl FnMut(LabelledRow<'_>, bool)) -> io::Result<()> {
        let Self { train, targets, id } = self;
        let names = targets.iter().map(|(name, _)| *name);
        let names = names.chain(by.column.as_deref()).chain(by.groups.as_deref()).chain(*id);
        let columns = train.positions(names)?;
        let mut number = String::new();
        train.each(&columns, |row| {
            let label = |at: usize, numeric: bool| row.value(at).filter(|label| !(numeric && is_huge(label)));
            let mut labels = targets.iter().zip(0..).map(|((_, numeric), at)| label(at, *numeric));
            let first = labels.next().flatten();
            let is_labelled = first.is_some() && labels.all(|label| label.is_some());
            let part = by.column.as_ref().and_then(|_| row.value(targets.len()));
            let before = targets.len() + usize::from(by.column.is_some());
            let group = by.groups.as_ref().and_then(|_| row.value(before));
            let id = match id {
                Some(_) => row.value(columns.len() - 1).unwrap_or_default(),
                None => {
                    number = row.number.to_string();
                    number.as_str()
                }
            };
            let label = first.unwrap_or_default();
            take(LabelledRow { number: row.number, id, label, part, group }, is_labelled);
            true
        })
    }

    /// The times of the first labelled rows of groups, by the digests of their names; none if times have no groups.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(crate) fn firsts(&self, by: &Parts, clock: Clock) -> io::Result<HashMap<u64, f64>> {
        let mut firsts = HashMap::new();
        if by.groups.is_some() {
            self.each(by, |row| {
                if let (Some(group), Some(time)) = (row.group, row.part.and_then(|time| clock.read(time))) {
                    let first = firsts.entry(digest(group)).or_insert(time);
                    *first = time.min(*first);
                }
            })?;
        }
        Ok(firsts)
    }

    /// The times of all rows.
    ///
    /// # Errors
    /// The table cannot be read.
    pub(crate) fn times(&self, by: &Parts, clock: Clock) -> io::Result<RowTimes> {
        let firsts = self.firsts(by, clock)?;
        let mut times = RowTimes {
            rows: Vec::with_capacity(usize::try_from(self.train.rows()).unwrap_or_default()),
            labelled: RowSet::default(),
        };
        let without_ids = Labelled { id: None, ..self.clone() };
        without_ids.each_row(by, |row, is_labelled| {
            times.rows.push(row.time(clock, &firsts).unwrap_or(f64::NAN));
            if is_labelled {
                times.labelled.insert(row.number);
            }
        })?;
        Ok(times)
    }
}

impl RowTimes {
    /// The time of a row; `None` if it has none.
    pub(crate) fn of(&self, row: u64) -> Option<f64> {
        let time = usize::try_from(row).ok().and_then(|row| self.rows.get(row).copied());
        time.filter(|time| !time.is_nan())
    }

    /// The times of the labelled rows that have one, in ascending order.
    pub(crate) fn sorted(&self) -> Vec<f64> {
        let of_row =
            |(row, time): (u64, &f64)| (self.labelled.contains(row) && !time.is_nan()).then_some(*time);
        let mut times: Vec<f64> = (0..).zip(&self.rows).filter_map(of_row).collect();
        times.sort_unstable_by(f64::total_cmp);
        times
    }
}

impl LabelledRow<'_> {
    /// Its time, or that of the first row of its group.
    pub(crate) fn time(&self, clock: Clock, firsts: &HashMap<u64, f64>) -> Option<f64> {
        let of_group = self.group.and_then(|group| firsts.get(&digest(group)).copied());
        of_group.or_else(|| self.part.and_then(|time| clock.read(time)))
    }
}

/// Whether a label is a number that no score should depend on.
fn is_huge(label: &str) -> bool {
    label.parse::<f64>().is_ok_and(|number| number.abs() >= HUGE)
}
