//! The uncertainty of a score.
//!
//! In each replicate, every row has a random weight that follows a Poisson distribution with mean 1. It depends on
//! the row's unit (its key, or its cluster if there are enough of them) and the number of the replicate alone, so that the
//! replicates of two scripts are paired, whatever rows they share.

use std::collections::{HashMap, HashSet};

use blake3::Hasher;
use mle_star_domain::measure::interval::{Bounds, HALF_WIDTH};
use mle_star_domain::measure::{Measurement, standard_deviation};

use crate::names::Metric;
use crate::score::{Parts, Predictions, Truth, Unscorable, prepare};

/// With fewer replicates than this, the interval follows from the standard error instead of percentiles.
const FEW_REPLICATES: usize = 40;
/// Of fewer clusters than this, the spread of a bootstrap says little: with one cluster, every replicate has the same score.
const FEWEST_CLUSTERS: usize = 8;

/// The rows of a score.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// A hash of the ID of each row.
    pub keys: &'a [u64],
    /// Rows with equal numbers are drawn together, such as those of a group; the keys if rows do not depend on each other. Of
    /// fewer than eight different numbers, rows are drawn alone.
    pub units: &'a [u64],
    /// How much each row counts, whether it is drawn or not; `None` if all count the same.
    pub weights: Option<&'a [f64]>,
    /// The fold of each row, if the score is the mean of those of the folds.
    pub folds: Option<&'a [u32]>,
}

impl<'a> Rows<'a> {
    /// Rows that do not depend on each other.
    pub fn of(keys: &'a [u64]) -> Self {
        Self { keys, units: keys, weights: None, folds: None }
    }

    /// What is drawn: the clusters, or the rows if there are too few clusters.
    pub(crate) fn drawn(self) -> &'a [u64] {
        if self.few_clusters().is_some() { self.keys } else { self.units }
    }

    /// The number of clusters, if it is too small to draw them.
    fn few_clusters(self) -> Option<u64> {
        if self.units == self.keys {
            return None;
        }
        let mut clusters = Vec::with_capacity(FEWEST_CLUSTERS);
        for unit in self.units {
            if !clusters.contains(unit) {
                clusters.push(*unit);
                if clusters.len() == FEWEST_CLUSTERS {
                    return None;
                }
            }
        }
        Some(clusters.len() as u64)
    }
}

/// The score of predictions with its uncertainty.
///
/// A metric can be undefined in a replicate, for example ROC-AUC where all rows with weight are of one class. Such a
/// replicate repeats the score itself, and counts neither for the standard error nor for the interval.
///
/// # Errors
/// The predictions have no score, or too few replicates are defined to tell its uncertainty.
pub fn measure(
    metric: Metric,
    truth: &Truth<'_>,
    predictions: &Predictions<'_>,
    rows: Rows<'_>,
    replicates: usize,
) -> Result<Measurement, Unscorable> {
    let formula = prepare(metric, truth, predictions)?;
    let (keys, units) = (rows.keys, rows.drawn());
    if (keys.len(), rows.units.len()) != (truth.len(), truth.len()) {
        return Err(Unscorable::new(format!("there are {} keys for {} rows", keys.len(), truth.len())));
    }
    if rows.weights.is_some_and(|weights| weights.len() != keys.len()) {
        return Err(Unscorable::new(format!("there are other weights than those of {} rows", keys.len())));
    }
    let mut weights = rows.weights.map_or_else(|| vec![1.0; keys.len()], <[f64]>::to_vec);
    let parts = Parts::defined(metric, &*formula, &weights, rows.folds);
    let score = parts.score(metric, &*formula, &weights)?;
    let mut defined = Vec::with_capacity(replicates);
    let mut all = Vec::with_capacity(replicates);
    for replicate in 0..replicates {
        draw_weights(units, replicate as u64, &mut weights);
        if let Some(own) = rows.weights {
            weights.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own);
        }
        let drawn = parts.score(metric, &*formula, &weights).ok();
        defined.extend(drawn);
        all.push(drawn.unwrap_or(score));
    }
    let standard_error = standard_deviation(&defined).ok_or_else(|| {
        Unscorable::new(format!("{metric} has no standard error, since there are too few rows"))
    })?;
    let interval = Some(interval(metric.range(), score, standard_error, &mut defined));
    let (clusters, rows, bounds) = (rows.few_clusters(), keys.len() as u64, Bounds::new(metric.range()));
    let (standard_error, measured) = (Some(standard_error), Measurement::of(score, digest(keys.to_vec())));
    let defined = (defined.len() < replicates).then_some(defined.len() as u64);
    Ok(Measurement { defined, rows, clusters, standard_error, interval, bounds, replicates: all, ..measured })
}

/// How often each row is drawn in so many replicates, one replicate after another, each in the order of the rows.
pub fn draws(rows: Rows<'_>, replicates: usize) -> Vec<u8> {
    let drawn = rows.drawn();
    (0..replicates as u64)
        .flat_map(|replicate| drawn.iter().map(move |unit| weight(*unit, replicate)))
        .collect()
}

