//! Ensemble selection: weights for the predictions of several scripts.
//!
//! Greedy forward selection with replacement (Caruana et al., *Ensemble selection from libraries of models*, 2004): each
//! round adds the member whose predictions improve the mean of those chosen so far the most. A member's weight is how
//! often it was chosen, on average over bootstrap samples of the rows. Improvements are those of the task's metric; of accuracy with probabilities, those of log loss.

mod sample;

use std::borrow::Cow;
use std::io::Read;
use std::mem::take;

use mle_star_domain::measure::{Difference, Measurement};
use mle_star_domain::metric::Direction;

use self::sample::Sample;
use crate::formulas::ranking::Ranking;
use crate::labels::evaluate::Predicted;
use crate::labels::{Labels, Layout, Others};
use crate::names::{Kind, Metric};
use crate::score::Unscorable;

/// The most rounds of a selection.
const ROUNDS: usize = 25;
/// The most members to choose from: the best by their own scores.
const CANDIDATES: usize = 20;
/// The number of bootstrap samples of rows whose weights are averaged.
const BAGS: usize = 10;
/// A bootstrap sample is drawn from about this many rows at most, other ones each time.
const ROWS: usize = 10_000;
/// Members with less weight are left out: each of them has to run.
const LEAST_WEIGHT: f64 = 0.03;
/// The most values of all members, which are in memory at once. Members that come later get no weight.
const VALUES: usize = 50_000_000;
/// As many members are read whatever their size.
const FEWEST: usize = 4;
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
    /// How much larger the score is than that of the member with the best score. That member is chosen like the weights: for
    /// each fold by the other folds. Its own score is that of the luckiest of all.
    pub lead: Option<Difference>,
    /// Whether it is better than that member.
    pub is_better: bool,
}

impl Labels {
    /// Chooses weights for members that run in `seconds` together. The weighted mean of labels is the label with the
    /// largest weight; of guesses, those with the largest weights, where the second guess of a member has half of its weight, the
    /// third a third, and so on. With several targets, a member has the same weight for all of them.
    ///
    /// Members whose rows or columns differ from those of the first one get no weight. `None` if fewer than two members
    /// get one, if a fold of rows cannot be scored without the others, or for labels of several targets.
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
        let are_names = matches!(self.metric().kind(), Kind::Labels | Kind::Guesses | Kind::Sets);
        if self.has_several_targets() && are_names {
            return Ok(None);
        }
        let (mut first, mut most): (Option<Vec<Predicted>>, usize) = (None, 1);
        let (mut files, mut durations): (Vec<Vec<Vec<f64>>>, Vec<f64>) = Default::default();
        for member in members {
            durations.push(member.seconds);
            let file = match files.len() < most {
                true => self.predicted(member.predictions, layout, Others::Reject),
                false => Ok(Vec::new()),
            };
            let values = |file: &[Predicted]| -> Vec<Vec<f64>> { file.iter().map(spread).collect() };
            let Some(first) = &first else {
                let file = file?;
                files.push(values(&file));
                most = (VALUES / files[0].iter().map(Vec::len).sum::<usize>().max(1)).max(FEWEST);
                first = Some(file);
                continue;
            };
            let agrees = |file: &Vec<Predicted>| {
                file.len() == first.len() && file.iter().zip(first).all(|(one, other)| one.matches(other))
            };
            files.push(file.ok().filter(agrees).map(|file| values(&file)).unwrap_or_default());
        }
        let Some(first) = first else { return Ok(None) };
        let library = Library::new(&first, files, &durations, seconds);
        let weights = library.weights(&library.rows(|_| true));
        if weights.iter().filter(|weight| **weight > 0.0).count() < 2 {
            return Ok(None);
        }
        let combined = library.cross_fitted(Library::weights);
        let best = library.cross_fitted(Library::best);
        let (Some(combined), Some(best)) = (combined, best) else { return Ok(None) };
        let predicted = |values: &[Vec<f64>]| -> Vec<Predicted> { library.predicted(values) };
        let measured = self.measured(&predicted(&combined), replicates)?;
        let lead = measured.difference(&self.measured_by_rows(&predicted(&best), replicates)?);
        let is_better = goodness(&library.targets, &combined) > goodness(&library.targets, &best);
        Ok(Some(Selection { weights, measured, lead, is_better }))
    }
}

/// What the first member's vote counts more than its weight, and each further one half of that: of labels with equal votes,
/// that of the earliest member is written, and counts in the search.
const OF_EQUAL_VOTES: f64 = 1e-9;

