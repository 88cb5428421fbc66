//! What the interval of a score is for, and what it needs beside the score of all rows.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use csv::StringRecord;
use mle_star_domain::measure::interval::{Bounds, Grouped, Spread, few_periods, of_one_more_period};
use mle_star_domain::measure::{FoldScore, Measurement};
use mle_star_domain::metric::Direction;

use crate::names::Metric;
use crate::score::Unscorable;
use crate::table::{Table, key, shown};

/// The column of a table of folds that is not the row ID.
const FOLD: &str = "fold";
/// So many rows are enough for the score of a period, even if it has far more.
const ENOUGH_ROWS: u64 = 500;
/// Of more groups, replicates that draw whole ones tell how much a score depends on them.
pub const FEW_GROUPS: usize = 100;

/// What the interval of a score is for: rows of the test table, which differ from those with a score in this way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntervalFor {
    /// Other rows; their number, if it is known.
    Rows(Option<u64>),
    /// Rows of other groups.
    Groups {
        /// The groups of the test table, if they are known.
        groups: Option<Grouped>,
        /// The number of its rows, if it is known.
        rows: Option<u64>,
    },
    /// Rows of one more period of time.
    Period,
}

/// The folds of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    of: HashMap<u64, u32>,
    /// The number of rows of each fold.
    sizes: BTreeMap<u32, u64>,
}

/// The possible scores of a metric, and which of them win.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The possible scores.
    pub bounds: Bounds,
    /// Which of them win.
    pub direction: Direction,
}

/// What a score of groups depends on.
#[derive(Clone, Debug)]
pub struct GroupErrors {
    /// The number of rows of each group.
    pub sizes: Vec<u64>,
    /// The standard error of the score if whole groups are drawn; `None` if it is not known.
    pub by_groups: Option<f64>,
    /// The standard error of the score if single rows are drawn; `None` if it is not known.
    pub by_rows: Option<f64>,
}

impl Default for IntervalFor {
    fn default() -> Self {
        Self::Rows(None)
    }
}

impl Folds {
    /// The folds in a CSV table that has the row ID, and `fold`, from 0.
    ///
    /// # Errors
    /// The table cannot be read or lacks a column, or a fold is no number.
    pub fn read(table: impl Read) -> Result<Self, Unscorable> {
        Self::read_text(table).map_err(Unscorable::new)
    }

    fn read_text(table: impl Read) -> Result<Self, String> {
        let mut table = Table::open(table)?;
        let fold = table.columns(&[FOLD])?[0];
        let id = (0..table.header().count()).find(|column| *column != fold);
        let id = id.ok_or("the folds have no column with row IDs")?;
        let (mut row, mut folds) = (StringRecord::new(), Self::default());
        while table.read(&mut row)? {
            let cell = row.get(fold).unwrap_or_default();
            let fold: u32 =
                cell.trim().parse().map_err(|_| format!("{} is no number of a fold", shown(cell)))?;
            if folds.of.insert(key(row.get(id).unwrap_or_default()), fold).is_none() {
                *folds.sizes.entry(fold).or_default() += 1;
            }
        }
        Ok(folds)
    }

    /// Whether a row is in any fold.
    pub fn has(&self, key: u64) -> bool {
        self.of.contains_key(&key)
    }

    /// The fold of each of these rows; `None` if one is in no fold, if a fold is not predicted for the most part, or if they are
    /// of one fold.
    pub fn of_rows(&self, keys: &[u64]) -> Option<Vec<u32>> {
        let places = self.places(keys);
        let known: usize = places.iter().map(|(_, places)| places.len()).sum();
        (places.len() > 1 && known == keys.len())
            .then(|| keys.iter().filter_map(|key| self.of.get(key).copied()).collect())
    }

    /// The places of the rows of each fold that is predicted for the most part, the first fold first.
    pub fn places(&self, keys: &[u64]) -> Vec<(u32, Vec<usize>)> {
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, key) in keys.iter().enumerate() {
            if let Some(fold) = self.of.get(key) {
                places.entry(*fold).or_default().push(place);
            }
        }
        let is_enough = |(fold, places): &(u32, Vec<usize>)| {
            let (rows, all) = (places.len() as u64, self.sizes.get(fold).copied().unwrap_or_default());
            rows * 2 >= all || rows >= ENOUGH_ROWS
        };
        places.into_iter().filter(is_enough).collect()
    }
}

impl Scale {
    /// That of a metric.
    pub fn of(metric: Metric) -> Self {
        Self { bounds: Bounds::new(metric.range()), direction: metric.direction() }
    }
}

/// The places of the rows of each group.
pub fn places_of_groups(units: &[u64]) -> Vec<Vec<usize>> {
    let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, unit) in units.iter().enumerate() {
        places.entry(*unit).or_default().push(place);
    }
    places.into_values().collect()
}

/// The score with the interval of one more period, where these periods have these scores.
#[must_use]
pub fn for_one_more_period(measured: Measurement, periods: Vec<FoldScore>, scale: Scale) -> Measurement {
    let scores: Vec<f64> = periods.iter().map(|period| period.score).collect();
    let interval = of_one_more_period(&scores, scale.bounds, scale.direction);
    let known = measured.no_interval.clone().filter(|_| periods.is_empty());
    let no_interval = interval.is_none().then(|| known.unwrap_or_else(|| few_periods(periods.len())));
    Measurement { interval, no_interval, periods, clusters: None, bounds: scale.bounds, ..measured }
}

