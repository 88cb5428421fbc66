//! Ensemble selection: weights for the predictions of several scripts.
//!
//! Greedy forward selection with replacement (Caruana et al., *Ensemble selection from libraries of models*, 2004): each
//! round adds the member whose predictions improve the mean of those chosen so far the most. A member's weight is how
//! often it was chosen.

use std::io::Read;

use mle_star::measure::Measurement;
use mle_star::metric::Direction;

use crate::labels::evaluate::Predicted;
use crate::labels::{Labels, Layout, Others};
use crate::score::Unscorable;

/// The most rounds of a selection.
const ROUNDS: usize = 25;
/// The most members to choose from: the best by their own scores.
const CANDIDATES: usize = 20;
/// The selection reads at most this many rows.
const ROWS: usize = 10_000;
/// Folds of the honest score.
const FOLDS: u64 = 4;
/// An improvement counts if it is at least this share of the score.
const LEAST_GAIN: f64 = 1e-5;
/// Rounds without an improvement, after which a selection ends. Labels often need a third member to change.
const PATIENCE: usize = 6;

/// A script's predictions for validation rows.
#[derive(Clone, Copy, Debug)]
pub struct Member<R> {
    /// The CSV file.
    pub predictions: R,
    /// How long the script runs, in seconds.
    pub seconds: f64,
}

/// The result of a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The weight of each member. They add up to 1; most are 0.
    pub weights: Vec<f64>,
    /// The score of the weighted mean. The weights for each fold come from the other folds.
    pub measured: Measurement,
    /// Whether it is better than the member with the best score. That member is chosen like the weights: for each fold
    /// by the other folds. Its own score is that of the luckiest of all.
    pub is_better: bool,
}

impl Labels {
    /// Chooses weights for members that run in `seconds` together. The weighted mean of labels is the label with the
    /// largest weight.
    ///
    /// Members whose rows or columns differ from those of the first one get no weight. `None` if fewer than two members
    /// get one, or if there are several targets.
    ///
    /// # Errors
    /// The first file cannot be scored.
    pub fn select<R: Read>(
        &self,
        members: impl IntoIterator<Item = Member<R>>,
        layout: &Layout<'_>,
        seconds: f64,
        replicates: usize,
    ) -> Result<Option<Selection>, Unscorable> {
        if self.has_several_targets() {
            return Ok(None);
        }
        let (mut files, mut durations) = (Vec::new(), Vec::new());
        for member in members {
            files.push(self.predicted(member.predictions, layout, Others::Reject));
            durations.push(member.seconds);
        }
        let Some(first) = files.first() else { return Ok(None) };
        let first = first.clone()?;
        let usable = |file: Result<Predicted, Unscorable>| file.ok().filter(|file| file.matches(&first));
        let files: Vec<Option<Predicted>> = files.into_iter().map(usable).collect();
        let library = Library::new(&first, &files, &durations, seconds);
        let weights = library.weights(&library.sample(|_| true));
        if weights.iter().filter(|weight| **weight > 0.0).count() < 2 {
            return Ok(None);
        }
        let combined = first.with_values(library.decide(&library.cross_fitted(Library::weights)));
        let best = library.decide(&library.cross_fitted(Library::best));
        let ones = vec![1.0; first.rows()];
        let is_better = goodness(&first, &combined.values, &ones) > goodness(&first, &best, &ones);
        let measured = self.on_test_rows(combined.measure(replicates)?);
        Ok(Some(Selection { weights, measured, is_better }))
    }
}

/// The members to choose from.
struct Library<'a> {
    rows: &'a Predicted,
    /// The values of each member, several for each row; labels as one value for each class. Empty for members that
    /// cannot be chosen.
    values: Vec<Vec<f64>>,
    width: usize,
    durations: &'a [f64],
    seconds: f64,
}

impl<'a> Library<'a> {
    fn new(rows: &'a Predicted, files: &[Option<Predicted>], durations: &'a [f64], seconds: f64) -> Self {
        let width = rows.labels().unwrap_or(rows.width);
        let values = files.iter().map(|file| file.as_ref().map(spread).unwrap_or_default()).collect();
        Self { rows, values, width, durations, seconds }
    }