/// The members to choose from.
struct Library<'a> {
    targets: Vec<Target<'a>>,
    durations: &'a [f64],
    seconds: f64,
}

/// What the members predict for one target.
struct Target<'a> {
    rows: Cow<'a, Predicted>,
    /// The values of each member, several for each row; labels as one value for each class. Empty for members that
    /// cannot be chosen.
    members: Vec<Vec<f64>>,
    /// The number of values of a row.
    width: usize,
}

impl<'a> Library<'a> {
    fn new(
        first: &'a [Predicted],
        mut files: Vec<Vec<Vec<f64>>>,
        durations: &'a [f64],
        seconds: f64,
    ) -> Self {
        let target = |(at, rows): (usize, &'a Predicted)| {
            let members =
                files.iter_mut().map(|file| file.get_mut(at).map(take).unwrap_or_default()).collect();
            Target { rows: Cow::Borrowed(rows), members, width: rows.labels().unwrap_or(rows.width) }
        };
        Self { targets: first.iter().enumerate().map(target).collect(), durations, seconds }
    }

    /// What a file would hold with these values of each target.
    fn predicted(&self, values: &[Vec<f64>]) -> Vec<Predicted> {
        let of_target =
            |(target, values): (&Target<'_>, &Vec<f64>)| target.rows.with_values(target.decide(values));
        self.targets.iter().zip(values).map(of_target).collect()
    }

    /// What folds keep together. All targets have the same rows.
    fn units(&self) -> &[u64] {
        self.targets.first().map_or(&[], |target| target.rows.drawn())
    }

    /// The places of the wanted rows, which are in the order of a hash, so every n-th is a random sample.
    fn rows(&self, wanted: impl Fn(u64) -> bool) -> Vec<usize> {
        let units = self.units();
        (0..units.len()).filter(|place| wanted(units[*place])).collect()
    }

    /// The values of each target for all rows, with weights that are chosen on the other folds. `None` if the other folds
    /// of one give no score, as for a target whose few positive rows are all in that fold.
    fn cross_fitted(&self, choose: impl Fn(&Self, &[usize]) -> Vec<f64>) -> Option<Vec<Vec<f64>>> {
        let weights: Vec<Vec<f64>> =
            (0..FOLDS).map(|fold| choose(self, &self.rows(|unit| fold_of(unit) != fold))).collect();
        if weights.iter().any(|weights| weights.iter().all(|weight| *weight == 0.0)) {
            return None;
        }
        let of_target = |target: &Target<'_>| {
            let mut values = vec![0.0; target.rows.rows() * target.width];
            for (fold, weights) in (0..).zip(&weights) {
                let combined = target.combined(weights);
                let units = self.units().iter().enumerate();
                for (place, _) in units.filter(|(_, unit)| fold_of(**unit) == fold) {
                    let row = place * target.width..(place + 1) * target.width;
                    values[row.clone()].copy_from_slice(&combined[row]);
                }
            }
            values
        };
        Some(self.targets.iter().map(of_target).collect())
    }

    /// Weights chosen on these rows: the mean of those of several bootstrap samples, so that they fit less to single rows.
    fn weights(&self, rows: &[usize]) -> Vec<f64> {
        // Several targets have the same rows, and classes of their own.
        let classes = match self.targets.as_slice() {
            [one] => one.rows.classes(),
            _ => None,
        };
        let mut sums = vec![0.0; self.durations.len()];
        for number in 0..BAGS {
            let mut search = self.search(&Sample::bag(rows, classes, self.units(), (number, ROWS)));
            search.by_probabilities();
            search.keep_the_best();
            sums.iter_mut().zip(search.run()).for_each(|(sum, weight)| *sum += weight);
        }
        self.without_the_least(sums)
    }

    /// Weights that add up to 1, without the least ones as long as they are small, or the members take too long.
    fn without_the_least(&self, mut weights: Vec<f64>) -> Vec<f64> {
        loop {
            let total: f64 = weights.iter().sum();
            if total <= 0.0 {
                return weights;
            }
            weights.iter_mut().for_each(|weight| *weight /= total);
            let chosen = || weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
            let seconds: f64 = chosen().map(|(at, _)| self.durations[at]).sum();
            let least = chosen().min_by(|one, two| one.1.total_cmp(two.1)).map(|(at, weight)| (at, *weight));
            match least {
                Some((at, weight)) if weight < LEAST_WEIGHT || seconds > self.seconds => weights[at] = 0.0,
                _ => return weights,
            }
        }
    }

    /// All weight for the member that is best on these rows.
    fn best(&self, rows: &[usize]) -> Vec<f64> {
        self.search(&Sample::all(rows.to_vec())).best()
    }