/// The standard error of a score by the jackknife, from the scores without one of the `groups` each. They may be the scores
/// without some of the groups; `None` if they are fewer than five and not those without each, and for fewer than two groups.
pub fn jackknife_error(scores: &[f64], groups: usize) -> Option<f64> {
    if scores.len() < groups.min(FEWEST_SCORES) {
        return None;
    }
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    (groups > 1).then(|| ((groups as f64 - 1.0) / count * squares).sqrt())
}

/// So few scores without a group tell something of the others.
const FEWEST_SCORES: usize = 5;

/// The score with the interval of a score on other groups.
///
/// The errors by groups and by rows tell how much of the variance is between groups and how much is within. With both, the variance
/// on other groups follows from their number and size.
#[must_use]
pub fn for_other_groups(
    measured: Measurement,
    errors: &GroupErrors,
    test: (Option<Grouped>, Option<u64>),
    scale: Scale,
) -> Measurement {
    let measured = Measurement { clusters: None, bounds: scale.bounds, ..measured };
    let of = Grouped::of(errors.sizes.iter().copied());
    let test = test_groups(test, of);
    let by_rows = errors.by_rows.map(|error| error.powi(2));
    if errors.sizes.len() < 2 {
        let within = by_rows.or(measured.standard_error.map(|error| error.powi(2)));
        let spread = within.map(|within| Spread { between: 0.0, within: within * of.rows, of, test });
        return Measurement { interval: None, no_interval: Some(ONE_GROUP.to_owned()), spread, ..measured };
    }
    let Some(by_groups) = errors.by_groups.map(|error| error.powi(2)) else {
        let why = measured.no_interval.clone().unwrap_or_else(|| NO_OTHER_GROUPS.to_owned());
        return Measurement { interval: None, no_interval: Some(why), ..measured };
    };
    // These groups differ less among themselves than all groups do.
    let among = 1.0 - 1.0 / of.groups;
    let fewer = 1.0 / of.groups - among / of.rows;
    let between = match by_rows {
        Some(by_rows) if fewer > 0.0 => ((by_groups - by_rows) / fewer).max(0.0),
        _ => by_groups * of.groups,
    };
    let within = by_rows.map_or(0.0, |by_rows| (by_rows * of.rows - between * among).max(0.0));
    let spread = Spread { between, within, of, test };
    let interval = spread.interval(measured.score, None, scale.bounds);
    let no_interval = interval.is_none().then(|| UNEQUAL_GROUPS.to_owned());
    let standard_error = Some(spread.variance(of).sqrt());
    Measurement { interval, no_interval, spread: Some(spread), standard_error, ..measured }
}

/// Why one group gives no interval.
const ONE_GROUP: &str = "the rows are of one group, which does not tell how the score of others differs";
/// Why groups give no interval if there is no score without one of them.
const NO_OTHER_GROUPS: &str =
    "there is no score without some of the groups, so nothing tells how the score of groups differs";
/// Why groups of which one has nearly all rows give no interval.
const UNEQUAL_GROUPS: &str =
    "one group has nearly all rows, so the others do not tell how the score of groups differs";

/// The groups of the test table. If they are not known, they are as large as these; if even the rows are not known, they are as many.
fn test_groups((groups, rows): (Option<Grouped>, Option<u64>), of: Grouped) -> Grouped {
    let known = groups.filter(|groups| groups.groups > 0.0);
    let rows = rows.filter(|rows| *rows > 0).map_or(of.rows, |rows| rows as f64);
    known.unwrap_or(Grouped { groups: (of.groups * rows / of.rows).max(1.0), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAE: Scale =
        Scale { bounds: Bounds { low: Some(0.0), high: None }, direction: Direction::Minimize };

    #[test]
    fn other_groups_have_their_own_luck() {
        let check = |sizes: &[u64], by_rows: Option<f64>, test: &[u64], expected: Result<[f64; 2], &str>| {
            let errors = GroupErrors { sizes: sizes.to_vec(), by_groups: Some(0.3), by_rows };
            let test = (Some(Grouped::of(test.iter().copied())), None);
            let measured = for_other_groups(Measurement::of(2.0, String::new()), &errors, test, MAE);
            match (measured.interval, expected) {
                (Some(found), Ok(expected)) => {
                    let are_near = found.iter().zip(expected).all(|(one, two)| (one - two).abs() < 1e-6);
                    assert!(are_near, "{found:?}, {sizes:?}");
                }
                (found, expected) => {
                    let (why, no_interval) = (expected.unwrap_err(), measured.no_interval.unwrap());
                    assert!(found.is_none() && no_interval.contains(why), "{found:?} {no_interval}");
                }
            }
        };
        // By scipy.stats.t. The variance between groups is 0.08 / (1 / 4 - 3 / 160), and that within them 0.4 less three
        // quarters of it.
        let ten = [10; 4];
        check(&ten, Some(0.1), &[10; 4], Ok([0.649_802_382, 3.350_197_618]));
        check(&ten, Some(0.1), &[10; 16], Ok([0.932_575_059, 3.067_424_941]));
        check(&ten, None, &[1000], Ok([0.0, 4.134_849_882]));
        check(&[40], Some(0.1), &[10; 4], Err("of one group"));
        check(&[4000, 1], None, &[10; 4], Err("nearly all rows"));
        let unknown = GroupErrors { sizes: ten.to_vec(), by_groups: None, by_rows: Some(0.1) };
        let measured = for_other_groups(Measurement::of(2.0, String::new()), &unknown, (None, None), MAE);
        assert!(
            measured.interval.is_none()
                && measured.no_interval.unwrap().contains("without some of the groups")
        );
    }
}