/// The score of another program with its uncertainty, from the scores of its replicates by [`draws`]. `None` stands for a replicate
/// without a score. With fewer than two scores, nothing is known about the uncertainty.
pub fn of_replicates(score: f64, replicates: &[Option<f64>], rows: Rows<'_>) -> Measurement {
    let (clusters, count) = (rows.few_clusters(), rows.keys.len() as u64);
    let measured = Measurement::of(score, digest(rows.keys.to_vec()));
    let measured = Measurement { rows: count, clusters, ..measured };
    let mut defined: Vec<f64> = replicates.iter().flatten().copied().collect();
    let Some(standard_error) = standard_deviation(&defined) else {
        return Measurement { no_interval: Some(NO_REPLICATES.to_owned()), ..measured };
    };
    let interval = Some(interval((f64::NEG_INFINITY, f64::INFINITY), score, standard_error, &mut defined));
    let count = (defined.len() < replicates.len()).then_some(defined.len() as u64);
    let replicates = replicates.iter().map(|drawn| drawn.unwrap_or(score)).collect();
    Measurement { defined: count, standard_error: Some(standard_error), interval, replicates, ..measured }
}

/// Why a score of another program has no interval.
const NO_REPLICATES: &str = "the metric file has no score for resampled rows";

/// The mean of the scores of several targets, which are about the same rows and have as many replicates.
///
/// # Errors
/// There is no score.
pub(crate) fn mean(metric: Metric, scores: &[Measurement]) -> Result<Measurement, Unscorable> {
    let count = scores.len() as f64;
    let (first, rest) = scores.split_first().ok_or_else(|| Unscorable::new("there are no targets"))?;
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let mut all = first.clone();
    for other in rest {
        all.score += other.score;
        all.replicates.iter_mut().zip(&other.replicates).for_each(|(sum, score)| *sum += score);
    }
    all.score /= count;
    all.replicates.iter_mut().for_each(|sum| *sum /= count);
    let standard_error = standard_deviation(&all.replicates).ok_or_else(|| {
        Unscorable::new(format!("{metric} has no standard error, since there are too few rows"))
    })?;
    // Replicates that repeat a target's score make the spread too small; the smallest share of own ones corrects it roughly.
    let share = scores.iter().map(Measurement::defined_share).fold(1.0, f64::min);
    let standard_error = standard_error / share.sqrt();
    let (score, (least, most)) = (all.score, metric.range());
    let wider = |drawn: &f64| (score + (drawn - score) / share.sqrt()).clamp(least, most);
    let mut replicates: Vec<f64> = all.replicates.iter().map(wider).collect();
    all.defined = scores.iter().filter_map(|one| one.defined).min();
    all.standard_error = Some(standard_error);
    all.interval = Some(interval(metric.range(), score, standard_error, &mut replicates));
    Ok(all)
}

/// The score with the interval that a score on this many other rows would have. Those rows have their own luck, so that the variances
/// of both scores add up.
pub(crate) fn on_other_rows(metric: Metric, measured: Measurement, rows: Option<u64>) -> Measurement {
    widened(metric.range(), measured, rows)
}

/// The score of another program with the interval that a score on this many other rows would have. The score has no known range.
pub fn of_other_program(measured: Measurement, rows: Option<u64>) -> Measurement {
    widened((f64::NEG_INFINITY, f64::INFINITY), measured, rows)
}

fn widened((least, most): (f64, f64), measured: Measurement, rows: Option<u64>) -> Measurement {
    let Some(rows @ 1..) = rows else { return measured };
    let factor = (1.0 + measured.rows as f64 / rows as f64).sqrt();
    let wider = |end: f64| (measured.score + (end - measured.score) * factor).clamp(least, most);
    Measurement { interval: measured.interval.map(|ends| ends.map(wider)), ..measured }
}

/// The weight of a row in a replicate, for any program that must draw the same.
pub fn weight(row_key: u64, replicate: u64) -> u8 {
    poisson(mix(row_key ^ seed(replicate)))
}

/// The units of the first of two halves, by a hash of the units: all scripts get the same halves, and no unit is in both. `None`
/// if one half would have less than a quarter of the rows.
pub(crate) fn first_half(units: &[u64]) -> Option<HashSet<u64>> {
    let mut rows: HashMap<u64, usize> = HashMap::new();
    units.iter().for_each(|unit| *rows.entry(*unit).or_default() += 1);
    let mut order: Vec<u64> = rows.keys().copied().collect();
    // No replicate has this number.
    order.sort_unstable_by_key(|unit| mix(unit ^ seed(u64::MAX)));
    let (mut half, mut count) = (HashSet::new(), 0);
    for unit in order {
        let more = count + rows[&unit];
        if more.abs_diff(units.len() - more) > count.abs_diff(units.len() - count) {
            break;
        }
        half.insert(unit);
        count = more;
    }
    (count.min(units.len() - count) * 4 >= units.len()).then_some(half)
}

