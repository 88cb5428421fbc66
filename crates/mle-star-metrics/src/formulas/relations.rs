//! How numbers go together: R2, correlations, and the Gini coefficient.

use crate::formulas::ranking::Ranking;
use crate::formulas::{Formula, NO_ROWS};

/// Why a correlation is undefined.
const CONSTANT: &str = "the labels or the predictions are all equal";

/// The coefficient of determination.
pub(crate) struct R2 {
    truth: Vec<f64>,
    squares: Vec<f64>,
}

impl R2 {
    pub(crate) fn new(truth: &[f64], predicted: &[f64]) -> Self {
        let squares = truth.iter().zip(predicted).map(|(y, p)| (y - p).powi(2)).collect();
        Self { truth: truth.to_vec(), squares }
    }
}

impl Formula for R2 {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        // A weight is how often a row is there, or how much it counts.
        let rows = weights.iter().filter(|weight| **weight > 0.0).count();
        if rows < 2 && weights.iter().sum::<f64>() < 2.0 {
            return Err("it needs two rows");
        }
        let mean = mean(&self.truth, weights)?;
        let around_mean: f64 =
            self.truth.iter().zip(weights).map(|(value, weight)| weight * (value - mean).powi(2)).sum();
        let error: f64 = self.squares.iter().zip(weights).map(|(square, weight)| square * weight).sum();
        Ok(match (error, around_mean) {
            (0.0, 0.0) => 1.0,
            (_, 0.0) => 0.0,
            _ => 1.0 - error / around_mean,
        })
    }
}

/// Pearson's correlation.
pub(crate) struct Pearson {
    truth: Vec<f64>,
    predicted: Vec<f64>,
}

impl Pearson {
    pub(crate) fn new(truth: &[f64], predicted: &[f64]) -> Self {
        Self { truth: truth.to_vec(), predicted: predicted.to_vec() }
    }
}

impl Formula for Pearson {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let means = (mean(&self.truth, weights)?, mean(&self.predicted, weights)?);
        correlation(&self.truth, &self.predicted, weights, means)
    }
}

/// Spearman's rank correlation.
pub(crate) struct Spearman {
    truth: Ranking,
    predicted: Ranking,
}

impl Spearman {
    pub(crate) fn new(truth: &[f64], predicted: &[f64]) -> Self {
        let ranking = |values: &[f64]| Ranking::descending(values.len(), |row| values[row]);
        Self { truth: ranking(truth), predicted: ranking(predicted) }
    }
}

impl Formula for Spearman {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let middle = (weights.iter().sum::<f64>() + 1.0) / 2.0;
        let (truth, predicted) = (self.truth.ranks(weights), self.predicted.ranks(weights));
        correlation(&truth, &predicted, weights, (middle, middle))
    }
}

/// The Gini coefficient of the order by predictions, divided by that of the order by truth.
pub(crate) struct Gini {
    values: Vec<f64>,
    by_truth: Ranking,
    by_prediction: Ranking,
}

impl Gini {
    pub(crate) fn new(truth: &[f64], predicted: &[f64]) -> Self {
        let ranking = |values: &[f64]| Ranking::descending(values.len(), |row| values[row]);
        Self { values: truth.to_vec(), by_truth: ranking(truth), by_prediction: ranking(predicted) }
    }

    /// The area between the curve of accumulated values and its chord, times a factor that all orders of these rows have. Rows
    /// of a tie are on a line.
    fn area(&self, order: &Ranking, weights: &[f64], mean: f64) -> f64 {
        let (mut area, mut above, mut tied) = (0.0, 0.0, (0.0, 0.0));
        for (row, is_end) in order.rows_and_ends() {
            // Around the mean, so that the chord is flat.
            tied = (tied.0 + weights[row], tied.1 + weights[row] * (self.values[row] - mean));
            if is_end {
                area += tied.0 * (above + tied.1 / 2.0);
                (above, tied) = (above + tied.1, (0.0, 0.0));
            }
        }
        area
    }
}

impl Formula for Gini {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let mean = mean(&self.values, weights)?;
        let best = self.area(&self.by_truth, weights, mean);
        if best <= 0.0 {
            return Err("the labels are all equal");
        }
        Ok((self.area(&self.by_prediction, weights, mean) / best).clamp(-1.0, 1.0))
    }
}

fn correlation(one: &[f64], two: &[f64], weights: &[f64], means: (f64, f64)) -> Result<f64, &'static str> {
    let (mut of_one, mut of_two, mut of_both) = (0.0, 0.0, 0.0);
    for ((one, two), weight) in one.iter().zip(two).zip(weights) {
        let (one, two) = (one - means.0, two - means.1);
        of_one += weight * one * one;
        of_two += weight * two * two;
        of_both += weight * one * two;
    }
    if of_one <= 0.0 || of_two <= 0.0 {
        return Err(CONSTANT);
    }
    if !of_one.is_finite() || !of_two.is_finite() {
        return Ok(f64::NAN);
    }
    Ok((of_both / of_one.sqrt() / of_two.sqrt()).clamp(-1.0, 1.0))
}

/// The weighted mean, which is exact where all values are equal.
fn mean(values: &[f64], weights: &[f64]) -> Result<f64, &'static str> {
    let first = values.iter().zip(weights).find(|(_, weight)| **weight > 0.0);
    let start = *first.ok_or(NO_ROWS)?.0;
    let total: f64 = weights.iter().sum();
    let rest: f64 = values.iter().zip(weights).map(|(value, weight)| weight * (value - start)).sum();
    Ok(start + rest / total)
}
