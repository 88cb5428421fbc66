//! How the level of the target moves from one period to the next.

use std::collections::HashMap;

use super::super::effects::decimals;
use super::super::words;
use super::Course;

/// Periods before the last one whose changes are told.
const EARLIER: usize = 4;
/// With fewer series, their changes have no spread; the times of a period stand for them.
const FEWEST_SERIES: usize = 5;

/// A change from one period to the next.
struct Change {
    mean: f64,
    error: f64,
    /// Series that were compared; none if all rows count together.
    series: usize,
    /// The standard deviation of the changes of series.
    spread: f64,
}

/// The last period beside the one before it, and the changes between earlier ones; `None` if the time is too short.
pub(super) fn line(course: &Course, target: &str) -> Option<String> {
    let periods = periods(course);
    let changes: Vec<Change> = (0..=EARLIER).map_while(|back| change(&periods, back)).collect();
    let (last, earlier) = changes.split_first()?;
    let (now, before) = (level(&periods, 0)?, level(&periods, 1)?);
    let places = decimals(last.error.max(f64::MIN_POSITIVE));
    let spread = match last.series {
        0 => String::new(),
        series => format!(
            ", standard deviation between {} {}",
            words::counted(series, "series").trim_end_matches('s').to_owned() + "s",
            words::number(last.spread)
        ),
    };
    let error = if last.error.is_finite() { format!(" ±{:.places$}", last.error) } else { String::new() };
    let changes: Vec<String> = earlier.iter().map(|change| format!("{:+.places$}", change.mean)).collect();
    let history = match changes.as_slice() {
        [] => String::new(),
        changes => format!("; the changes before that, latest first: {}", changes.join(", ")),
    };
    Some(format!(
        "- Level of {target} in the last {}: {now:.places$}, in those before {before:.places$}; change {:+.places$}{error}{spread}{history}",
        course.words(course.period),
        last.mean
    ))
}

/// The means of each series, or of each time without series, in the periods counted back from the last time.
fn periods(course: &Course) -> Vec<HashMap<u64, f64>> {
    let last = course.last() + course.step / 2.0;
    let mut sums: Vec<HashMap<u64, (f64, f64)>> = vec![HashMap::new(); EARLIER + 2];
    let by_series = course.each().count() >= FEWEST_SERIES;
    for moment in &course.moments {
        let key = if by_series { moment.series as u64 } else { moment.at.to_bits() };
        let back = ((last - moment.at) / course.period).floor();
        let Some(period) = (0..sums.len()).find(|period| *period as f64 == back) else { continue };
        let (rows, sum) = sums[period].entry(key).or_default();
        (*rows, *sum) = (*rows + 1.0, *sum + moment.value);
    }
    let mean = |(key, (rows, sum)): (u64, (f64, f64))| (key, sum / rows);
    sums.into_iter().map(|sums| sums.into_iter().map(mean).collect()).collect()
}

/// The level of a period.
fn level(periods: &[HashMap<u64, f64>], back: usize) -> Option<f64> {
    let means = periods.get(back).filter(|means| !means.is_empty())?;
    Some(sorted(means).iter().sum::<f64>() / means.len() as f64)
}

/// The change to this period, counted back, from the one before it: of each series, or of all times together.
fn change(periods: &[HashMap<u64, f64>], back: usize) -> Option<Change> {
    let (now, before) = (periods.get(back)?, periods.get(back + 1)?);
    let mut differences: Vec<(u64, f64)> =
        now.iter().filter_map(|(key, mean)| Some((*key, mean - before.get(key)?))).collect();
    differences.sort_unstable_by_key(|(key, _)| *key);
    let differences: Vec<f64> = differences.into_iter().map(|(_, difference)| difference).collect();
    if differences.len() >= FEWEST_SERIES {
        let (mean, variance) = moments(&differences);
        let error = (variance / differences.len() as f64).sqrt();
        return Some(Change { mean, error, series: differences.len(), spread: variance.sqrt() });
    }
    let (now, before) = (sorted(now), sorted(before));
    if now.is_empty() || before.is_empty() {
        return None;
    }
    let ((mean, variance), (earlier, spread)) = (moments(&now), moments(&before));
    let error = (variance / now.len() as f64 + spread / before.len() as f64).sqrt();
    Some(Change { mean: mean - earlier, error, series: 0, spread: 0.0 })
}

/// The values in an order that does not depend on the map.
fn sorted(means: &HashMap<u64, f64>) -> Vec<f64> {
    let mut values: Vec<f64> = means.values().copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}
