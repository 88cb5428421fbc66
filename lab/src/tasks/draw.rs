//! Random numbers, rows and tables, of which the tasks consist.

use std::borrow::Cow;

/// Seeded random numbers.
pub struct Random(fastrand::Rng);

/// A row of a task.
pub struct Row {
    /// Names and values of the features.
    pub cells: Vec<Cell>,
    /// The answer.
    pub target: String,
    /// The values of a submission by somebody who knows the process.
    pub best: Vec<String>,
}

/// The name and the value of a feature.
pub type Cell = (Cow<'static, str>, String);

/// The rows of a task.
pub struct Draw {
    /// The labelled rows.
    pub train: Vec<Row>,
    /// The rows to predict.
    pub test: Vec<Row>,
    /// File names and texts of further tables.
    pub others: Vec<(&'static str, String)>,
}

/// The table a row belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Train,
    Test,
}

impl Random {
    /// The random numbers of a task with a seed.
    pub fn new(task: &str, seed: u64) -> Self {
        let digest = blake3::hash(format!("{task} {seed}").as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_bytes()[..8]);
        Self(fastrand::Rng::with_seed(u64::from_le_bytes(first)))
    }

    /// A number at least as large as the first and smaller than the second.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.f64()
    }

    /// A whole number smaller than this one.
    pub fn below(&mut self, count: usize) -> usize {
        self.0.usize(..count)
    }

    /// `true` with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.f64() < probability
    }

    /// A normal number with mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// As many normal numbers.
    pub fn normals<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.normal())
    }

    /// As many normal numbers with this standard deviation.
    pub fn levels(&mut self, count: usize, deviation: f64) -> Vec<f64> {
        (0..count).map(|_| deviation * self.normal()).collect()
    }

    /// A positive number with this mean, small ones more often.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.0.f64()).ln()
    }

    /// A number with median 0 and long tails on both sides.
    pub fn laplace(&mut self, scale: f64) -> f64 {
        self.exponential(scale) - self.exponential(scale)
    }

    /// The number of events of which this many are expected.
    pub fn events(&mut self, mean: f64) -> usize {
        let mut left = mean - self.exponential(1.0);
        let mut count = 0;
        while left > 0.0 {
            count += 1;
            left -= self.exponential(1.0);
        }
        count
    }

    /// The position of one of these shares, which sum to 1.
    pub fn one_of(&mut self, shares: &[f64]) -> usize {
        let mut left = self.0.f64();
        for (position, share) in shares.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return position;
            }
        }
        shares.len() - 1
    }
}

impl Draw {
    /// Independent rows, as many of each part.
    pub fn of(random: &mut Random, rows: [usize; 2], mut row: impl FnMut(&mut Random, Part) -> Row) -> Self {
        let mut part = |part, count| -> Vec<Row> { (0..count).map(|_| row(&mut *random, part)).collect() };
        let (train, test) = (part(Part::Train, rows[0]), part(Part::Test, rows[1]));
        Self { train, test, others: Vec::new() }
    }
}

/// The values in another order.
pub fn shuffled<T>(random: &mut Random, mut values: Vec<T>) -> Vec<T> {
    for position in (1..values.len()).rev() {
        values.swap(position, random.below(position + 1));
    }
    values
}

/// A row whose answer is 1 with this probability and 0 otherwise, and whose prediction is a probability.
pub fn outcome(random: &mut Random, cells: Vec<Cell>, probability: f64) -> Row {
    let target = u8::from(random.chance(probability)).to_string();
    Row { cells, target, best: vec![format!("{probability:.6}")] }
}

/// A row whose answer is the second label with this probability and the first otherwise, and whose prediction is a
/// label.
pub fn label(random: &mut Random, cells: Vec<Cell>, probability: f64, labels: [&str; 2]) -> Row {
    let target = labels[usize::from(random.chance(probability))].to_owned();
    Row { cells, target, best: vec![labels[usize::from(probability > 0.5)].to_owned()] }
}

/// A row whose answer is a number.
pub fn number(cells: Vec<Cell>, target: f64, best: f64) -> Row {
    Row { cells, target: format!("{target:.2}"), best: vec![format!("{best:.4}")] }
}

/// A feature with this value.
pub fn cell(name: impl Into<Cow<'static, str>>, value: &(impl ToString + ?Sized)) -> Cell {
    (name.into(), value.to_string())
}

/// A feature with two decimals.
pub fn decimal(name: impl Into<Cow<'static, str>>, value: f64) -> Cell {
    (name.into(), format!("{value:.2}"))
}

/// A feature that lacks its value with this probability.
pub fn sometimes(random: &mut Random, missing: f64, (name, value): Cell) -> Cell {
    (name, if random.chance(missing) { String::new() } else { value })
}

/// The probability of a margin.
pub fn logistic(margin: f64) -> f64 {
    1.0 / (1.0 + (-margin).exp())
}

/// The probabilities of margins.
pub fn softmax<const N: usize>(margins: [f64; N]) -> [f64; N] {
    let total: f64 = margins.iter().map(|margin| margin.exp()).sum();
    margins.map(|margin| margin.exp() / total)
}

/// A wave of one day: 0 at midnight, 1 at six, 0 at noon, -1 at eighteen o'clock.
pub fn hour_wave(hour: usize) -> f64 {
    (std::f64::consts::TAU * hour as f64 / 24.0).sin()
}
