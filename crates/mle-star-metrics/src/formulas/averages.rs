//! Means and medians over rows.

use crate::formulas::ranking::Ranking;
use crate::formulas::{Classes, Unscorable};
use crate::formulas::{Formula, NO_ROWS};
use crate::names::{Level, Metric};

/// How far the sum of a row's probabilities may be from 1 before they are divided by it.
const SUM_TOLERANCE: f64 = 1.5e-8;

/// The mean of a loss or a gain of each row.
pub(crate) struct Mean {
    values: Vec<f64>,
    is_root: bool,
}

impl Mean {
    pub(crate) fn new(values: Vec<f64>) -> Self {
        Self { values, is_root: false }
    }
}

impl Formula for Mean {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Err(NO_ROWS);
        }
        // A value of zero weight could be infinite.
        let weighted = self.values.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let mean = weighted.map(|(value, weight)| value * weight).sum::<f64>() / total;
        Ok(if self.is_root { mean.sqrt() } else { mean })
    }
}

/// The share of equal labels.
pub(crate) fn accuracy(truth: &[u32], predicted: &[u32]) -> Mean {
    let values = truth.iter().zip(predicted).map(|(y, p)| f64::from(u8::from(y == p))).collect();
    Mean::new(values)
}

/// The score of intervals that should cover this share. Each row has a lower and an upper bound.
pub(crate) fn interval_score(covered: Level, truth: &[f64], bounds: &[f64]) -> Mean {
    let penalty = 2.0 / covered.rest().share();
    let score = |(y, row): (&f64, &[f64])| {
        let (lower, upper) = (row[0], row[1]);
        upper - lower + penalty * (lower - y).max(0.0) + penalty * (y - upper).max(0.0)
    };
    Mean::new(truth.iter().zip(bounds.chunks_exact(2)).map(score).collect())
}

/// The pinball loss of a quantile.
pub(crate) fn pinball(quantile: Level, truth: &[f64], predicted: &[f64]) -> Mean {
    let quantile = quantile.share();
    let loss = |(y, p): (&f64, &f64)| (quantile * (y - p)).max((quantile - 1.0) * (y - p));
    Mean::new(truth.iter().zip(predicted).map(loss).collect())
}

/// The error of numbers.
pub(crate) fn error(metric: Metric, truth: &[f64], predicted: &[f64]) -> Mean {
    let error: fn(f64, f64) -> f64 = match metric {
        Metric::Mae => |y, p| (p - y).abs(),
        Metric::Rmsle => |y, p| (p.ln_1p() - y.ln_1p()).powi(2),
        Metric::Mape => |y, p| (p - y).abs() / y.abs().max(f64::EPSILON),
        Metric::Smape => |y, p| match y.abs() + p.abs() {
            0.0 => 0.0,
            size => 200.0 * (p - y).abs() / size,
        },
        _ => |y, p| (p - y).powi(2),
    };
    let values = truth.iter().zip(predicted).map(|(y, p)| error(*y, *p)).collect();
    Mean { values, is_root: matches!(metric, Metric::Rmse | Metric::Rmsle) }
}

/// The mean over the classes of the log loss of each against the rest, whose probabilities need not add up to 1.
pub(crate) fn column_loss(classes: Classes<'_>, values: &[f64]) -> Mean {
    let Classes { rows, count, .. } = classes;
    let of_row = |(class, row): (&u32, &[f64])| {
        let of_column = |(column, value): (usize, &f64)| {
            let probability = if column == *class as usize { *value } else { 1.0 - value };
            -probability.clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln()
        };
        row.iter().enumerate().map(of_column).sum::<f64>() / count as f64
    };
    Mean::new(rows.iter().zip(values.chunks_exact(count)).map(of_row).collect())
}

/// The log loss or the Brier score of rows of probabilities.
///
/// # Errors
/// The probabilities of a row are all zero.
pub(crate) fn loss(metric: Metric, classes: Classes<'_>, values: &[f64]) -> Result<Mean, Unscorable> {
    let Classes { rows, count, .. } = classes;
    let mut losses = Vec::with_capacity(rows.len());
    for (class, row) in rows.iter().zip(values.chunks_exact(count)) {
        let sum: f64 = row.iter().sum();
        if sum <= 0.0 {
            return Err(Unscorable::new("the probabilities of a row are all zero"));
        }
        let divisor = if (sum - 1.0).abs() <= SUM_TOLERANCE { 1.0 } else { sum };
        losses.push(match metric {
            Metric::Brier => brier(*class as usize, row, divisor),
            _ => -(row[*class as usize] / divisor).clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln(),
        });
    }
    Ok(Mean::new(losses))
}

fn brier(class: usize, row: &[f64], divisor: f64) -> f64 {
    let square =
        |(other, value): (usize, &f64)| (value / divisor - f64::from(u8::from(other == class))).powi(2);
    let sum: f64 = row.iter().enumerate().map(square).sum();
    if row.len() == 2 { sum / 2.0 } else { sum }
}

/// The median of the absolute errors.
pub(crate) struct Median {
    errors: Vec<f64>,
    /// The largest error comes first.
    ranking: Ranking,
}

impl Median {
    pub(crate) fn new(truth: &[f64], predicted: &[f64]) -> Self {
        let errors: Vec<f64> = truth.iter().zip(predicted).map(|(y, p)| (p - y).abs()).collect();
        let ranking = Ranking::descending(errors.len(), |row| errors[row]);
        Self { errors, ranking }
    }
}

impl Formula for Median {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let total: f64 = weights.iter().sum();
        let mut above = 0.0;
        let mut upper = None;
        for row in self.ranking.rows().filter(|row| weights[*row] > 0.0) {
            // The row before ended exactly in the middle.
            if let Some(upper) = upper {
                return Ok((self.errors[row] + upper) / 2.0);
            }
            above += weights[row];
            if above > total / 2.0 {
                return Ok(self.errors[row]);
            }
            if above == total / 2.0 {
                upper = Some(self.errors[row]);
            }
        }
        upper.ok_or(NO_ROWS)
    }
}