    /// The places of the wanted rows, at most [`ROWS`] of them. Rows are in the order of a hash, so every n-th is a
    /// random sample.
    fn sample(&self, wanted: impl Fn(u64) -> bool) -> Vec<usize> {
        let units = self.rows.units();
        let all: Vec<usize> = (0..self.rows.rows()).filter(|place| wanted(units[*place])).collect();
        let step = all.len().div_ceil(ROWS).max(1);
        all.into_iter().step_by(step).collect()
    }

    /// Values for all rows, with weights that are chosen on the other folds.
    fn cross_fitted(&self, choose: impl Fn(&Self, &[usize]) -> Vec<f64>) -> Vec<f64> {
        let mut values = vec![0.0; self.rows.rows() * self.width];
        for fold in 0..FOLDS {
            let weights = choose(self, &self.sample(|unit| fold_of(unit) != fold));
            for (place, unit) in self.rows.units().iter().enumerate() {
                if fold_of(*unit) == fold {
                    let row = place * self.width..(place + 1) * self.width;
                    for (weight, member) in
                        weights.iter().zip(&self.values).filter(|(weight, _)| **weight > 0.0)
                    {
                        let sums = values[row.clone()].iter_mut();
                        sums.zip(&member[row.clone()]).for_each(|(sum, value)| *sum += weight * value);
                    }
                }
            }
        }
        values
    }

    /// Weights chosen on the rows at these places.
    fn weights(&self, places: &[usize]) -> Vec<f64> {
        let rows = self.rows.at(places);
        let mut search = self.search(&rows, places);
        search.keep_the_best();
        search.run()
    }

    /// All weight for the member that is best on the rows at these places.
    fn best(&self, places: &[usize]) -> Vec<f64> {
        let rows = self.rows.at(places);
        self.search(&rows, places).best()
    }

    fn search<'b>(&'b self, rows: &'b Predicted, places: &[usize]) -> Search<'b> {
        let pick = |values: &Vec<f64>| -> Vec<f64> {
            let row = |place: &usize| &values[place * self.width..(place + 1) * self.width];
            places.iter().filter(|_| !values.is_empty()).flat_map(row).copied().collect()
        };
        let members: Vec<Vec<f64>> = self.values.iter().map(pick).collect();
        Search { library: self, rows, ones: vec![1.0; places.len()], members }
    }

    /// What the files would hold: the values, or the label with the largest one.
    fn decide(&self, values: &[f64]) -> Vec<f64> {
        if self.rows.labels().is_none() {
            return values.to_vec();
        }
        let largest = |row: &[f64]| {
            let best = (0..row.len()).rev().max_by(|one, two| row[*one].total_cmp(&row[*two]));
            best.unwrap_or_default() as f64
        };
        values.chunks(self.width).map(largest).collect()
    }
}

/// One greedy search.
struct Search<'a> {
    library: &'a Library<'a>,
    rows: &'a Predicted,
    /// A weight for each row.
    ones: Vec<f64>,
    members: Vec<Vec<f64>>,
}

