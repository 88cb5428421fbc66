//! Scores that the program computes itself, with their uncertainty.
//!
//! Each row has a random weight in each of a fixed number of bootstrap replicates, which depends only on the row and
//! the replicate. So the replicates of two scripts are paired, whatever rows they have in common.

mod deviation;
pub mod interval;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::deviation::standard_deviation;
use self::interval::{Bounds, Spread, error_of_one_more_period, next_period};
use crate::metric::Direction;

/// A score computed from predictions and labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The score, in the metric's unit.
    pub score: f64,
    /// The number of rows.
    pub rows: u64,
    /// The number of groups or times of the rows, if it is too small to draw whole ones. The uncertainty is then that of
    /// rows that do not depend on each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    /// Whether the rows are all that the program's folds validate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_folds: bool,
    /// A digest of the rows' IDs; equal for equal sets of rows.
    pub rows_digest: String,
    /// What the best of a few constant predictions scores on these rows, such as their mean; `None` where constants have no
    /// score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<f64>,
    /// What a seasonal naive forecast of these rows scores; `None` if they are no forecasts of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seasonal_naive: Option<f64>,
    /// The standard error of the score; `None` if a metric file has no score for resampled rows.
    pub standard_error: Option<f64>,
    /// The 95 % interval of the score on rows like those of the test table: as many other rows, other groups, or one more
    /// period of time. Low, high.
    pub interval: Option<[f64; 2]>,
    /// Why there is no interval, in one sentence; `None` if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// For a split by time, the scores of the periods that were validated, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<FoldScore>,
    /// Whether the score is the mean of those of the periods, not that of all rows together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mean_over_periods: bool,
    /// For a split by groups, how their scores differ, if they are enough to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// The smallest and the largest possible score.
    #[serde(default)]
    pub bounds: Bounds,
    /// The score in each bootstrap replicate; empty without a standard error.
    pub replicates: Vec<f64>,
    /// How many of the replicates have a score of their own, if not all: the others, such as those of one class, repeat
    /// the score of all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defined: Option<u64>,
}

/// The score of the rows of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldScore {
    /// The fold, from 0.
    pub fold: u32,
    /// The number of its rows that were scored.
    pub rows: u64,
    /// Their score, in the metric's unit.
    pub score: f64,
}

/// The score of predictions, and what the same predictions score by chance: with the labels permuted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// The score.
    pub score: f64,
    /// The mean score with permuted labels.
    pub mean: f64,
    /// Its standard deviation over permutations.
    pub standard_deviation: f64,
}

/// The difference of two scores on the task's metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// How much larger the first score is.
    pub by: f64,
    /// The standard error of the paired difference.
    pub standard_error: f64,
}

impl Measurement {
    /// A score of rows with this digest, of which nothing else is known.
    pub fn of(score: f64, rows_digest: String) -> Self {
        Self {
            score,
            rows: 0,
            clusters: None,
            on_folds: false,
            rows_digest,
            constant: None,
            seasonal_naive: None,
            standard_error: None,
            interval: None,
            no_interval: None,
            periods: Vec::new(),
            mean_over_periods: false,
            spread: None,
            bounds: Bounds::default(),
            replicates: Vec::new(),
            defined: None,
        }
    }

    /// The share of the replicates that have a score of their own.
    pub fn defined_share(&self) -> f64 {
        self.defined.map_or(1.0, |defined| defined as f64 / self.replicates.len().max(1) as f64)
    }

    /// The difference to another measurement, by the replicates that both have; `None` if there are fewer than two.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        let differences: Vec<f64> =
            self.replicates.iter().zip(&other.replicates).map(|(one, two)| one - two).collect();
        // Replicates that repeat the scores do not differ from their difference, so they make the variance too small.
        let share = self.defined_share().min(other.defined_share());
        let standard_error = standard_deviation(&differences)? / share.sqrt();
        Some(Difference { by: self.score - other.score, standard_error })
    }

    /// The interval of this score of held-out rows. Where rows are periods or groups, those that were validated tell how far
    /// scores are apart, too.
    pub fn interval_beside(&self, validated: Option<&Self>, direction: Direction) -> Option<[f64; 2]> {
        let periods = validated.map(|validated| validated.periods.as_slice()).unwrap_or_default();
        if !periods.is_empty() {
            let scores: Vec<f64> = periods.iter().map(|one| one.score).chain([self.score]).collect();
            return next_period(&scores, self.bounds, direction);
        }
        match self.spread {
            Some(spread) => {
                let others = validated.and_then(|validated| validated.spread.as_ref());
                spread.interval(self.score, others, self.bounds)
            }
            None => self.interval,
        }
    }

    /// The standard error of the difference of this held-out score and a validated one. Rows, groups and periods give an
    /// estimate each; this is the largest, so that no gap is called real too early. `None` if there is none.
    pub fn error_of_gap(&self, validated: &Self) -> Option<f64> {
        let periods: Vec<f64> = validated.periods.iter().map(|period| period.score).collect();
        let by_rows =
            self.standard_error.zip(validated.standard_error).map(|(own, others)| own.hypot(others));
        let by_groups = self.spread.zip(validated.spread).map(|(own, others)| {
            let known = own.pooled(&others);
            (known.variance(own.of) + known.variance(others.of)).sqrt()
        });
        let by_periods = error_of_one_more_period(&periods);
        [by_rows, by_groups, by_periods].into_iter().flatten().reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(score: f64, replicates: &[f64]) -> Measurement {
        Measurement {
            rows: 10,
            standard_error: Some(1.0),
            replicates: replicates.to_vec(),
            ..Measurement::of(score, String::new())
        }
    }

    #[test]
    fn paired_replicates_give_the_error_of_the_difference() {
        let (one, two) = (measurement(0.8, &[0.7, 0.8, 0.9]), measurement(0.7, &[0.6, 0.7, 0.8]));
        let difference = one.difference(&two).unwrap();
        assert!((difference.by - 0.1).abs() < 1e-12 && difference.standard_error < 1e-12);
        let unpaired = measurement(0.7, &[0.8, 0.7, 0.6]);
        assert!((one.difference(&unpaired).unwrap().standard_error - 0.2).abs() < 1e-12);
        assert_eq!(one.difference(&measurement(0.7, &[0.6])), None);
        // A quarter of the replicates has a score of its own.
        let few = Measurement {
            defined: Some(3),
            ..measurement(0.8, &[[0.7, 0.8, 0.9, 0.8].as_slice(), &[0.8; 8]].concat())
        };
        let other = measurement(0.7, &[0.7; 12]);
        let whole = standard_deviation(&few.replicates).unwrap();
        assert!((few.difference(&other).unwrap().standard_error - 2.0 * whole).abs() < 1e-12);
    }
}
