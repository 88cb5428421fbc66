//! Metrics of several guesses for each row.

use crate::formulas::averages::Mean;
use crate::names::Metric;

/// In place of a class: no guess.
pub const NO_GUESS: u32 = u32::MAX;

/// The gain of each row by the place of its class among its guesses. A class that is guessed again takes another place.
pub(crate) fn gain(metric: Metric, truth: &[u32], guesses: &[u32], width: usize) -> Mean {
    let most = usize::from(metric.guesses());
    let place = |class: u32, guesses: &[u32]| guesses.iter().take(most).position(|guess| *guess == class);
    let gain = |(class, guesses): (&u32, &[u32])| match place(*class, guesses) {
        None => 0.0,
        Some(place) if matches!(metric, Metric::MapAt(_)) => 1.0 / (place + 1) as f64,
        Some(_) => 1.0,
    };
    Mean::new(truth.iter().zip(guesses.chunks_exact(width)).map(gain).collect())
}

/// The most probable classes of each row, the first of equals first; fewer than `most` if there are fewer classes.
pub(crate) fn most_probable(values: &[f64], classes: usize, most: usize) -> (Vec<u32>, usize) {
    let width = most.min(classes);
    let mut guesses = Vec::with_capacity(values.len() / classes.max(1) * width);
    let mut order: Vec<u32> = Vec::with_capacity(classes);
    for row in values.chunks_exact(classes) {
        order.clear();
        order.extend(0..classes as u32);
        order.sort_by(|one, two| row[*two as usize].total_cmp(&row[*one as usize]));
        guesses.extend(&order[..width]);
    }
    (guesses, width)
}
