//! Seasonal naive forecasts of the validated rows: what any forecast is to be compared with.
//!
//! A row gets the target that its series had at the same time of the week, if times are a day apart or less, or at the same
//! time of the year, if they are further apart. The value is the latest one that models of the row's period know. Where there is none, it
//! is the last known value of the series, and for a new series the mean of all known values.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crate::dates::DAY;
use crate::folds::{FoldBasis, Validated};
use crate::holdout::Plan;
use crate::holdout::write::{beside, replace};
use crate::labelled::Labelled;
use crate::periods::{Bounds, Timeline};
use crate::profile::Profile;
use crate::records::digest;
use crate::series;
use crate::split::times::Clock;

const WEEK: f64 = 7.0 * DAY;
const YEAR: f64 = 365.25 * DAY;
/// Longer steps than those of days have a season of a year.
const LONGEST_DAY: f64 = 1.5 * DAY;
/// Longer steps than quarters have none.
const LONGEST_QUARTER: f64 = 0.3 * YEAR;
/// A single series has a row of its own at this share of its times at least.
const OWN_TIMES: f64 = 0.9;
/// Seasons before the latest known one that are looked for, where values are missing.
const EARLIER: usize = 3;

/// A known value of a series.
#[derive(Clone, Copy, Debug)]
struct Known {
    series: u32,
    at: f64,
    value: f64,
}

/// The known values, by series and time.
struct History {
    known: Vec<Known>,
    /// For each row of the training table its series; `None` if it has no time.
    series: Vec<Option<u32>>,
    /// The usual difference between times of a series.
    step: f64,
    /// The lengths of the seasons that are looked for, the best first.
    seasons: &'static [f64],
}

/// Writes the forecasts of the rows that the folds validate: their names as in `folds.csv`, and the target. Returns whether there are
/// any: the folds have to be periods of time, and the target has to be a number. A row that `plan` holds out is in no forecast.
///
/// # Errors
/// The training table cannot be read, or the file cannot be written.
pub fn write(profile: &Profile, by: &FoldBasis<'_>, plan: Option<&Plan>, into: &Path) -> io::Result<bool> {
    let Some(timeline) = by.timeline.filter(|times| by.own.is_none() && times.is_common()) else {
        return Ok(false);
    };
    let labelled = Labelled::of(profile, by.target, by.id)?;
    if !matches!(labelled.targets.as_slice(), [(_, true)]) {
        return Ok(false);
    }
    let Some(history) = History::read(profile, &labelled, timeline, plan)? else { return Ok(false) };
    let periods = timeline.folds(plan.is_some_and(Plan::is_period));
    let means: Vec<f64> = periods.iter().map(|period| history.mean(period)).collect();
    let forecast = |row: u64, fold: u8| {
        let fold = usize::from(fold);
        let found = timeline.time(row).and_then(|at| history.forecast(row, at, periods.get(fold)?));
        found.or_else(|| means.get(fold).copied()).unwrap_or(f64::NAN).to_string()
    };
    let partial = beside(into);
    let written = Validated::of(profile, by, plan)?.write(by.target, &partial, forecast);
    replace(written, &partial, into)?;
    Ok(true)
}

