//! Formats scores with their uncertainty, times and counts.

/// Magnitudes from which bounds are written like any other score.
const LARGE: f64 = 1e6;
/// The number of decimals from which bounds are written like any other score.
const MAX_DECIMALS: i32 = 9;

/// A score with enough digits to compare it with others.
pub fn number(score: f64) -> String {
    let size = score.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return format!("{score:.4e}");
    }
    let digits = if size >= 1000.0 {
        2
    } else if size >= 10.0 {
        4
    } else {
        5
    };
    format!("{score:.digits$}")
}

/// A moment as `2026-01-02 03:04:05 UTC`; what is no RFC 3339 stays.
pub fn shown_time(rfc_3339: &str) -> String {
    let time: Result<jiff::Timestamp, _> = rfc_3339.parse();
    time.map_or_else(|_| rfc_3339.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// Seconds as `8.1 s`, `3m 12s`, `2h 05m`.
pub fn duration(seconds: f64) -> String {
    let whole = jiff::SignedDuration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default().as_secs();
    match whole {
        0..10 => format!("{:.1} s", seconds.max(0.0)),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// Seconds in short form, for the status lines: `8s`, `3m 12s`, `15m`, `2h 05m`, `24h`.
pub fn brief(seconds: f64) -> String {
    let whole = jiff::SignedDuration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default().as_secs();
    let (hours, minutes, seconds) = (whole / 3600, whole % 3600 / 60, whole % 60);
    match (hours, minutes, seconds) {
        (0, 0, _) => format!("{seconds}s"),
        (0, _, 0) => format!("{minutes}m"),
        (0, _, _) => format!("{minutes}m {seconds:02}s"),
        (_, 0, _) => format!("{hours}h"),
        _ => format!("{hours}h {minutes:02}m"),
    }
}

/// Estimated seconds: `under a minute`, `about 12m`, `about 2h 05m`.
pub fn roughly(seconds: f64) -> String {
    // From an hour on, to five minutes.
    let step = if seconds < 3600.0 { 60.0 } else { 300.0 };
    match (seconds / step).round() * step {
        0.0 => "under a minute".to_owned(),
        rounded => format!("about {}", brief(rounded)),
    }
}

/// `1 script`, `2 scripts`.
pub fn count(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The difference of two scores with its sign: `+` is better.
pub fn signed(gain: f64) -> String {
    match gain {
        0.0 => "±0".to_owned(),
        gain => format!("{}{}", if gain > 0.0 { "+" } else { "−" }, number(gain.abs())),
    }
}

/// A 95 % interval, with the digits that its width justifies: `[0.801, 0.823]`.
pub fn interval([low, high]: [f64; 2]) -> String {
    let is_large = low.abs().max(high.abs()) >= LARGE;
    match decimals(high - low).filter(|_| !is_large) {
        Some(decimals) => format!("[{}, {}]", fixed(low, decimals), fixed(high, decimals)),
        None => format!("[{}, {}]", number(low), number(high)),
    }
}

/// A score of which the 95 % interval is known: four digits, and more only where the interval is so narrow that they tell
/// something.
pub fn measured(score: f64, bounds: Option<[f64; 2]>) -> String {
    let own = number(score);
    let width = bounds.map(|[low, high]| high - low).filter(|width| *width > 0.0 && width.is_finite());
    let is_plain = score != 0.0 && !own.contains('e');
    let (Some(width), Some((_, digits)), true) = (width, own.split_once('.'), is_plain) else {
        return own;
    };
    let told = (3 - exponent(score.abs())).max(2 - exponent(width));
    let most = i32::try_from(digits.len()).unwrap_or(MAX_DECIMALS);
    fixed(score, usize::try_from(told.clamp(0, most)).unwrap_or_default())
}

/// A score with its 95 % interval, if one is known: `0.8123 [0.801, 0.823]`.
pub fn with_interval(score: f64, bounds: Option<[f64; 2]>) -> String {
    let words = bounds.map(|bounds| format!(" {}", interval(bounds)));
    measured(score, bounds) + &words.unwrap_or_default()
}

/// The smallest round step that is at least this: 1, 2 or 5 times a power of ten.
pub fn round_step(least: f64) -> f64 {
    let unit = 10_f64.powi(exponent(least));
    let steps = [1.0, 2.0, 5.0, 10.0].map(|part| part * unit);
    steps.into_iter().find(|step| *step >= least).unwrap_or(least)
}

/// A number with the decimals that tell it from others at this distance.
pub fn at_step(value: f64, step: f64) -> String {
    // Steps are computed, so they may be a little too small.
    let decimals = usize::try_from(-exponent(step * 1.000_001)).unwrap_or_default();
    let is_plain = value.abs() < 1e9 && decimals <= 9;
    (if is_plain { fixed(value, decimals) } else { number(value) }).replacen(
        '-',
        "−",
        usize::from(value < 0.0),
    )
}

/// About this many round values within bounds, and how they are written.
pub fn round_ticks(low: f64, high: f64, about: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / about;
    if !(rough > 0.0 && rough.is_finite()) {
        return Vec::new();
    }
    let step = round_step(rough);
    let ticks = std::iter::successors(Some((low / step).ceil()), |count| Some(count + 1.0)).take(20);
    let ticks = ticks.map(|count| count * step).take_while(|value| *value <= high);
    ticks.map(|value| (value, at_step(value, step))).collect()
}

/// A size with two significant digits: `0.011`, `350`.
pub fn rounded(size: f64) -> String {
    match decimals(size).filter(|_| size < LARGE) {
        Some(decimals) => format!("{size:.decimals$}"),
        None => number(size),
    }
}

/// Bytes as `9.3 MB`.
pub fn size(bytes: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    // 999,960 bytes are 1.0 MB when rounded.
    match units.into_iter().find(|(unit, _)| bytes as f64 >= 0.99995 * unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit),
        None => format!("{bytes} bytes"),
    }
}

/// A number with these decimals; one that rounds to zero has no sign.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains(|digit: char| ('1'..='9').contains(&digit)) || !value.is_finite() {
        return text;
    }
    text.trim_start_matches('-').to_owned()
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

/// The power of ten below a positive size.
fn exponent(size: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite number is small")]
    let exponent = size.log10().floor() as i32;
    exponent
}

/// The decimals that show two significant digits of a positive size.
fn decimals(size: f64) -> Option<usize> {
    if !size.is_finite() || size <= 0.0 {
        return None;
    }
    let decimals = 1 - exponent(size);
    (decimals <= MAX_DECIMALS).then(|| usize::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let check = |seconds, words: &str| assert_eq!(duration(seconds), words);
        check(0.04, "0.0 s");
        check(8.12, "8.1 s");
        check(59.0, "59 s");
        check(192.0, "3m 12s");
        check(7500.0, "2h 05m");
        let check = |seconds, words: &str| assert_eq!(brief(seconds), words);
        check(0.9, "0s");
        check(59.9, "59s");
        check(60.0, "1m");
        check(192.0, "3m 12s");
        check(3600.0, "1h");
        check(7500.0, "2h 05m");
        let check = |seconds, words: &str| assert_eq!(roughly(seconds), words);
        check(20.0, "under a minute");
        check(95.0, "about 2m");
        check(3590.0, "about 1h");
        check(7400.0, "about 2h 05m");
        let check = |score, words: &str| assert_eq!(number(score), words);
        check(0.812_345_67, "0.81235");
        check(-12.5, "-12.5000");
        check(12345.678, "12345.68");
        check(0.000_001, "1.0000e-6");
        check(0.0, "0.00000");
    }

    #[test]
    fn a_score_has_the_digits_that_its_interval_justifies() {
        let check = |score, bounds, expected: &str| assert_eq!(measured(score, bounds), expected);
        check(0.702_951, Some([0.65, 0.76]), "0.7030");
        check(0.812_3, Some([0.801, 0.823]), "0.8123");
        check(0.999_123, Some([0.998_5, 0.999_7]), "0.99912");
        check(23_900.42, Some([23_650.0, 24_350.0]), "23900");
        check(-12.345_6, Some([-13.1, -11.9]), "-12.35");
        check(0.5, Some([0.5, 0.5]), "0.50000");
        check(0.0, Some([-0.5, 0.5]), "0.00000");
        check(0.5, None, "0.50000");
        assert_eq!(with_interval(0.702_951, Some([0.65, 0.76])), "0.7030 [0.65, 0.76]");
    }

    #[test]
    fn ticks_are_round() {
        let check = |low, high, expected: &[&str]| {
            let labels: Vec<String> =
                round_ticks(low, high, 4.0).into_iter().map(|(_, label)| label).collect();
            assert_eq!(labels, expected);
        };
        check(0.48, 0.72, &["0.5", "0.6", "0.7"]);
        check(0.651, 0.704, &["0.66", "0.68", "0.70"]);
        check(-1.0, 1.0, &["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        check(0.0, 30_000.0, &["0", "10000", "20000", "30000"]);
        check(1.0, 1.0, &[]);
        check(0.0, f64::INFINITY, &[]);
        assert!(round_ticks(1e300, 1.000_000_1e300, 4.0).len() < 20);
    }

    #[test]
    fn intervals_have_the_digits_that_their_width_justifies() {
        let check = |bounds, expected: &str| assert_eq!(interval(bounds), expected);
        check([0.801_234, 0.823_456], "[0.801, 0.823]");
        check([0.79, 0.829], "[0.790, 0.829]");
        check([23_650.4, 24_350.2], "[23650, 24350]");
        check([-0.25, 1.5], "[-0.2, 1.5]");
        check([-0.000_4, 0.011], "[0.000, 0.011]");
        check([0.5, 0.5], "[0.50000, 0.50000]");
        check([0.5, 0.5 + 1e-12], "[0.50000, 0.50000]");
        check([2.0e9, 2.1e9], "[2.0000e9, 2.1000e9]");
        check([f64::NEG_INFINITY, f64::INFINITY], "[-inf, inf]");
    }
}
