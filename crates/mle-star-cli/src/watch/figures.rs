//! Formats uncertain and large figures.

use super::number;

/// Magnitudes from which bounds are written like any other score.
const LARGE: f64 = 1e6;
/// The number of decimals from which bounds are written like any other score.
const MOST_DECIMALS: i32 = 9;

/// A 95 % interval, with the digits that its width justifies: `[0.801, 0.823]`.
pub fn interval([low, high]: [f64; 2]) -> String {
    let is_large = low.abs().max(high.abs()) >= LARGE;
    match decimals(high - low).filter(|_| !is_large) {
        Some(decimals) => format!("[{low:.decimals$}, {high:.decimals$}]"),
        None => format!("[{}, {}]", number(low), number(high)),
    }
}

/// A size with two significant digits: `0.011`, `350`.
pub fn rounded(size: f64) -> String {
    match decimals(size).filter(|_| size < LARGE) {
        Some(decimals) => format!("{size:.decimals$}"),
        None => number(size),
    }
}

/// A count with separators: `12,000`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The decimals that show two significant digits of a positive size.
fn decimals(size: f64) -> Option<usize> {
    if !size.is_finite() || size <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite number is small")]
    let decimals = 1 - size.log10().floor() as i32;
    (decimals <= MOST_DECIMALS).then(|| usize::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_digits_that_their_width_justifies() {
        let check = |bounds, expected: &str| assert_eq!(interval(bounds), expected);
        check([0.801_234, 0.823_456], "[0.801, 0.823]");
        check([0.79, 0.829], "[0.790, 0.829]");
        check([23_650.4, 24_350.2], "[23650, 24350]");
        check([-0.25, 1.5], "[-0.2, 1.5]");
        check([0.5, 0.5], "[0.50000, 0.50000]");
        check([0.5, 0.5 + 1e-12], "[0.50000, 0.50000]");
        check([2.0e9, 2.1e9], "[2.0000e9, 2.1000e9]");
        check([f64::NEG_INFINITY, f64::INFINITY], "[-inf, inf]");
    }

    #[test]
    fn sizes_have_two_digits_and_counts_have_separators() {
        let check = |shown: String, expected: &str| assert_eq!(shown, expected);
        check(rounded(0.011_4), "0.011");
        check(rounded(1.96), "2.0");
        check(rounded(349.7), "350");
        check(rounded(3e7), "3.0000e7");
        check(grouped(0), "0");
        check(grouped(999), "999");
        check(grouped(1_000), "1,000");
        check(grouped(1_234_567), "1,234,567");
    }
}