impl History {
    /// The labelled rows that `plan` does not hold out; `None` if no column names series, and rows have no times of their own.
    fn read(
        profile: &Profile,
        labelled: &Labelled<'_>,
        timeline: &Timeline,
        plan: Option<&Plan>,
    ) -> io::Result<Option<Self>> {
        let is_taken = |name: &str| {
            labelled.id == Some(name) || labelled.targets.iter().any(|(target, _)| *target == name)
        };
        let names = series::columns(profile, timeline.column(), is_taken);
        let targets = labelled.targets.iter().map(|(name, _)| *name);
        let columns = labelled.train.positions(targets.chain(names.iter().map(String::as_str)))?;
        let (mut numbers, mut known, mut series) = (HashMap::<u64, u32>::new(), Vec::new(), Vec::new());
        labelled.train.each(&columns, |row| {
            let Some(at) = timeline.time(row.number) else {
                series.push(None);
                return true;
            };
            let key = digest(&(1..columns.len()).map(|cell| row.value(cell)).collect::<Vec<_>>());
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(key).or_insert(next);
            series.push(Some(number));
            let value = row.value(0).and_then(|value| value.parse().ok());
            let is_known =
                timeline.is_labelled(row.number) && plan.is_none_or(|plan| plan.leaves(row.number));
            if let Some(value) = value.filter(|value: &f64| value.is_finite() && is_known) {
                known.push(Known { series: number, at, value });
            }
            true
        })?;
        known.sort_by(|one, other| one.series.cmp(&other.series).then(one.at.total_cmp(&other.at)));
        let step = step(&known).filter(|_| !names.is_empty() || has_own_times(&known));
        Ok(step.map(|step| Self { known, series, step, seasons: seasons(timeline.clock(), step) }))
    }

    /// The forecast of a row by what models of its period know of its series; `None` if they know nothing.
    fn forecast(&self, row: u64, at: f64, period: &Bounds) -> Option<f64> {
        let series = (*self.series.get(usize::try_from(row).ok()?)?)?;
        let from = self.known.partition_point(|known| known.series < series);
        let to = self.known.partition_point(|known| {
            known.series < series || (known.series == series && known.at <= period.learn)
        });
        let known = self.known.get(from..to)?;
        let last = known.last()?;
        let in_season = |season: &f64| {
            // A leap year is longer than the mean one.
            let latest = ((at - period.learn - self.step / 2.0) / season).ceil().max(1.0);
            (0..EARLIER)
                .find_map(|earlier| nearest(known, at - (latest + earlier as f64) * season, self.step))
        };
        Some(self.seasons.iter().find_map(in_season).unwrap_or(last.value))
    }

    /// The mean of all values that models of this period know.
    fn mean(&self, period: &Bounds) -> f64 {
        let known = self.known.iter().filter(|known| known.at <= period.learn);
        let (sum, count) = known.fold((0.0, 0.0), |(sum, count), known| (sum + known.value, count + 1.0));
        sum / count
    }
}

/// The value of a series at about this time; `None` if its nearest time is more than half a step away.
fn nearest(known: &[Known], at: f64, step: f64) -> Option<f64> {
    let next = known.partition_point(|known| known.at < at);
    let around = known.get(next.saturating_sub(1)..(next + 1).min(known.len()))?;
    let away = |known: &Known| (known.at - at).abs();
    let nearest = around.iter().min_by(|one, other| away(one).total_cmp(&away(other)))?;
    (away(nearest) <= step / 2.0).then_some(nearest.value)
}

/// The seasons of times with this step. Numbers have none: their unit is not known.
fn seasons(clock: Clock, step: f64) -> &'static [f64] {
    match step {
        _ if clock == Clock::Number => &[],
        ..DAY => &[WEEK, DAY],
        ..=LONGEST_DAY => &[WEEK],
        ..=LONGEST_QUARTER => &[YEAR],
        _ => &[],
    }
}

/// The median difference between times of a series; `None` without one.
fn step(known: &[Known]) -> Option<f64> {
    let pairs = known.windows(2).filter(|pair| pair[0].series == pair[1].series);
    let mut steps: Vec<f64> = pairs.map(|pair| pair[1].at - pair[0].at).filter(|step| *step > 0.0).collect();
    let middle = steps.len() / 2;
    (!steps.is_empty()).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Whether hardly any two rows of the single series have the same time.
fn has_own_times(known: &[Known]) -> bool {
    let times = known.chunk_by(|one, other| one.at.total_cmp(&other.at).is_eq()).count();
    times as f64 >= OWN_TIMES * known.len() as f64
}
