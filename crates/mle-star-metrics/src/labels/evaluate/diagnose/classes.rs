//! Where predicted classes are wrong.

use mle_star_domain::diagnostics::{Calibrated, ClassCurves, ClassErrors, MOST_CLASSES, OfTarget, WorstRow};

use super::super::positive;
use super::{Cells, Predicted, worst};

/// A row is counted as of the second class above this probability.
const THRESHOLD: f64 = 0.5;
/// The most classes with curves, if there are more than two.
const MOST_CURVES: usize = 6;
/// The most points of a curve.
const CURVE: usize = 150;
const BINS: usize = 10;
/// The fewest rows of a bin, if there are more.
const FEWEST: usize = 10;
/// The smallest probability whose logarithm counts.
const LEAST: f64 = 1e-15;

/// What is found for a target with these true classes. `likely` has a score for each class behind predicted labels.
pub(super) fn of(
    target: OfTarget,
    own: &Predicted,
    likely: Option<&Predicted>,
    truth: &[u32],
) -> (OfTarget, Vec<(u64, WorstRow)>) {
    let scores = Scores::of(own).or_else(|| likely.and_then(Scores::of));
    let labels = labels(own, scores.as_ref());
    let is_small = own.names.len() <= MOST_CLASSES;
    let confusion =
        labels.as_ref().filter(|_| is_small).map(|labels| confused(truth, labels, own.names.len()));
    let is_cut = matches!(own.cells, Cells::Positive { .. }) && labels.is_some();
    let classes = ClassErrors {
        names: own.names.clone(),
        confusion: confusion.unwrap_or_default(),
        threshold: is_cut.then_some(THRESHOLD),
        curves: scores.as_ref().map(|scores| curves(scores, own, truth)).unwrap_or_default(),
        ..calibration(scores.as_ref(), truth, &own.names)
    };
    let (loss, rows) = losses(own, scores.as_ref(), labels.as_deref(), truth);
    (OfTarget { classes: Some(classes), loss, ..target }, rows)
}

/// A score for each class of each row.
struct Scores<'a> {
    values: &'a [f64],
    width: usize,
    /// The class of a single column, and the other one.
    pair: Option<[u32; 2]>,
    are_probabilities: bool,
    /// The classes that a binary metric is about, if there are two.
    positive: Option<u32>,
}

impl<'a> Scores<'a> {
    fn of(own: &'a Predicted) -> Option<Self> {
        let pair = match own.cells {
            Cells::Positive { class, .. } => Some([class, u32::from(class == 0)]),
            Cells::PerClass { .. } => None,
            _ => return None,
        };
        let is_share = |value: &f64| (-1e-9..=1.0 + 1e-9).contains(value);
        let is_whole = |row: &[f64]| pair.is_some() || (row.iter().sum::<f64>() - 1.0).abs() < 1e-3;
        let are_probabilities = own.values.iter().all(is_share) && own.values.chunks(own.width).all(is_whole);
        let about = || positive(&own.names[..own.known], own.positive.as_deref());
        let positive = match pair {
            Some([class, _]) => Some(class),
            None => (own.known == 2).then(about),
        };
        Some(Self { values: &own.values, width: own.width, pair, are_probabilities, positive })
    }

    /// The score of a class in a row.
    fn score(&self, row: usize, class: u32) -> f64 {
        match self.pair {
            Some([one, _]) if class == one => self.values[row],
            Some(_) => 1.0 - self.values[row],
            None => self.values[row * self.width + class as usize],
        }
    }

    /// The class with the largest score.
    fn most_likely(&self, row: usize) -> u32 {
        if let Some([class, other]) = self.pair {
            return if self.values[row] > THRESHOLD { class } else { other };
        }
        let scores = &self.values[row * self.width..(row + 1) * self.width];
        let first = (0..self.width).rev().max_by(|one, two| scores[*one].total_cmp(&scores[*two]));
        first.unwrap_or_default() as u32
    }
}

/// The predicted class of each row; `None` if none is predicted.
fn labels(own: &Predicted, scores: Option<&Scores<'_>>) -> Option<Vec<u32>> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among the names")]
    let label = |row: usize| own.values[row * own.width].max(0.0) as u32;
    match own.cells {
        Cells::Label(_) | Cells::Guesses { .. } => Some((0..own.rows()).map(label).collect()),
        Cells::PerClass { .. } | Cells::Positive { .. } => {
            let scores = scores.filter(|scores| scores.pair.is_none() || scores.are_probabilities)?;
            Some((0..own.rows()).map(|row| scores.most_likely(row)).collect())
        }
        _ => None,
    }
}

fn confused(truth: &[u32], predicted: &[u32], classes: usize) -> Vec<Vec<u64>> {
    let mut rows = vec![vec![0; classes]; classes];
    for (truth, predicted) in truth.iter().zip(predicted) {
        rows[*truth as usize][*predicted as usize] += 1;
    }
    rows
}

/// The curves of the class that a binary metric is about, or else of the classes with most rows.
fn curves(scores: &Scores<'_>, own: &Predicted, truth: &[u32]) -> Vec<ClassCurves> {
    let mut counts = vec![0_usize; own.names.len()];
    truth.iter().for_each(|class| counts[*class as usize] += 1);
    let mut classes: Vec<u32> = match scores.positive {
        Some(class) => vec![class],
        None => (0..own.known as u32).collect(),
    };
    classes.retain(|class| (1..truth.len()).contains(&counts[*class as usize]));
    classes.sort_by_key(|class| usize::MAX - counts[*class as usize]);
    classes.truncate(MOST_CURVES);
    classes.into_iter().map(|class| curve(scores, truth, class, &own.names[class as usize])).collect()
}

