//! The score of predictions that need no model: what a score is to be compared with.

use mle_star_domain::metric::Direction;

use super::super::columns::Cells;
use super::super::known::OwnedTruth;
use super::Predicted;

/// The most frequent classes that are tried as the label of all rows.
const MOST_LABELS: usize = 3;

impl Predicted {
    /// The score of the best of a few constants, in the metric's unit: mean, median (the upper of two) and geometric mean of numbers; shares of classes;
    /// the most frequent labels. `None` where a constant has no score, and for guesses, sets and intervals.
    pub(in crate::labels) fn constant(&self) -> Option<f64> {
        let best = |one: f64, other: f64| match self.metric.direction() {
            Direction::Maximize => one.max(other),
            Direction::Minimize => one.min(other),
        };
        let score = |row: Vec<f64>| self.score(&row.repeat(self.rows())).ok();
        self.constants().into_iter().filter_map(score).filter(|score| score.is_finite()).reduce(best)
    }

    /// The score of these numbers, one for each key of a row; `None` if one lacks, or if rows are predicted otherwise than by one number.
    pub(in crate::labels) fn score_of(&self, number: impl Fn(u64) -> Option<f64>) -> Option<f64> {
        if !matches!((&self.truth, &self.cells), (OwnedTruth::Numbers(_), Cells::Number(_))) {
            return None;
        }
        let values: Vec<f64> = self.keys.iter().map(|key| number(*key)).collect::<Option<_>>()?;
        self.score(&values).ok().filter(|score| score.is_finite())
    }

    /// The values of a row, one for each constant that is tried.
    fn constants(&self) -> Vec<Vec<f64>> {
        match (&self.truth, &self.cells) {
            (OwnedTruth::Numbers(truth), Cells::Number(_)) => {
                of_numbers(truth).into_iter().map(|one| vec![one]).collect()
            }
            (OwnedTruth::Classes { rows, names }, cells) => {
                let shares = shares(rows, self.width.max(names.len()));
                match cells {
                    Cells::PerClass { columns, .. } => vec![shares[..columns.len()].to_vec()],
                    Cells::Positive { class, .. } => vec![vec![shares[*class as usize]]],
                    Cells::Label(_) => most_frequent(&shares).into_iter().map(|class| vec![class]).collect(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }
}

fn of_numbers(truth: &[f64]) -> Vec<f64> {
    let count = truth.len().max(1) as f64;
    let mut sorted = truth.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut constants = vec![truth.iter().sum::<f64>() / count];
    constants.extend(sorted.get(sorted.len() / 2));
    if sorted.first().is_some_and(|least| *least >= 0.0) {
        constants.push((truth.iter().map(|number| number.ln_1p()).sum::<f64>() / count).exp_m1());
    }
    constants
}

/// The share of the rows that each class has.
fn shares(rows: &[u32], classes: usize) -> Vec<f64> {
    let mut counts = vec![0.0; classes];
    rows.iter().for_each(|class| counts[*class as usize] += 1.0);
    counts.into_iter().map(|count| count / rows.len().max(1) as f64).collect()
}

fn most_frequent(shares: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|one, other| shares[*other].total_cmp(&shares[*one]));
    order.into_iter().take(MOST_LABELS).map(|class| class as f64).collect()
}