    fn search(&self, sample: &Sample) -> Search<'_> {
        Search { library: self, targets: self.targets.iter().map(|target| target.at(sample)).collect() }
    }
}

impl Target<'_> {
    /// The target with only these rows.
    fn at(&self, Sample { places, weights }: &Sample) -> Target<'static> {
        let pick = |values: &Vec<f64>| -> Vec<f64> {
            let row = |place: &usize| &values[place * self.width..(place + 1) * self.width];
            places.iter().filter(|_| !values.is_empty()).flat_map(row).copied().collect()
        };
        let members = self.members.iter().map(pick).collect();
        let rows = self.rows.at(places);
        let rows = weights.as_ref().map_or_else(|| rows.clone(), |weights| rows.clone().weighted(weights));
        Target { rows: Cow::Owned(rows), members, width: self.width }
    }

    /// The weighted mean of the members for all rows. If the metric is about their order, it is their rank: scores of members
    /// may have any scale, and rows of different folds, whose weights differ, are compared.
    fn combined(&self, weights: &[f64]) -> Vec<f64> {
        let rows = self.rows.rows();
        let mut values = vec![0.0; rows * self.width];
        let mut first = if self.rows.labels().is_some() { OF_EQUAL_VOTES } else { 0.0 };
        for (weight, member) in weights.iter().zip(&self.members).filter(|(weight, _)| **weight > 0.0) {
            values.iter_mut().zip(member).for_each(|(sum, value)| *sum += (weight + first) * value);
            first /= 2.0;
        }
        if self.rows.metric().is_by_order() {
            for column in 0..self.width {
                let ranking = Ranking::descending(rows, |row| values[row * self.width + column]);
                let ranks = ranking.ranks(&vec![1.0; rows]);
                let column = values.iter_mut().skip(column).step_by(self.width);
                column.zip(ranks).for_each(|(value, rank)| *value = -rank);
            }
        }
        values
    }

    /// What a file would hold: the values, or the label with the largest one.
    fn decide(&self, values: &[f64]) -> Vec<f64> {
        if self.rows.labels().is_none() {
            return values.to_vec();
        }
        let mut order: Vec<usize> = Vec::new();
        let largest = |row: &[f64]| -> Vec<f64> {
            order.clear();
            // The one largest label is always there, and further guesses that a member has.
            order.extend((0..row.len()).filter(|class| self.rows.width == 1 || row[*class] > 0.0));
            order.sort_by(|one, two| row[*two].total_cmp(&row[*one]));
            let none = std::iter::repeat(-1.0);
            order.iter().map(|class| *class as f64).chain(none).take(self.rows.width).collect()
        };
        values.chunks(self.width).flat_map(largest).collect()
    }
}

/// One greedy search.
struct Search<'a> {
    library: &'a Library<'a>,
    targets: Vec<Target<'static>>,
}

