//! Lines of small charts in a square from 0 to 1, which templates stretch to the width of the page. Their text is HTML, so that it
//! keeps its size.

use std::fmt::Write as _;

/// The outline of bars, from the left end of the square to its right end.
pub fn stairs(heights: &[f64]) -> String {
    let mut line = "M0 1".to_owned();
    for (at, height) in heights.iter().enumerate() {
        let right = (at + 1) as f64 / heights.len() as f64;
        let _ = write!(line, "V{:.3}H{right:.3}", 1.0 - height);
    }
    line + "V1"
}
