//! Where predicted numbers are wrong.

use mle_star_domain::diagnostics::{Bin, NumberErrors, OfTarget, WorstRow};

use super::{Cells, Predicted, worst};

/// The most rows that are drawn one by one.
const MOST_POINTS: usize = 500;
const BINS: usize = 24;
/// Of so many rows, the ends of the errors are left out of the bins.
const MANY: usize = 200;

/// What is found for a target with these true numbers.
pub(super) fn of(target: OfTarget, own: &Predicted, truth: &[f64]) -> (OfTarget, Vec<(u64, WorstRow)>) {
    if !matches!(own.cells, Cells::Number(_) | Cells::Bounds(_)) || truth.is_empty() {
        return (target, Vec::new());
    }
    let middle = |row: usize| {
        own.values[row * own.width..(row + 1) * own.width].iter().sum::<f64>() / own.width as f64
    };
    let predicted: Vec<f64> = (0..truth.len()).map(middle).collect();
    // Keys are hashes in ascending order, so every nth of them is a draw.
    let step = truth.len().div_ceil(MOST_POINTS).max(1);
    let points = (0..truth.len()).step_by(step).map(|row| [truth[row], predicted[row]]).collect();
    let mut errors: Vec<f64> =
        predicted.iter().zip(truth).map(|(predicted, truth)| predicted - truth).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let rows = worst(
        own,
        |row| (predicted[row] - truth[row]).abs(),
        |row| [truth[row].to_string(), shown(&own.values[row * own.width..(row + 1) * own.width])],
    );
    errors.sort_by(f64::total_cmp);
    let (bins, beyond) = binned(&errors);
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let numbers = NumberErrors {
        points,
        errors: bins,
        beyond,
        mean,
        median_size: sizes[(sizes.len() - 1) / 2],
        most: sizes[(sizes.len() * 9).div_ceil(10) - 1],
    };
    let loss = "the distance between prediction and truth".to_owned();
    (OfTarget { numbers: Some(numbers), loss, ..target }, rows)
}

fn shown(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(" to ")
}

/// Sorted errors in bins of the same width, and how many are beyond them.
fn binned(errors: &[f64]) -> (Vec<Bin>, u64) {
    let cut = if errors.len() >= MANY { errors.len() / 200 } else { 0 };
    let inside = &errors[cut..errors.len() - cut];
    let (Some(low), Some(high)) = (inside.first(), inside.last()) else { return (Vec::new(), 0) };
    let width = (high - low) / BINS as f64;
    if !(width.is_finite() && width > 1e-12 * low.abs().max(high.abs())) {
        return (Vec::new(), 0);
    }
    let bound = |bin: usize| low + width * bin as f64;
    let mut bins: Vec<Bin> =
        (0..BINS).map(|bin| Bin { from: bound(bin), to: bound(bin + 1), rows: 0 }).collect();
    let mut beyond = 0;
    for error in errors {
        if error < low || error > high {
            beyond += 1;
            continue;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among the bins")]
        let bin = (((error - low) / width) as usize).min(BINS - 1);
        bins[bin].rows += 1;
    }
    (bins, beyond)
}
