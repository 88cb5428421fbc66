//! How long the replicates of each metric take: `cargo run --release --example speed -- [ROWS] [REPLICATES]`.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]

use std::time::Instant;

use mle_star_metrics::bootstrap::{Rows, measure, weight};
use mle_star_metrics::names::{Kind, Metric};
use mle_star_metrics::score::{Predictions, Truth, Unscorable};

fn main() -> Result<(), Unscorable> {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (rows, replicates) = (numbers.next().unwrap_or(20_000), numbers.next().unwrap_or(1_000));
    let keys: Vec<u64> = (0..rows as u64).collect();
    // Replicates with large numbers are not drawn below.
    let noise = |seed: u64| (0..8).map(|at| f64::from(weight(seed, u64::MAX - at))).sum::<f64>() / 8.0;
    let truth: Vec<f64> = keys.iter().map(|key| noise(*key) + *key as f64 / rows as f64).collect();
    let predicted: Vec<f64> =
        truth.iter().zip(&keys).map(|(value, key)| (value + noise(!key)) / 20.0).collect();
    let classes: Vec<u32> = truth.iter().map(|value| u32::from(*value > 1.6)).collect();
    let labels: Vec<u32> = predicted.iter().map(|value| u32::from(*value > 0.13)).collect();
    let names = ["0".to_owned(), "1".to_owned()];
    let of_classes = Truth::Classes { rows: &classes, names: &names, positive: Some(1) };
    for metric in Metric::ALL {
        let (truth, predictions) = match metric.kind() {
            Kind::Numbers => (Truth::Numbers(&truth), Predictions::Numbers(&predicted)),
            Kind::Labels => (of_classes, Predictions::Labels(&labels)),
            Kind::Probabilities => (of_classes, Predictions::Numbers(&predicted)),
        };
        let start = Instant::now();
        let measured = measure(metric, &truth, &predictions, Rows::of(&keys), replicates)?;
        let (score, error) = (measured.score, measured.standard_error);
        println!("{:>6.0} ms  {metric}: {score:.5} ± {error:.5}", start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}