fn curve(scores: &Scores<'_>, truth: &[u32], class: u32, name: &str) -> ClassCurves {
    let mut order: Vec<(f64, bool)> =
        truth.iter().enumerate().map(|(row, own)| (scores.score(row, class), *own == class)).collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0));
    let all = order.iter().filter(|(_, is_own)| *is_own).count() as f64;
    let others = order.len() as f64 - all;
    let (mut right, mut wrong) = (0.0, 0.0);
    let (mut roc, mut precision) = (vec![[0.0, 0.0]], Vec::new());
    let (mut area, mut average_precision) = (0.0, 0.0);
    // Rows with the same score are on one side of every threshold.
    for same in order.chunk_by(|one, other| one.0 == other.0) {
        let own = same.iter().filter(|(_, is_own)| *is_own).count() as f64;
        let other = same.len() as f64 - own;
        area += other / others * (right + own / 2.0) / all;
        (right, wrong) = (right + own, wrong + other);
        average_precision += own / all * (right / (right + wrong));
        roc.push([wrong / others, right / all]);
        precision.push([right / all, right / (right + wrong)]);
    }
    ClassCurves {
        class: name.to_owned(),
        share: all / order.len() as f64,
        roc: thinned(roc),
        area,
        precision: thinned(precision),
        average_precision,
    }
}

/// The points that are apart from those before, with the first and the last.
fn thinned(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if points.len() <= CURVE {
        return points;
    }
    let last = points.len() - 1;
    let apart = 2.0 / CURVE as f64;
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for (place, point) in points.into_iter().enumerate() {
        let is_apart = kept
            .last()
            .is_none_or(|before| (point[0] - before[0]).abs() + (point[1] - before[1]).abs() >= apart);
        if is_apart || place == last {
            kept.push(point);
        }
    }
    kept
}

/// How often probabilities come true: of the class that a binary metric is about, or of the most probable class.
fn calibration(scores: Option<&Scores<'_>>, truth: &[u32], names: &[String]) -> ClassErrors {
    let Some(scores) = scores.filter(|scores| scores.are_probabilities) else {
        return ClassErrors::default();
    };
    let pair = |(row, truth): (usize, &u32)| {
        let class = scores.positive.unwrap_or_else(|| scores.most_likely(row));
        (scores.score(row, class), class == *truth)
    };
    let mut rows: Vec<(f64, bool)> = truth.iter().enumerate().map(pair).collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    let size = rows.len().div_ceil(BINS).max(FEWEST);
    let mut bins: Vec<Vec<(f64, bool)>> = Vec::new();
    // Rows with the same probability are in one bin.
    for same in rows.chunk_by(|one, other| one.0 == other.0) {
        match bins.last_mut().filter(|bin| bin.len() + same.len() / 2 < size) {
            Some(bin) => bin.extend(same),
            None => bins.push(same.to_vec()),
        }
    }
    let calibrated = scores.positive.and_then(|class| names.get(class as usize).cloned());
    ClassErrors {
        calibration: bins.iter().map(|bin| came_true(bin)).collect(),
        calibrated,
        ..ClassErrors::default()
    }
}

fn came_true(bin: &[(f64, bool)]) -> Calibrated {
    let rows = bin.len() as f64;
    let observed = bin.iter().filter(|(_, is_true)| *is_true).count() as f64 / rows;
    let predicted = bin.iter().map(|(probability, _)| probability).sum::<f64>() / rows;
    Calibrated { rows: bin.len() as u64, predicted, observed, interval: wilson(observed, rows) }
}

/// Wilson's 95 % interval of a share.
fn wilson(share: f64, rows: f64) -> [f64; 2] {
    const Z: f64 = 1.96;
    let scale = 1.0 + Z * Z / rows;
    let middle = (share + Z * Z / (2.0 * rows)) / scale;
    let reach = Z / scale * (share * (1.0 - share) / rows + Z * Z / (4.0 * rows * rows)).sqrt();
    [(middle - reach).max(0.0), (middle + reach).min(1.0)]
}

/// What the loss is, and the rows with the largest.
fn losses(
    own: &Predicted,
    scores: Option<&Scores<'_>>,
    labels: Option<&[u32]>,
    truth: &[u32],
) -> (String, Vec<(u64, WorstRow)>) {
    let name = |class: u32| own.names.get(class as usize).cloned().unwrap_or_default();
    if let Some(scores) = scores.filter(|scores| scores.are_probabilities) {
        let of_truth = |row: usize| scores.score(row, truth[row]);
        let words = |row: usize| {
            let class = labels.map_or_else(|| scores.most_likely(row), |labels| labels[row]);
            [name(truth[row]), format!("{} ({:.3} for {})", name(class), of_truth(row), name(truth[row]))]
        };
        let rows = worst(own, |row| -of_truth(row).clamp(LEAST, 1.0).ln(), words);
        return ("the negative logarithm of the probability of the true class".to_owned(), rows);
    }
    let Some(labels) = labels else { return (String::new(), Vec::new()) };
    let is_wrong = |row: usize| f64::from(u8::from(labels[row] != truth[row]));
    ("1 for a wrong class".to_owned(), worst(own, is_wrong, |row| [name(truth[row]), name(labels[row])]))
}
