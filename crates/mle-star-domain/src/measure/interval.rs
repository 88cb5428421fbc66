//! 95 % intervals for scores on rows that nobody has yet: those of one more period of time, or of other groups.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::deviation::standard_deviation;
use crate::metric::Direction;

/// The fewest periods whose scores tell how far that of another one may be from them.
pub const MIN_PERIODS: usize = 3;
/// The half width of a 95 % interval of a normal distribution, in standard deviations.
pub const HALF_WIDTH: f64 = 1.96;

/// The smallest and the largest possible score of a metric; `None` where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// The smallest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The largest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// How the scores of groups differ, as far as some groups tell. The variance of a score is `between / e + within / n`: `n` is the
/// number of rows, and `e` that of equally large groups which would be as certain ([`Grouped::groups`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The variance of the score of a large group.
    pub between: f64,
    /// The variance of the score of a row within its group.
    pub within: f64,
    /// How the rows that tell it are distributed over groups.
    pub of: Groups,
    /// How the rows of the test table are.
    pub test: Groups,
}

/// Rows in groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    /// The number of groups of equal size whose mean would be as certain: that of the groups if they are equally large,
    /// and less otherwise.
    pub groups: f64,
    /// The number of rows.
    pub rows: f64,
}

impl Bounds {
    /// The bounds of a metric, which may be infinite.
    pub fn new((low, high): (f64, f64)) -> Self {
        let finite = |bound: f64| bound.is_finite().then_some(bound);
        Self { low: finite(low), high: finite(high) }
    }

    /// The interval within the bounds.
    pub fn within(self, [low, high]: [f64; 2]) -> [f64; 2] {
        let clamp = |end: f64| {
            let end = self.low.map_or(end, |low| end.max(low));
            self.high.map_or(end, |high| end.min(high))
        };
        [clamp(low), clamp(high)]
    }

    /// The best possible score.
    fn best(self, direction: Direction) -> Option<f64> {
        match direction {
            Direction::Minimize => self.low,
            Direction::Maximize => self.high,
        }
    }
}

impl Groups {
    /// Groups of these sizes.
    pub fn of(sizes: impl IntoIterator<Item = u64>) -> Self {
        let (mut rows, mut squares) = (0.0, 0.0);
        for size in sizes {
            rows += size as f64;
            squares += (size as f64).powi(2);
        }
        Self { groups: if squares > 0.0 { rows * rows / squares } else { 0.0 }, rows }
    }
}

impl Spread {
    /// The variance of the score of rows like these.
    pub fn variance(&self, of: Groups) -> f64 {
        self.between / of.groups + self.within / of.rows
    }

    /// The variances by both sets of groups: `between` by their degrees of freedom (groups - 1), `within` by their rows. `of` and
    /// `test` are those of `self`.
    #[must_use]
    pub fn pooled(&self, other: &Self) -> Self {
        let (own, others) = (self.freedom(), other.freedom());
        let weighted = |one: f64, two: f64, by: (f64, f64)| (one * by.0 + two * by.1) / (by.0 + by.1);
        let between = match own + others > 0.0 {
            true => weighted(self.between, other.between, (own, others)),
            false => self.between,
        };
        let within = weighted(self.within, other.within, (self.of.rows, other.of.rows));
        Self { between, within, ..*self }
    }

    /// How many groups tell the variance between them, less one.
    fn freedom(&self) -> f64 {
        (self.of.groups - 1.0).max(0.0)
    }

    /// The interval of the score on the test table's groups, where these groups have this score. The groups of `others` tell
    /// how groups differ, too. `None` if there are no two groups.
    pub fn interval(&self, score: f64, others: Option<&Self>, bounds: Bounds) -> Option<[f64; 2]> {
        let freedom = self.freedom() + others.map_or(0.0, Self::freedom);
        let known = others.map_or(*self, |others| self.pooled(others));
        let error = (known.variance(self.of) + known.variance(self.test)).sqrt();
        let half = quantile(freedom)? * error;
        half.is_finite().then(|| bounds.within([score - half, score + half]))
    }
}

/// The interval of the score of one more period, from the scores of at least [`MIN_PERIODS`], the earliest first; `None`
/// if there are fewer.
///
/// It is the prediction interval of one more value by Student's distribution, with two changes that
/// `lab/measured/coverage.md` compares. Errors are positive and skewed, so where the metric has a best possible score, it is
/// computed for the square roots of the distances to that. Scores drift, so half of its centre is the last period's.
pub fn next_period(scores: &[f64], bounds: Bounds, direction: Direction) -> Option<[f64; 2]> {
    if scores.len() < MIN_PERIODS {
        return None;
    }
    let Some(best) = bounds.best(direction) else { return Some(bounds.within(one_more(scores)?)) };
    let distances: Vec<f64> = scores.iter().map(|score| (score - best).abs().sqrt()).collect();
    let [near, far] = one_more(&distances)?.map(|root| root.max(0.0).powi(2));
    Some(bounds.within(match direction {
        Direction::Minimize => [best + near, best + far],
        Direction::Maximize => [best - far, best - near],
    }))
}

