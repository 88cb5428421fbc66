//! Small random data with ties and rare classes.

use mle_star_metrics::names::{Kind, Metric};
use mle_star_metrics::score::{Predictions, Truth, Unscorable, score};

/// Truth and predictions of some rows.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) metric: Metric,
    /// The number of classes; 0 for numbers.
    pub(crate) classes: usize,
    pub(crate) truth: Vec<f64>,
    /// One number for each row, or one for each row and class.
    pub(crate) predicted: Vec<f64>,
}

impl Rows {
    /// So many rows for a metric. Odd seeds have many ties.
    pub(crate) fn random(metric: Metric, classes: usize, rows: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let coarse = seed % 2 == 1;
        let classes = match metric.kind() {
            Kind::Numbers | Kind::Order | Kind::Intervals => 0,
            // Sets of so many labels, as bits; one of them at least is there.
            Kind::Sets => 8,
            _ => classes,
        };
        let truth: Vec<f64> = (0..rows).map(|row| truth(row, classes, coarse, &mut random)).collect();
        let mut predicted = Vec::new();
        for label in &truth {
            match metric.kind() {
                Kind::Numbers | Kind::Order => {
                    predicted.push(tied(label + random.next() - 0.4, coarse).max(0.0));
                }
                Kind::Intervals => {
                    let lower = label + random.next() - 0.8;
                    predicted.extend([lower, lower + random.next()]);
                }
                Kind::Labels | Kind::Sets if random.next() < 0.6 => predicted.push(*label),
                Kind::Labels | Kind::Sets => predicted.push((random.next() * classes as f64).floor()),
                Kind::Probabilities | Kind::Guesses => {
                    predicted.extend(probabilities(*label as usize, classes, coarse, &mut random));
                }
            }
        }
        Self { metric, classes, truth, predicted }
    }

    /// The rows, each as often as its weight says.
    pub(crate) fn repeated(&self, weights: &[f64]) -> Self {
        let width = self.predicted.len() / self.truth.len();
        let mut repeated = Self { truth: Vec::new(), predicted: Vec::new(), ..self.clone() };
        for (row, weight) in weights.iter().enumerate() {
            for _ in 0..*weight as usize {
                repeated.truth.push(self.truth[row]);
                repeated.predicted.extend(&self.predicted[row * width..(row + 1) * width]);
            }
        }
        repeated
    }

    pub(crate) fn score(&self, weights: Option<&[f64]>) -> Result<f64, Unscorable> {
        if self.metric.kind() == Kind::Intervals {
            let predictions = Predictions::Intervals(&self.predicted);
            return score(self.metric, &Truth::Numbers(&self.truth), &predictions, weights);
        }
        if self.classes == 0 {
            let predictions = Predictions::Numbers(&self.predicted);
            return score(self.metric, &Truth::Numbers(&self.truth), &predictions, weights);
        }
        let whole = |values: &[f64]| values.iter().map(|value| *value as u32).collect::<Vec<_>>();
        let bits =
            |set: usize| (0..3).filter(move |bit| set >> bit & 1 == 1).map(|bit| format!("label-{bit}"));
        let name = |class: usize| match self.metric.kind() {
            Kind::Sets => bits(class).collect::<Vec<_>>().join(" "),
            _ => class.to_string(),
        };
        let names: Vec<String> = (0..self.classes).map(name).collect();
        let positive = (self.classes == 2).then_some(1);
        let truth = Truth::Classes { rows: &whole(&self.truth), names: &names, positive };
        if matches!(self.metric.kind(), Kind::Labels | Kind::Sets) {
            return score(self.metric, &truth, &Predictions::Labels(&whole(&self.predicted)), weights);
        }
        let predictions = Predictions::Probabilities { values: &self.predicted, classes: self.classes };
        score(self.metric, &truth, &predictions, weights)
    }
}

fn truth(row: usize, classes: usize, coarse: bool, random: &mut Random) -> f64 {
    match classes {
        0 => tied(3.0 * random.next(), coarse),
        // Each class has a row; the last one is rare.
        _ if row < classes => row as f64,
        _ => (random.next().powi(2) * classes as f64).floor(),
    }
}

fn probabilities(label: usize, classes: usize, coarse: bool, random: &mut Random) -> Vec<f64> {
    let share = |class: usize| f64::from(u8::from(class == label)) + 2.0 * f64::EPSILON;
    let shares: Vec<f64> =
        (0..classes).map(|class| tied(share(class) * 0.5 + random.next(), coarse)).collect();
    let sum: f64 = shares.iter().sum();
    if sum == 0.0 {
        vec![1.0 / classes as f64; classes]
    } else {
        shares.iter().map(|share| share / sum).collect()
    }
}

fn tied(value: f64, coarse: bool) -> f64 {
    if coarse { (value * 3.0).floor() / 3.0 } else { value }
}

/// A small generator with the same sequence on every platform.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in 0..1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