/// A digest of row keys, the same in any order.
pub fn digest(mut row_keys: Vec<u64>) -> String {
    row_keys.sort_unstable();
    let mut hasher = Hasher::new();
    for key in row_keys {
        hasher.update(&key.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The interval of a score of this range.
fn interval((low, high): (f64, f64), score: f64, standard_error: f64, defined: &mut [f64]) -> [f64; 2] {
    if defined.len() < FEW_REPLICATES {
        let half = HALF_WIDTH * standard_error;
        return [(score - half).max(low), (score + half).min(high)];
    }
    defined.sort_unstable_by(f64::total_cmp);
    [percentile(defined, 0.025), percentile(defined, 0.975)]
}

/// A percentile of sorted values, with linear interpolation.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

fn draw_weights(row_keys: &[u64], replicate: u64, weights: &mut [f64]) {
    let seed = seed(replicate);
    for (weight, key) in weights.iter_mut().zip(row_keys) {
        *weight = f64::from(poisson(mix(key ^ seed)));
    }
}

fn seed(replicate: u64) -> u64 {
    mix(replicate.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The finalizer of splitmix64: every bit of the input changes half of the bits of the output.
fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// How often a uniform number, as 32 bits, is at or above the steps of Poisson's distribution function with mean 1.
fn poisson(bits: u64) -> u8 {
    let uniform = (bits >> 32) as u32;
    let count = |steps: &[u32]| steps.iter().map(|step| u8::from(uniform >= *step)).sum::<u8>();
    let small = count(&STEPS[..4]);
    // Large weights are too rare to compare with their steps every time.
    if small < 4 { small } else { small + count(&STEPS[4..]) }
}

/// The distribution function at 0, 1, 2 and so on, in units of 2^-32. Weights above 11 are too rare to matter.
const STEPS: [u32; 11] = steps();

const fn steps() -> [u32; 11] {
    let mut steps = [0; 11];
    let (mut term, mut sum, mut at) = (1.0 / std::f64::consts::E, 0.0, 0);
    while at < steps.len() {
        sum += term;
        steps[at] = (sum * 4_294_967_296.0) as u32;
        at += 1;
        term /= at as f64;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: u64) -> (Vec<f64>, Vec<f64>, Vec<u64>) {
        let truth: Vec<f64> = (0..rows).map(|row| (mix(row) >> 40) as f64 / 1e7).collect();
        let predicted =
            truth.iter().zip(0..rows).map(|(y, row)| y + (mix(row + rows) >> 40) as f64 / 1e7).collect();
        (truth, predicted, (0..rows).collect())
    }

    #[test]
    fn weights_follow_the_distribution() {
        let mut counts = [0_u32; 12];
        for key in 0..100_000 {
            counts[weight(key, 3) as usize] += 1;
        }
        for (count, expected) in counts.iter().zip([36_788.0, 36_788.0, 18_394.0, 6_131.0, 1_533.0, 307.0]) {
            assert!((f64::from(*count) - expected).abs() < 5.0 * f64::sqrt(expected), "{counts:?}");
        }
    }

    #[test]
    fn the_error_of_a_mean_is_that_of_theory() {
        let (truth, predicted, keys) = numbers(2_000);
        let (truth, predictions) = (Truth::Numbers(&truth), Predictions::Numbers(&predicted));
        let measured = measure(Metric::Mae, &truth, &predictions, Rows::of(&keys), 2_000).unwrap();
        let Predictions::Numbers(predicted) = predictions else { unreachable!() };
        let Truth::Numbers(truth) = truth else { unreachable!() };
        let errors: Vec<f64> = truth.iter().zip(predicted).map(|(y, p)| (y - p).abs()).collect();
        let expected = standard_deviation(&errors).unwrap() / f64::sqrt(2_000.0);
        let error = measured.standard_error.unwrap();
        assert!((error / expected - 1.0).abs() < 0.1, "{measured:?}, {expected}");
        let [low, high] = measured.interval.unwrap();
        let half = (high - low) / 2.0 / error;
        assert!(low < measured.score && measured.score < high && (half - HALF_WIDTH).abs() < 0.2, "{half}");
    }

    #[test]
    fn the_interval_covers_the_scores_of_other_rows() {
        let (labels, predicted, keys) = numbers(40_000);
        let score_of = |range: std::ops::Range<usize>, test: Option<u64>| {
            let truth = Truth::Numbers(&labels[range.clone()]);
            let predictions = Predictions::Numbers(&predicted[range.clone()]);
            let measured = measure(Metric::Mae, &truth, &predictions, Rows::of(&keys[range]), 200).unwrap();
            on_other_rows(Metric::Mae, measured, test)
        };
        // Of 100 rows, with 100 others as the test: the error of the difference is the larger one by the root of two.
        let covered = |test: Option<u64>| {
            let pairs = (0..200).map(|pair| pair * 200);
            let is_covered = |from: usize| {
                let [low, high] = score_of(from..from + 100, test).interval.unwrap();
                (low..=high).contains(&score_of(from + 100..from + 200, None).score)
            };
            pairs.filter(|from| is_covered(*from)).count()
        };
        let (wide, narrow) = (covered(Some(100)), covered(None));
        assert!((180..=198).contains(&wide) && narrow < 178, "{wide} and {narrow} of 200");
    }
}