impl Search<'_> {
    /// The members that can be chosen.
    fn known(&self) -> Vec<usize> {
        let has_values = |at: &usize| self.targets.iter().all(|target| !target.members[*at].is_empty());
        (0..self.library.durations.len()).filter(has_values).collect()
    }

    /// The members, the best by their own scores first.
    fn order(&self) -> Vec<usize> {
        let of_member = |at: usize| {
            let own: Vec<Vec<f64>> = self.targets.iter().map(|target| target.members[at].clone()).collect();
            Some((at, goodness(&self.targets, &own)?))
        };
        let mut order: Vec<(usize, f64)> = self.known().into_iter().filter_map(of_member).collect();
        order.sort_by(|one, two| two.1.total_cmp(&one.1));
        order.into_iter().map(|(at, _)| at).collect()
    }

    fn best(&self) -> Vec<f64> {
        let best = self.order().first().copied();
        (0..self.library.durations.len()).map(|at| f64::from(u8::from(Some(at) == best))).collect()
    }

    /// Compares by log loss instead of accuracy if all members give probabilities. The share of correct labels changes in
    /// steps, so its best weights are often those that fit these rows by chance.
    fn by_probabilities(&mut self) {
        for target in self.targets.iter_mut().filter(|target| target.rows.metric() == Metric::Accuracy) {
            let rows = target.rows.by(Metric::LogLoss);
            let mut known = target.members.iter().filter(|member| !member.is_empty());
            if known.all(|member| rows.score(member).is_ok()) {
                target.rows = Cow::Owned(rows);
            }
        }
    }

    /// Empties all members but the best by their own scores.
    fn keep_the_best(&mut self) {
        let kept: Vec<usize> = self.order().into_iter().take(CANDIDATES).collect();
        for target in &mut self.targets {
            let others = (0..target.members.len()).filter(|at| !kept.contains(at));
            others.for_each(|at| target.members[at] = Vec::new());
        }
    }

    /// The weights after the best round.
    fn run(&self) -> Vec<f64> {
        let mut counts = vec![0_u32; self.library.durations.len()];
        let mut sums: Vec<Vec<f64>> = vec![Vec::new(); self.targets.len()];
        let (mut best, mut best_counts, mut best_round) = (f64::NEG_INFINITY, counts.clone(), 0);
        for round in 1..=ROUNDS {
            let Some((member, goodness)) = self.next(&counts, &sums, round as f64) else { break };
            let votes = self.votes(&counts, member);
            counts[member] += 1;
            if !best.is_finite() || goodness > best + LEAST_GAIN * best.abs() {
                (best, best_counts, best_round) = (goodness, counts.clone(), round);
            } else if round - best_round >= PATIENCE {
                break;
            }
            for (sums, target) in sums.iter_mut().zip(&self.targets) {
                sums.resize(target.members[member].len(), 0.0);
                sums.iter_mut().zip(&target.members[member]).for_each(|(sum, value)| *sum += votes * value);
            }
        }
        let total = f64::from(best_counts.iter().sum::<u32>().max(1));
        best_counts.iter().map(|count| f64::from(*count) / total).collect()
    }

    /// What a member adds to its votes once more: one, and a little more the first time; see [`OF_EQUAL_VOTES`].
    fn votes(&self, counts: &[u32], at: usize) -> f64 {
        let are_labels = self.targets.iter().any(|target| target.rows.labels().is_some());
        match self.known().iter().position(|known| *known == at) {
            Some(place) if are_labels && counts[at] == 0 => 1.0 + OF_EQUAL_VOTES * 0.5_f64.powi(place as i32),
            _ => 1.0,
        }
    }

    /// The member that improves the mean the most, and how good the mean is with it.
    fn next(&self, counts: &[u32], sums: &[Vec<f64>], round: f64) -> Option<(usize, f64)> {
        let chosen = counts.iter().zip(self.library.durations).filter(|(count, _)| **count > 0);
        let used: f64 = chosen.map(|(_, seconds)| seconds).sum();
        let fits = |at: &usize| counts[*at] > 0 || used + self.library.durations[*at] <= self.library.seconds;
        let with = |at: usize| {
            let votes = self.votes(counts, at);
            let of_target = |(target, sums): (&Target<'_>, &Vec<f64>)| -> Vec<f64> {
                let sum =
                    |(place, value): (usize, &f64)| (sums.get(place).unwrap_or(&0.0) + votes * value) / round;
                target.members[at].iter().enumerate().map(sum).collect()
            };
            let means: Vec<Vec<f64>> = self.targets.iter().zip(sums).map(of_target).collect();
            Some((at, goodness(&self.targets, &means)?))
        };
        let tried = self.known().into_iter().filter(fits).filter_map(with);
        tried.max_by(|one, two| one.1.total_cmp(&two.1).then(two.0.cmp(&one.0)))
    }
}

/// The mean score of values for each target, larger if it is better.
fn goodness(targets: &[Target<'_>], values: &[Vec<f64>]) -> Option<f64> {
    let of_target = |(target, values): (&Target<'_>, &Vec<f64>)| {
        let score = target.rows.score(&target.decide(values)).ok()?;
        Some(match target.rows.metric().direction() {
            Direction::Maximize => score,
            Direction::Minimize => -score,
        })
    };
    let scores = targets.iter().zip(values).map(of_target).collect::<Option<Vec<f64>>>()?;
    Some(scores.iter().sum::<f64>() / scores.len() as f64)
}

/// Predictions as numbers that have a mean: a label becomes a one at its class, the second guess a half, and so on.
fn spread(file: &Predicted) -> Vec<f64> {
    let Some(classes) = file.labels() else { return file.values.clone() };
    let mut values = vec![0.0; file.rows() * classes];
    for (row, guesses) in file.values.chunks(file.width).enumerate() {
        for (place, label) in guesses.iter().enumerate().rev().filter(|(_, label)| **label >= 0.0) {
            values[row * classes + *label as usize] = 1.0 / (place + 1) as f64;
        }
    }
    values
}

fn fold_of(unit: u64) -> u64 {
    // The lower bits of a key are those of a hash.
    (unit >> 7) % FOLDS
}

#[cfg(test)]
mod tests;