/// Why this number of periods gives no interval.
pub fn few_periods(count: usize) -> String {
    let known = match count {
        0 => "the score of no period of time is known".to_owned(),
        1 => "the score of only one period of time is known".to_owned(),
        count => format!("the scores of only {count} periods of time are known"),
    };
    format!("{known}, and an interval for one more needs {MIN_PERIODS}")
}

/// The standard error of the difference between the score of one more period and the mean of these, of which
/// [`HALF_WIDTH`] are the half of a 95 % interval; `None` if there are too few.
pub fn error_of_one_more_period(scores: &[f64]) -> Option<f64> {
    let count = scores.len() as f64;
    let is_enough = scores.len() >= MIN_PERIODS;
    let times = is_enough.then(|| quantile(count - 1.0))?? / HALF_WIDTH;
    Some(times * standard_deviation(scores)? * (1.0 + 1.0 / count).sqrt())
}

/// The 95 % prediction interval of one more value of a series that may drift.
fn one_more(values: &[f64]) -> Option<[f64; 2]> {
    let (count, last) = (values.len() as f64, *values.last()?);
    let mean = values.iter().sum::<f64>() / count;
    let center = f64::midpoint(mean, last);
    // The squares of the weights that the values have in the center.
    let weights = 0.25 + 0.75 / count;
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let by_steps = (steps / (count - 1.0) / 2.0).sqrt();
    let deviation = standard_deviation(values)?.max(by_steps);
    let half = quantile(count - 1.0)? * deviation * (1.0 + weights).sqrt();
    Some([center - half, center + half])
}

/// The 97.5 % quantile of Student's distribution with this many degrees of freedom.
fn quantile(freedom: f64) -> Option<f64> {
    // Below, the interval says nothing.
    const MIN_DEGREES: f64 = 0.5;
    (freedom >= MIN_DEGREES)
        .then(|| StudentsT::new(0.0, 1.0, freedom).ok())?
        .map(|student| student.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_groups_count_less() {
        let groups = [vec![], vec![5, 5, 5], vec![8, 1, 1]].map(|sizes| Groups::of(sizes).groups);
        assert_eq!(groups, [0.0, 3.0, 100.0 / 66.0]);
    }

    const ERROR: Bounds = Bounds { low: Some(0.0), high: None };
    const SHARE: Bounds = Bounds { low: Some(0.0), high: Some(1.0) };

    fn is_near(found: Option<[f64; 2]>, expected: Option<[f64; 2]>) {
        let is_near =
            |(found, expected): (f64, f64)| (found - expected).abs() < 1e-6 * expected.abs().max(1.0);
        let are_near = match (found, expected) {
            (Some(found), Some(expected)) => found.into_iter().zip(expected).all(is_near),
            (found, expected) => found == expected,
        };
        assert!(are_near, "{found:?} instead of {expected:?}");
    }

    #[test]
    fn the_interval_is_for_one_more_period() {
        use Direction::{Maximize, Minimize};
        let check = |scores: &[f64], bounds, direction, expected| {
            is_near(next_period(scores, bounds, direction), expected);
        };
        // By numpy and scipy.stats.t.
        check(&[10.0, 12.0], ERROR, Minimize, None);
        check(&[10.0, 12.0, 11.0], ERROR, Minimize, Some([5.906_697_968, 17.644_952_607]));
        let six = [10.0, 12.0, 11.0, 14.0, 9.0, 13.0];
        check(&six, ERROR, Minimize, Some([5.978_036_426, 20.632_044_693]));
        check(&[1.0, 4.0, 9.0, 16.0], ERROR, Minimize, Some([0.0, 66.846_044_728]));
        check(&[0.0, 0.0, 0.5], ERROR, Minimize, Some([0.0, 6.878_717_299]));
        check(&[5.0; 4], ERROR, Minimize, Some([5.0, 5.0]));
        check(&[0.81, 0.84, 0.79, 0.85], SHARE, Maximize, Some([0.689_323_291, 0.937_361_935]));
        check(&[0.99, 0.999, 0.97], SHARE, Maximize, Some([0.695_650_806, 1.0]));
        let unbounded = Some([-0.368_555_889, 1.318_555_889]);
        check(&[0.55, 0.3, 0.5], Bounds::default(), Maximize, unbounded);
    }

    #[test]
    fn groups_count_on_both_sides() {
        let spread = |between, within, (groups, rows)| Spread {
            between,
            within,
            of: Groups { groups, rows },
            test: Groups { groups: 5.0, rows: 100.0 },
        };
        let many = spread(0.06, 2.5, (8.0, 160.0));
        let check = |own: Spread, others: Option<&Spread>, score, bounds, expected| {
            is_near(own.interval(score, others, bounds), expected);
        };
        // By scipy.stats.t.
        let own = spread(0.04, 2.0, (8.0, 160.0));
        check(own, None, 1.0, ERROR, Some([0.495_608_409, 1.504_391_591]));
        let few = spread(0.04, 2.0, (2.0, 40.0));
        check(few, Some(&many), 1.0, ERROR, Some([0.187_153_986, 1.812_846_014]));
        check(few, Some(&many), 0.3, SHARE, Some([0.0, 1.0]));
        // One group tells nothing of others.
        check(spread(0.0, 2.0, (1.0, 20.0)), None, 1.0, ERROR, None);
    }
}
