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

/// A score with its 95 % interval, if one is known: `0.81230 [0.801, 0.823]`.
pub fn with_interval(score: f64, bounds: Option<[f64; 2]>) -> String {
    let bounds = bounds.map(|bounds| format!(" {}", interval(bounds)));
    number(score) + &bounds.unwrap_or_default()
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

/// The decimals that show two significant digits of a positive size.
fn decimals(size: f64) -> Option<usize> {
    if !size.is_finite() || size <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite number is small")]
    let decimals = 1 - size.log10().floor() as i32;
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
