//! F1 of sets of labels.

use std::collections::HashMap;

use crate::cell::{labels_of_set, separator};
use crate::formulas::averages::Mean;
use crate::formulas::{Formula, NO_ROWS};
use crate::names::Metric;

/// The true and the predicted set of each row, as positions in `sets`.
pub(crate) struct Sets {
    metric: Metric,
    pairs: Vec<(u32, u32)>,
    /// The labels of each named set, in ascending order.
    sets: Vec<Vec<u32>>,
    /// The number of labels.
    labels: usize,
}

impl Sets {
    pub(crate) fn new(metric: Metric, names: &[String], truth: &[u32], predicted: &[u32]) -> Self {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let separator = separator(names);
        let mut sets = Vec::with_capacity(names.len());
        for name in names {
            let mut set = Vec::new();
            for label in labels_of_set(name, separator) {
                let next = known.len() as u32;
                set.push(*known.entry(label).or_insert(next));
            }
            set.sort_unstable();
            set.dedup();
            sets.push(set);
        }
        let pairs = truth.iter().copied().zip(predicted.iter().copied()).collect();
        Self { metric, pairs, sets, labels: known.len() }
    }

    /// The mean over rows, if that is the metric.
    pub(crate) fn by_row(&self) -> Mean {
        let f1 = |(truth, predicted): &(u32, u32)| {
            let (truth, predicted) = (self.set(*truth), self.set(*predicted));
            match truth.len() + predicted.len() {
                0 => 1.0,
                size => 2.0 * common(truth, predicted) as f64 / size as f64,
            }
        };
        Mean::new(self.pairs.iter().map(f1).collect())
    }

    fn set(&self, name: u32) -> &[u32] {
        &self.sets[name as usize]
    }
}

impl Formula for Sets {
    fn score(&self, weights: &[f64]) -> Result<f64, &'static str> {
        if weights.iter().sum::<f64>() <= 0.0 {
            return Err(NO_ROWS);
        }
        // Of each label: the weight of rows where both sets have it, and of both sets that have it.
        let (mut hits, mut sizes) = (vec![0.0; self.labels], vec![0.0; self.labels]);
        for ((truth, predicted), weight) in self.pairs.iter().zip(weights) {
            let (truth, predicted) = (self.set(*truth), self.set(*predicted));
            truth.iter().chain(predicted).for_each(|label| sizes[*label as usize] += weight);
            let both = truth.iter().filter(|label| predicted.binary_search(label).is_ok());
            both.for_each(|label| hits[*label as usize] += weight);
        }
        // As in scikit-learn, the score of no labels is 0.
        if self.metric == Metric::SetMicroF1 {
            let size: f64 = sizes.iter().sum();
            return Ok(if size > 0.0 { 2.0 * hits.iter().sum::<f64>() / size } else { 0.0 });
        }
        let present = hits.iter().zip(&sizes).filter(|(_, size)| **size > 0.0);
        let (sum, count) =
            present.fold((0.0, 0.0), |(sum, count), (hits, size)| (sum + 2.0 * hits / size, count + 1.0));
        Ok(if count > 0.0 { sum / count } else { 0.0 })
    }
}

fn common(one: &[u32], two: &[u32]) -> usize {
    one.iter().filter(|label| two.binary_search(label).is_ok()).count()
}
