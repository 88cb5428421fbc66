//! Least squares.

/// The coefficients that fit `target` to `rows`, with a small ridge.
pub(crate) fn fit(rows: &[&[f64]], target: &[f64]) -> Vec<f64> {
    const RIDGE: f64 = 1e-6;
    let width = rows.first().map_or(0, |row| row.len());
    let mut system = vec![vec![0.0; width + 1]; width];
    for (row, y) in rows.iter().zip(target) {
        for (at, line) in system.iter_mut().enumerate() {
            line.iter_mut().zip(*row).for_each(|(sum, x)| *sum += row[at] * x);
            line[width] += row[at] * y;
        }
    }
    for (at, line) in system.iter_mut().enumerate() {
        line[at] += RIDGE * rows.len() as f64;
    }
    solve(system)
}

/// Solves equations by Gauss's elimination; the last column is the right side.
fn solve(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let width = system.len();
    for at in 0..width {
        let largest =
            (at..width).max_by(|one, two| system[*one][at].abs().total_cmp(&system[*two][at].abs()));
        system.swap(at, largest.unwrap_or(at));
        let pivot = system[at].clone();
        for line in system.iter_mut().skip(at + 1) {
            let times = line[at] / pivot[at];
            line.iter_mut().zip(&pivot).for_each(|(value, own)| *value -= times * own);
        }
    }
    let mut found = vec![0.0; width];
    for at in (0..width).rev() {
        let rest: f64 = (at + 1..width).map(|column| system[at][column] * found[column]).sum();
        found[at] = (system[at][width] - rest) / system[at][at];
    }
    found
}

/// The sum of the products.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
