//! Leaves series out of the history before a period, so that the period has as many rows of new series as the test table.
//!
//! A series can be new only once: the rows before its period go, and it is known in every later one. So the periods share the
//! series among them, the last period first. Half of the rows of six periods cannot be of new series, because hardly any series
//! would be left to learn from. Then fewer series are left out, and fewer rows of known ones are scored.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::bounds::Bounds;
use crate::labelled::RowTimes;
use crate::seeded::RowSet;

/// About so many of the series are known in all periods. With more, periods have few new ones, and their scores differ by chance;
/// with less, the first models learn from far fewer series than those for the test table.
const KNOWN_BEFORE: f64 = 0.5;

/// The rows that are left out to make periods like the test table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LeftOut {
    /// Rows before the period in which their series is new.
    history: RowSet,
    /// Rows of periods whose series are known, and more than the test table has.
    unscored: RowSet,
    /// The rows of each period that are scored, the earliest period first.
    pub(crate) scored: Vec<u64>,
    /// The share of these that are of new series.
    pub(crate) share: f64,
}

/// The series of all rows of the training table, as numbers that were drawn; `None` for rows without one.
pub(crate) type Series = Vec<Option<u64>>;

/// A series, and the number of its rows in a period.
type Size = (u64, u64);

/// What happens to the series.
#[derive(Default)]
struct Plan {
    /// The first time of the series that are new in a period.
    starts: HashMap<u64, f64>,
    /// The series of a period that are not scored.
    unscored: Vec<HashSet<u64>>,
    scored: Vec<u64>,
    new: u64,
}

/// The share of the rows of these periods whose series have no row that models learn from.
pub(crate) fn natural(series: &Series, times: &RowTimes, periods: &[Bounds]) -> f64 {
    let firsts = firsts(series, times);
    let (mut all, mut new) = (0_u64, 0_u64);
    for (series, time) in labelled(series, times) {
        if let Some(period) = periods.iter().find(|period| period.has(time)) {
            all += 1;
            new += u64::from(firsts.get(&series).is_some_and(|first| *first > period.learn));
        }
    }
    new as f64 / all.max(1) as f64
}

impl LeftOut {
    /// Leaves series out before each of these periods, the earliest first, so that about this share of its rows is of new ones.
    pub(crate) fn of(series: &Series, times: &RowTimes, periods: &[Bounds], share: f64) -> Self {
        let plan = Plan::of(series, times, periods, share);
        let mut left = Self { scored: plan.scored, ..Self::default() };
        left.share = plan.new as f64 / left.scored.iter().sum::<u64>().max(1) as f64;
        for (row, series) in (0..).zip(series) {
            let Some(series) = series else { continue };
            let time = times.of(row);
            if plan.starts.get(series).is_some_and(|start| time.is_none_or(|time| time < *start)) {
                left.history.insert(row);
            } else if let Some(time) = time
                && let Some(at) = periods.iter().position(|period| period.has(time))
                && plan.unscored.get(at).is_some_and(|unscored| unscored.contains(series))
            {
                left.unscored.insert(row);
            }
        }
        left
    }

    /// Whether no script of the search sees this row, because its series is new in a later period.
    pub(crate) fn hides(&self, row: u64) -> bool {
        self.history.contains(row)
    }

    /// Whether this row of a period is not scored.
    pub(crate) fn skips(&self, row: u64) -> bool {
        self.unscored.contains(row)
    }
}

impl Plan {
    fn of(series: &Series, times: &RowTimes, periods: &[Bounds], share: f64) -> Self {
        let firsts = firsts(series, times);
        // The order of the series is the same on every machine.
        let mut sizes: Vec<BTreeMap<u64, u64>> = vec![BTreeMap::new(); periods.len()];
        for (series, time) in labelled(series, times) {
            if let Some(at) = periods.iter().position(|period| period.has(time)) {
                *sizes[at].entry(series).or_default() += 1;
            }
        }
        let most = 1.0 - KNOWN_BEFORE.powf(1.0 / periods.len().max(1) as f64);
        let mut plan = Self::default();
        for (period, mut sizes) in periods.iter().zip(sizes).rev() {
            sizes.retain(|series, _| !plan.starts.contains_key(series));
            plan.add(period, &sizes, (share, most), |series| {
                firsts.get(&series).is_some_and(|first| *first > period.learn)
            });
        }
        plan.unscored.reverse();
        plan.scored.reverse();
        plan
    }

    /// Adds a period before those that were added. `sizes` are the rows of its series, of which at most the share `most` becomes
    /// new beside those that are new anyway.
    fn add(
        &mut self,
        period: &Bounds,
        sizes: &BTreeMap<u64, u64>,
        (share, most): (f64, f64),
        is_new: impl Fn(u64) -> bool,
    ) {
        let all: u64 = sizes.values().sum();
        let series = sizes.iter().map(|(series, size)| (*series, *size));
        let (natural, known): (Vec<Size>, Vec<Size>) = series.partition(|(series, _)| is_new(*series));
        let mut new: u64 = natural.iter().map(|(_, size)| *size).sum();
        let goal = share.min(most.max(new as f64 / all.max(1) as f64)) * all as f64;
        let (chosen, known) = nearest(&known, goal - new as f64);
        new += chosen.iter().map(|(_, size)| *size).sum::<u64>();
        self.starts.extend(chosen.into_iter().map(|(series, _)| (series, period.from)));
        // The other series, so that the share is the test table's.
        let wanted = if new > 0 { new as f64 * (1.0 - share) / share } else { all as f64 };
        let known: Vec<Size> = known.into_iter().rev().collect();
        let (scored, unscored) = nearest(&known, wanted);
        self.scored.push(new + scored.iter().map(|(_, size)| size).sum::<u64>());
        self.unscored.push(unscored.into_iter().map(|(series, _)| series).collect());
        self.new += new;
    }
}

/// The first of these series that have about so many rows together, and the others.
fn nearest(series: &[Size], rows: f64) -> (Vec<Size>, Vec<Size>) {
    let mut taken = 0_u64;
    series.iter().copied().partition(|(_, size)| {
        let fits = taken as f64 + *size as f64 / 2.0 <= rows;
        taken += if fits { *size } else { 0 };
        fits
    })
}

/// The first times of the series.
fn firsts(series: &Series, times: &RowTimes) -> HashMap<u64, f64> {
    let mut firsts = HashMap::<u64, f64>::new();
    for (row, series) in (0..).zip(series) {
        if let (Some(series), Some(time)) = (series, times.of(row)) {
            firsts.entry(*series).and_modify(|first| *first = first.min(time)).or_insert(time);
        }
    }
    firsts
}

/// The series and the times of the labelled rows that have both.
fn labelled(series: &Series, times: &RowTimes) -> impl Iterator<Item = (u64, f64)> {
    let of_row = |(row, series): (u64, &Option<u64>)| Some(((*series)?, times.of(row)?));
    (0..).zip(series).filter(|(row, _)| times.labelled.contains(*row)).filter_map(of_row)
}
