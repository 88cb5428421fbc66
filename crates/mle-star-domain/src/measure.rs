//! Scores that the program computes itself, with their uncertainty.
//!
//! Each row has a random weight in each of a fixed number of bootstrap replicates, which depends only on the row and
//! the replicate. So the replicates of two scripts are paired, whatever rows they have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// A digest of the rows' IDs; equal for equal sets of rows.
    pub rows_digest: String,
    /// The standard error of the score.
    pub standard_error: f64,
    /// The 95 % interval of the score on as many other rows as the test table has: low, high.
    pub interval: [f64; 2],
    /// The score in each bootstrap replicate.
    pub replicates: Vec<f64>,
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
    /// The difference to another measurement, by the replicates that both have; `None` if there are fewer than two.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        let differences: Vec<f64> =
            self.replicates.iter().zip(&other.replicates).map(|(one, two)| one - two).collect();
        Some(Difference { by: self.score - other.score, standard_error: standard_deviation(&differences)? })
    }
}

/// The standard deviation of a sample; `None` for less than two finite values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(score: f64, replicates: &[f64]) -> Measurement {
        let (rows_digest, replicates) = (String::new(), replicates.to_vec());
        Measurement {
            score,
            rows: 10,
            clusters: None,
            rows_digest,
            standard_error: 1.0,
            interval: [0.0, 1.0],
            replicates,
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
    }

    #[test]
    fn the_standard_deviation_is_that_of_a_sample() {
        assert_eq!(standard_deviation(&[1.0, 3.0]), Some(2_f64.sqrt()));
        assert_eq!(standard_deviation(&[1.0, f64::NAN]), None);
    }
}
