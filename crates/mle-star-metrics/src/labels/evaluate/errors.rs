//! The errors of predictions, row by row.

use super::super::columns::Cells;
use super::super::known::OwnedTruth;
use super::Predicted;
use crate::formulas::ranking::Ranking;

impl Predicted {
    /// The error of each row. Numbers: predicted minus true. Probabilities, less their mean within the true class: what the true
    /// class lacks, or, in a single column, the probability as it is, since only its sign differs between classes; ranks instead
    /// if the metric is about order. Labels: whether they are wrong.
    pub(in crate::labels) fn errors(&self) -> Vec<f64> {
        let errors: Vec<f64> = match (&self.truth, &self.cells) {
            (OwnedTruth::Numbers(truth), _) => {
                let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
                self.values
                    .chunks(self.width)
                    .zip(truth)
                    .map(|(values, truth)| mean(values) - truth)
                    .collect()
            }
            (OwnedTruth::Classes { rows, .. }, Cells::PerClass { .. }) => {
                let error = |(values, class): (&[f64], &u32)| 1.0 - values[*class as usize];
                self.values.chunks(self.width).zip(rows).map(error).collect()
            }
            (OwnedTruth::Classes { rows, .. }, cells) if cells.have_names() => {
                let is_wrong = |(values, class): (&[f64], &u32)| values[0] != f64::from(*class);
                let all = self.values.chunks(self.width).zip(rows);
                all.map(|row| f64::from(u8::from(is_wrong(row)))).collect()
            }
            _ if self.metric.is_by_order() => {
                let ranking = Ranking::descending(self.rows(), |row| self.values[row]);
                ranking.ranks(&vec![1.0; self.rows()])
            }
            _ => self.values.clone(),
        };
        match &self.truth {
            OwnedTruth::Numbers(_) => errors,
            OwnedTruth::Classes { rows, names } if !self.cells.have_names() => {
                within_classes(errors, rows, names.len())
            }
            OwnedTruth::Classes { .. } => errors,
        }
    }
}

/// The values less the mean of their class, so that the share of classes does not count as agreement.
fn within_classes(mut values: Vec<f64>, classes: &[u32], count: usize) -> Vec<f64> {
    // Around the first value of each class, so that the mean of equal values is exact.
    let mut sums = vec![(0.0, 0.0, 0.0); count];
    for (value, class) in values.iter().zip(classes) {
        let (first, sum, rows) = &mut sums[*class as usize];
        *first = if *rows > 0.0 { *first } else { *value };
        (*sum, *rows) = (*sum + value - *first, *rows + 1.0);
    }
    for (value, class) in values.iter_mut().zip(classes) {
        let (first, sum, rows) = sums[*class as usize];
        *value -= first + sum / rows;
    }
    values
}
