//! Lines of charts in a square from 0 to 1, which templates stretch to the width of the page. Their text is HTML, so that it
//! keeps its size.

use std::fmt::Write as _;

use super::FAR;
use crate::figures::{at_step, round_step};

/// The outline of bars, from the left end of the square to its right end.
pub fn stairs(heights: &[f64]) -> String {
    let mut line = "M0 1".to_owned();
    for (at, height) in heights.iter().enumerate() {
        let right = (at + 1) as f64 / heights.len() as f64;
        let _ = write!(line, "V{:.3}H{right:.3}", 1.0 - height);
    }
    line + "V1"
}

/// A line through points from 0 to 1, broken where there is none.
pub fn line(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let (mut line, mut is_open) = (String::new(), false);
    for point in points {
        if let Some((x, y)) = point {
            // A point without neighbours is a dot.
            let _ = write!(
                line,
                "{}{x:.4} {:.4}{}",
                if is_open { "L" } else { "M" },
                1.0 - y,
                if is_open { "" } else { "h0" }
            );
        }
        is_open = point.is_some();
    }
    line
}

/// Points from 0 to 1, as dots.
pub fn dots(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    line(points.into_iter().flat_map(|point| [Some(point), None]))
}

/// Round numbers at even distances, the first below and the last above all of these; `None` without numbers that can be drawn.
pub fn levels(values: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let size = Some(low.abs().max(high.abs())).filter(|size| *size <= FAR)?;
    let range = if high - low > 1e-9 * size { high - low } else { size.max(1.0) };
    let step = round_step(range / 4.0);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few levels")]
    let count = (last - first).max(1.0) as u32;
    Some((0..=count).map(|at| (first + f64::from(at)) * step).collect())
}

/// These numbers with the decimals that tell them apart.
pub fn texts(levels: &[f64]) -> Vec<String> {
    let step = levels.windows(2).map(|both| both[1] - both[0]).next().unwrap_or(1.0);
    levels.iter().map(|level| at_step(*level, step)).collect()
}

/// Where a value lies between the first and the last of these.
pub fn share(value: f64, ends: &[f64]) -> f64 {
    let (low, high) = (ends.first().copied().unwrap_or_default(), ends.last().copied().unwrap_or_default());
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_round_and_hold_all_values() {
        let check = |values: &[f64], expected: &[&str]| {
            let levels = levels(values.iter().copied()).unwrap();
            assert_eq!(texts(&levels), expected, "{values:?}");
            assert!(values.iter().all(|value| levels[0] <= *value && *value <= *levels.last().unwrap()));
        };
        check(&[68.0, 239.0], &["50", "100", "150", "200", "250"]);
        check(&[-0.31, 0.62], &["−0.5", "0.0", "0.5", "1.0"]);
        check(&[7.0], &["6", "8"]);
        check(&[0.0], &["0.0", "0.5"]);
        assert!(levels([f64::NAN].into_iter()).is_none() && levels(std::iter::empty()).is_none());
        assert!(levels([1e308].into_iter()).is_none());
    }

    #[test]
    fn lines_break_where_there_is_no_point() {
        assert_eq!(
            line([Some((0.0, 0.0)), Some((0.5, 1.0)), None, Some((1.0, 0.25))]),
            "M0.0000 1.0000h0L0.5000 0.0000M1.0000 0.7500h0"
        );
        assert_eq!(stairs(&[0.5, 1.0]), "M0 1V0.500H0.500V0.000H1.000V1");
        assert_eq!(
            (share(3.0, &[2.0, 3.0, 6.0]), share(9.0, &[2.0, 6.0]), share(1.0, &[1.0])),
            (0.25, 1.0, 0.5)
        );
    }
}
