//! Metrics that count rows by true and predicted class.

use crate::formulas::Classes;
use crate::formulas::{Formula, NO_ROWS};
use crate::names::Metric;

/// The true and the predicted class of each row.
pub(crate) struct Counts {
    pairs: Vec<(u32, u32)>,
    classes: usize,
    positive: Option<u32>,
    metric: Metric,
}

/// Weights of rows, by class.
struct Tally {
    /// Of rows whose class is predicted.
    hits: Vec<f64>,
    /// Of rows with this class.
    truth: Vec<f64>,
    /// Of rows for which this class is predicted.
    predicted: Vec<f64>,
    /// Of all rows, times the squared distance between the true and the predicted class.
    distance: f64,
}

impl Counts {
    pub(crate) fn new(metric: Metric, classes: Classes<'_>, predicted: &[u32]) -> Self {
        let pairs = classes.rows.iter().copied().zip(predicted.iter().copied()).collect();
        Self { pairs, classes: classes.count, positive: classes.positive, metric }
    }

    fn tally(&self, weights: &[f64]) -> Tally {
        let zeros = vec![0.0; self.classes];
        let mut tally = Tally { hits: zeros.clone(), truth: zeros.clone(), predicted: zeros, distance: 0.0 };
        for ((truth, predicted), weight) in self.pairs.iter().zip(weights) {
            tally.truth[*truth as usize] += weight;
            tally.predicted[*predicted as usize] += weight;
            if truth == predicted {
                tally.hits[*truth as usize] += weight;
            } else {
                tally.distance += weight * f64::from(truth.abs_diff(*predicted)).powi(2);
            }
        }
        tally
    }
}

impl Formula for Counts {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        let tally = self.tally(weights);
        if tally.total() <= 0.0 {
            return Err(NO_ROWS);
        }
        match self.metric {
            Metric::BalancedAccuracy => Ok(tally.mean_recall()),
            Metric::Mcc => Ok(tally.mcc()),
            Metric::QuadraticKappa => tally.quadratic_kappa(),
            Metric::WeightedF1 => Ok(tally.weighted_f1()),
            _ => Ok(match self.positive {
                Some(class) if self.metric == Metric::F1 => tally.f1(class as usize).unwrap_or(0.0),
                _ => mean((0..self.classes).filter_map(|class| tally.f1(class))),
            }),
        }
    }
}

impl Tally {
    fn total(&self) -> f64 {
        self.truth.iter().sum()
    }

    /// F1 of a class; `None` if no row has it and none is predicted to.
    fn f1(&self, class: usize) -> Option<f64> {
        let sum = self.truth[class] + self.predicted[class];
        (sum > 0.0).then(|| 2.0 * self.hits[class] / sum)
    }

    fn weighted_f1(&self) -> f64 {
        let weighted = |class: usize| self.truth[class] * self.f1(class).unwrap_or(0.0);
        (0..self.truth.len()).map(weighted).sum::<f64>() / self.total()
    }

    fn mean_recall(&self) -> f64 {
        let present = self.hits.iter().zip(&self.truth).filter(|(_, truth)| **truth > 0.0);
        mean(present.map(|(hits, truth)| hits / truth))
    }

    fn mcc(&self) -> f64 {
        let (total, hits) = (self.total(), self.hits.iter().sum::<f64>());
        let of_both = hits * total - dot(&self.truth, &self.predicted);
        let product = spread(&self.predicted) * spread(&self.truth);
        if product == 0.0 { 0.0 } else { of_both / product.sqrt() }
    }

    fn quadratic_kappa(&self) -> Result<f64, &'static str> {
        let moment = |counts: &[f64], power: i32| -> f64 {
            counts.iter().enumerate().map(|(class, count)| count * (class as f64).powi(power)).sum()
        };
        // The sum over all pairs of classes of count * count * (i - j)^2.
        let by_chance = moment(&self.truth, 2) * self.total() + self.total() * moment(&self.predicted, 2)
            - 2.0 * moment(&self.truth, 1) * moment(&self.predicted, 1);
        // With weights, the difference is zero up to rounding only.
        let together: Vec<f64> = self.truth.iter().zip(&self.predicted).map(|(one, two)| one + two).collect();
        if spread(&together) <= 0.0 || by_chance <= 0.0 {
            return Err("labels and predictions are all of one class");
        }
        Ok(1.0 - self.distance * self.total() / by_chance)
    }
}

/// The square of the sum less the squares of the counts: exactly 0 if all are in one class, also with fractional weights.
fn spread(counts: &[f64]) -> f64 {
    let present = counts.iter().filter(|count| **count > 0.0);
    if present.clone().nth(1).is_none() {
        return 0.0;
    }
    let total: f64 = counts.iter().sum();
    present.map(|count| count * (total - count)).sum()
}

fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}