impl Search<'_> {
    /// The members, the best by their own scores first.
    fn order(&self) -> Vec<usize> {
        let known = (0..self.members.len()).filter(|at| !self.members[*at].is_empty());
        let mut order: Vec<(usize, f64)> =
            known.filter_map(|at| Some((at, self.goodness(&self.members[at])?))).collect();
        order.sort_by(|one, two| two.1.total_cmp(&one.1));
        order.into_iter().map(|(at, _)| at).collect()
    }

    fn best(&self) -> Vec<f64> {
        let best = self.order().first().copied();
        (0..self.members.len()).map(|at| f64::from(u8::from(Some(at) == best))).collect()
    }

    /// Empties all members but the best by their own scores.
    fn keep_the_best(&mut self) {
        let kept: Vec<usize> = self.order().into_iter().take(CANDIDATES).collect();
        let others = (0..self.members.len()).filter(|at| !kept.contains(at));
        others.for_each(|at| self.members[at] = Vec::new());
    }

    /// The weights after the best round.
    fn run(&self) -> Vec<f64> {
        let mut counts = vec![0_u32; self.members.len()];
        let mut sums: Vec<f64> = Vec::new();
        let (mut best, mut best_counts, mut best_round) = (f64::NEG_INFINITY, counts.clone(), 0);
        for round in 1..=ROUNDS {
            let Some((member, goodness)) = self.next(&counts, &sums, round as f64) else { break };
            counts[member] += 1;
            if !best.is_finite() || goodness > best + LEAST_GAIN * best.abs() {
                (best, best_counts, best_round) = (goodness, counts.clone(), round);
            } else if round - best_round >= PATIENCE {
                break;
            }
            sums.resize(self.members[member].len(), 0.0);
            sums.iter_mut().zip(&self.members[member]).for_each(|(sum, value)| *sum += value);
        }
        let total = f64::from(best_counts.iter().sum::<u32>().max(1));
        best_counts.iter().map(|count| f64::from(*count) / total).collect()
    }

    /// The member that improves the mean the most, and how good the mean is with it.
    fn next(&self, counts: &[u32], sums: &[f64], round: f64) -> Option<(usize, f64)> {
        let chosen = counts.iter().zip(self.library.durations).filter(|(count, _)| **count > 0);
        let used: f64 = chosen.map(|(_, seconds)| seconds).sum();
        let fits = |at: &usize| counts[*at] > 0 || used + self.library.durations[*at] <= self.library.seconds;
        let possible = (0..self.members.len()).filter(|at| !self.members[*at].is_empty()).filter(fits);
        let tried = possible.filter_map(|at| {
            let sum = |(place, value): (usize, &f64)| (sums.get(place).unwrap_or(&0.0) + value) / round;
            let mean: Vec<f64> = self.members[at].iter().enumerate().map(sum).collect();
            Some((at, self.goodness(&mean)?))
        });
        tried.max_by(|one, two| one.1.total_cmp(&two.1).then(two.0.cmp(&one.0)))
    }

    /// The score, larger if it is better.
    fn goodness(&self, values: &[f64]) -> Option<f64> {
        goodness(self.rows, &self.library.decide(values), &self.ones)
    }
}

/// The score of values for these rows, larger if it is better.
fn goodness(rows: &Predicted, values: &[f64], weights: &[f64]) -> Option<f64> {
    let score = rows.score(values, weights).ok()?;
    Some(match rows.metric().direction() {
        Direction::Maximize => score,
        Direction::Minimize => -score,
    })
}

/// Predictions as numbers that have a mean: a label becomes a one at its class.
fn spread(file: &Predicted) -> Vec<f64> {
    let Some(classes) = file.labels() else { return file.values.clone() };
    let mut values = vec![0.0; file.values.len() * classes];
    for (row, label) in file.values.iter().enumerate() {
        values[row * classes + *label as usize] = 1.0;
    }
    values
}

