//! What predictions score by chance.
//!
//! The labels are permuted, again and again, and the predictions are scored each time (a permutation test). Whatever the
//! metric, the classes and their shares are, this is the score of predictions that know nothing of their own rows. The
//! permutations are of the kind that made the table: within its blocks. So what is between blocks, such as a drift over
//! time, counts on both sides.

use std::collections::BTreeMap;
use std::io::Read;

use mle_star_domain::measure::{Chance, standard_deviation};

use crate::labels::evaluate::Predicted;
use crate::labels::{Columns, Labels, Layout, Others, Unusable};
use crate::names::Metric;
use crate::score::Unscorable;

/// The usual number of permutations.
const PERMUTATIONS: usize = 100;
/// Fewer are enough for many rows, whose scores vary less.
const MANY_ROWS: usize = 100_000;

/// Labels that were permuted within blocks of rows.
#[derive(Clone, Debug)]
pub struct PermutedLabels(Labels);

impl PermutedLabels {
    /// The labels in a CSV table, as in [`Labels::read`], with the block of each of its rows.
    ///
    /// # Errors
    /// As for [`Labels::read`].
    pub fn read(
        table: impl Read,
        columns: &Columns,
        metric: Metric,
        blocks: &[u32],
    ) -> Result<Self, Unusable> {
        Labels::read_with(table, columns, metric, blocks).map(Self)
    }

    /// The permuted labels among the classes of both; see [`Labels::among_classes_of`].
    #[must_use]
    pub fn among_classes_of(self, others: &Labels) -> Self {
        Self(self.0.among_classes_of(others))
    }

    /// The score of a CSV file of predictions, as in [`Labels::evaluate`], and by chance. With several targets, it is
    /// the mean over them.
    ///
    /// # Errors
    /// The predictions have no score.
    pub fn chance(&self, predictions: impl Read, layout: &Layout<'_>) -> Result<Chance, Unscorable> {
        let predicted = self.0.predicted(predictions, layout, Others::Reject)?;
        let of_targets = predicted.iter().map(scores).collect::<Result<Vec<_>, _>>()?;
        let count = of_targets.len() as f64;
        let mean_of = |at: usize| of_targets.iter().map(|scores| scores[at]).sum::<f64>() / count;
        let fewest = of_targets.iter().map(Vec::len).min().unwrap_or_default();
        let by_chance: Vec<f64> = (1..fewest).map(mean_of).collect();
        let unknown = || Unscorable::new("there is no score with permuted labels");
        Ok(Chance {
            score: mean_of(0),
            mean: by_chance.iter().sum::<f64>() / by_chance.len() as f64,
            standard_deviation: standard_deviation(&by_chance).ok_or_else(unknown)?,
        })
    }
}

/// The score, and then those with permuted labels. A permutation without a score is left out.
fn scores(predicted: &Predicted) -> Result<Vec<f64>, Unscorable> {
    let rows = predicted.rows();
    let own = predicted.score(&predicted.values)?;
    let permutations = if rows > MANY_ROWS { PERMUTATIONS / 5 } else { PERMUTATIONS };
    let mut places: Vec<usize> = (0..rows).collect();
    let mut blocks: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (row, block) in predicted.units().iter().enumerate() {
        blocks.entry(*block).or_default().push(row);
    }
    let mut random = Random(rows as u64);
    let permuted = (0..permutations).filter_map(|_| {
        for block in blocks.values() {
            for last in (1..block.len()).rev() {
                places.swap(block[last], block[random.below(last + 1)]);
            }
        }
        predicted.with_truth_of(&places).score(&predicted.values).ok()
    });
    Ok(std::iter::once(own).chain(permuted).collect())
}

/// `SplitMix64` (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(metric: Metric, labels: &str, predictions: &str) -> Chance {
        chance_in(&[], metric, labels, predictions)
    }

    fn chance_in(blocks: &[u32], metric: Metric, labels: &str, predictions: &str) -> Chance {
        let columns = Columns::new(Some("id".to_owned()), "y");
        let labels = PermutedLabels::read(labels.as_bytes(), &columns, metric, blocks).unwrap();
        let header = ["id".to_owned(), "y".to_owned()];
        let layout = Layout { header: &header, id_column: Some("id") };
        labels.chance(predictions.as_bytes(), &layout).unwrap()
    }

    fn table(value: impl Fn(usize) -> String) -> String {
        let rows: String = (0..400).map(|row| format!("{row},{}\n", value(row))).collect();
        format!("id,y\n{rows}")
    }

    #[test]
    fn chance_is_known_for_every_metric() {
        // One row in four is positive. A constant is right in three of four, with or without knowledge.
        let labels = table(|row| u8::from(row % 4 == 0).to_string());
        let found = chance(Metric::Accuracy, &labels, &table(|_| "0".to_owned()));
        assert_eq!((found.score, found.mean, found.standard_deviation), (0.75, 0.75, 0.0));
        let found =
            chance(Metric::RocAuc, &labels, &table(|row| ((row % 4) as f64 / -3.0 + 1.0).to_string()));
        assert_eq!(found.score, 1.0);
        assert!(
            (found.mean - 0.5).abs() < 0.02 && (0.02..0.05).contains(&found.standard_deviation),
            "{found:?}"
        );
        let found =
            chance(Metric::Rmse, &table(|row| (row % 10).to_string()), &table(|row| (row % 10).to_string()));
        // Two independent draws from 0 to 9 differ by the root of twice their variance.
        assert!(found.score == 0.0 && (found.mean - 16.5_f64.sqrt()).abs() < 0.1, "{found:?}");
    }

    /// The labels drift by a hundred over the rows, and change by ten within a block. Predictions that know the drift
    /// are no better than chance within the blocks; predictions that know their rows are.
    #[test]
    fn what_is_between_blocks_is_chance() {
        let blocks: Vec<u32> = (0..400).map(|row| row / 40).collect();
        let labels = table(|row| (row / 40 * 10 + row * 7 % 10).to_string());
        let drift = table(|row| (row / 40 * 10 + 5).to_string());
        let z = |blocks: &[u32], predictions: &str| {
            let found = chance_in(blocks, Metric::Mae, &labels, predictions);
            (found.mean - found.score) / found.standard_deviation.max(1e-9)
        };
        let (among_all, within) = (z(&[], &drift), z(&blocks, &drift));
        assert!(among_all > 20.0 && within.abs() < 0.1, "{among_all} {within}");
        let knowing = z(&blocks, &table(|row| (row / 40 * 10 + row * 7 % 10 / 2 + 2).to_string()));
        assert!(knowing > 10.0, "{knowing}");
    }
}