fn fold_of(unit: u64) -> u64 {
    // The lower bits of a key are those of a hash.
    (unit >> 7) % FOLDS
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::labels::Columns;
    use crate::names::Metric;

    const HEADER: [&str; 2] = ["id", "y"];

    fn table(values: impl Iterator<Item = String>) -> String {
        let mut text = "id,y\n".to_owned();
        values.enumerate().for_each(|(id, value)| writeln!(text, "{id},{value}").unwrap());
        text
    }

    /// A number from 0 to 1 that looks random.
    fn noise(row: usize, salt: u64) -> f64 {
        let bits =
            (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn select(metric: Metric, truth: &str, files: &[(&str, f64)], seconds: f64) -> Option<Selection> {
        select_columns(metric, truth, files, &HEADER, seconds)
    }

    fn select_columns(
        metric: Metric,
        truth: &str,
        files: &[(&str, f64)],
        header: &[&str],
        seconds: f64,
    ) -> Option<Selection> {
        let columns =
            Columns { id: Some("id".to_owned()), target: "y".to_owned(), further: Vec::new(), cluster: None };
        let labels = Labels::read(truth.as_bytes(), &columns, metric).unwrap();
        let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        let layout = Layout { header: &header, id_column: Some("id") };
        let members =
            files.iter().map(|(file, seconds)| Member { predictions: file.as_bytes(), seconds: *seconds });
        labels.select(members, &layout, seconds, 50).unwrap()
    }

    /// A truth, and predictions of it with independent errors of these sizes.
    fn numbers(rows: usize, errors: &[f64]) -> (String, Vec<String>) {
        let truth = |row: usize| (row % 97) as f64 / 10.0;
        let predicted = (0..).zip(errors).map(|(salt, size)| {
            table((0..rows).map(|row| (truth(row) + size * (noise(row, salt) - 0.5)).to_string()))
        });
        (table((0..rows).map(|row| truth(row).to_string())), predicted.collect())
    }

    #[test]
    fn members_with_independent_errors_share_the_weight() {
        let (truth, files) = numbers(2_000, &[1.0, 1.0, 4.0]);
        let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
        let Selection { weights, measured, is_better } = select(Metric::Rmse, &truth, &files, 10.0).unwrap();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((weights[0] - 0.5).abs() < 0.1 && weights[2] < 0.1, "{weights:?}");
        // The error of one of them is 1 / sqrt(12), and that of their mean smaller by sqrt(2).
        assert!((measured.score - 0.288_7 / 2_f64.sqrt()).abs() < 0.01, "{}", measured.score);
        assert_eq!((measured.rows, is_better), (2_000, true));
    }

    #[test]
    fn members_fit_into_the_time_and_one_is_no_ensemble() {
        let (truth, files) = numbers(500, &[1.0, 1.0, 1.0]);
        let with = |seconds: [f64; 3], limit| {
            let files: Vec<(&str, f64)> = files.iter().map(String::as_str).zip(seconds).collect();
            select(Metric::Mae, &truth, &files, limit)
        };
        let chosen = with([5.0, 5.0, 5.0], 10.0).unwrap().weights;
        assert_eq!(chosen.iter().filter(|weight| **weight > 0.0).count(), 2, "{chosen:?}");
        assert_eq!(with([5.0, 6.0, 6.0], 10.0), None);
    }

    #[test]
    fn labels_are_voted_on() {
        let truth = |row: usize| ["low", "mid", "top"][row % 3];
        // Each member is wrong on other rows.
        let file = |salt: u64| {
            let label = |row: usize| truth(row + usize::from(noise(row, salt) < 0.3));
            table((0..600).map(|row| label(row).to_owned()))
        };
        let files = [file(1), file(2), file(3)];
        let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
        let truth = table((0..600).map(|row| truth(row).to_owned()));
        let selection = select(Metric::Accuracy, &truth, &files, 10.0).unwrap();
        assert!(selection.measured.score > 0.75, "{selection:?}");
    }

    #[test]
    fn scores_of_classes_say_more_than_labels() {
        let names = ["low", "mid", "top"];
        // Each member is unsure about other rows, and says so.
        let score = |row: usize, class: usize, salt: u64| {
            let known = if noise(row, salt) < 0.4 { 0.05 } else { 0.6 };
            let right = if row % 3 == class { known } else { 0.0 };
            right + 0.2 * noise(row * 3 + class, salt + 10)
        };
        let file = |salt: u64| {
            let row = |row: usize| [0, 1, 2].map(|class| score(row, class, salt).to_string()).join(",");
            let rows: String = (0..600).map(|at| format!("{at},{}\n", row(at))).collect();
            format!("id,low,mid,top\n{rows}")
        };
        let labels = |salt: u64| {
            let label = |row: usize| {
                (0..3).max_by(|one, two| score(row, *one, salt).total_cmp(&score(row, *two, salt))).unwrap()
            };
            table((0..600).map(|row| names[label(row)].to_owned()))
        };
        let truth = table((0..600).map(|row| names[row % 3].to_owned()));
        let with = |files: [String; 3], header: &[&str]| {
            let files: Vec<(&str, f64)> = files.iter().map(|file| (file.as_str(), 1.0)).collect();
            select_columns(Metric::Accuracy, &truth, &files, header, 10.0).unwrap().measured.score
        };
        let by_scores = with([file(1), file(2), file(3)], &["id", "low", "mid", "top"]);
        let by_votes = with([labels(1), labels(2), labels(3)], &HEADER);
        assert!(by_scores > by_votes + 0.03, "{by_scores} {by_votes}");
    }

    #[test]
    fn files_with_other_rows_have_no_weight() {
        let (truth, files) = numbers(400, &[1.0, 1.0]);
        let fewer: String = files[1].lines().take(300).map(|line| format!("{line}\n")).collect();
        assert_eq!(select(Metric::Rmse, &truth, &[(&files[0], 1.0), (&fewer, 1.0)], 10.0), None);
        let selection =
            select(Metric::Rmse, &truth, &[(&files[0], 1.0), ("id,z\n", 1.0), (&files[1], 1.0)], 10.0);
        assert_eq!(selection.unwrap().weights[1], 0.0);
    }
}
