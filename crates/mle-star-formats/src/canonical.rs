//! Numbers and times as text, as pandas writes them to CSV.

use std::fmt::Write;

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

/// Exponents of ten from which, and below which, numbers are written with an exponent.
const LARGE: i32 = 16;
const SMALL: i32 = -5;
/// Above this, floating-point numbers do not tell all whole numbers apart.
pub(crate) const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

const NANOS: i128 = 1_000_000_000;
const DAY: i64 = 86_400;

/// How the times of a column are written: all in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Precision {
    /// Without the time of day: all of them are midnight.
    pub(crate) is_date: bool,
    /// The digits of the fraction of a second: 0, 3, 6 or 9.
    pub(crate) digits: usize,
}

/// Adds a floating-point number in the shortest form that reads back the same: `1.0`, `0.1`, `1e-05`, `inf`. `NaN` is
/// empty.
pub(crate) fn push_f64(number: f64, into: &mut String) {
    match number.is_finite() {
        true => push_shortest(&format!("{number:e}"), into),
        false => push_special(number, into),
    }
}

/// As [`push_f64`], for numbers of single precision.
pub(crate) fn push_f32(number: f32, into: &mut String) {
    match number.is_finite() {
        true => push_shortest(&format!("{number:e}"), into),
        false => push_special(number.into(), into),
    }
}

fn push_special(number: f64, into: &mut String) {
    into.push_str(match number {
        _ if number.is_nan() => "",
        _ if number > 0.0 => "inf",
        _ => "-inf",
    });
}

/// Adds a number that is written like `-1.25e-7`.
fn push_shortest(scientific: &str, into: &mut String) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|letter| *letter != '.').collect();
    into.push_str(sign);
    if exponent >= LARGE || exponent <= SMALL {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { '-' } else { '+' };
        _ = write!(into, "{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs());
    } else if exponent < 0 {
        into.push_str("0.");
        (1..exponent.unsigned_abs()).for_each(|_| into.push('0'));
        into.push_str(&digits);
    } else {
        let whole = exponent.unsigned_abs() as usize + 1;
        let (before, after) = digits.split_at(whole.min(digits.len()));
        into.push_str(before);
        (digits.len()..whole).for_each(|_| into.push('0'));
        _ = write!(into, ".{}", if after.is_empty() { "0" } else { after });
    }
}

/// Adds a whole number that is held as a floating-point number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers have checked that it is a whole number below 2^53"
)]
pub(crate) fn push_whole(number: f64, into: &mut String) {
    _ = write!(into, "{}", number as i64);
}

/// Adds a decimal number: these digits, of which so many stand after the point.
pub(crate) fn push_decimal(digits: &str, scale: i8, into: &mut String) {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    into.push_str(sign);
    let scale = isize::from(scale);
    if scale <= 0 {
        into.push_str(digits);
        (scale..0).filter(|_| digits != "0").for_each(|_| into.push('0'));
        return;
    }
    let padded = format!("{digits:0>width$}", width = scale.unsigned_abs() + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale.unsigned_abs());
    _ = write!(into, "{whole}.{fraction}");
}

/// Adds a date, in days from 1970. `None` if there is no such date.
pub(crate) fn push_date(days: i64, into: &mut String) -> Option<()> {
    let date = date(days)?;
    _ = write!(into, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
    Some(())
}

/// Adds a point in time, in nanoseconds from 1970, or the date alone. `None` if there is no such time.
pub(crate) fn push_time(nanos: i128, precision: Precision, into: &mut String) -> Option<()> {
    let seconds = i64::try_from(nanos.div_euclid(NANOS)).ok()?;
    push_date(seconds.div_euclid(DAY), into)?;
    if !precision.is_date {
        into.push(' ');
        push_of_day(seconds.rem_euclid(DAY), nanos.rem_euclid(NANOS), precision.digits, into);
    }
    Some(())
}

/// Adds a point in time, in nanoseconds from 1970 in UTC, as the clock of a time zone shows it, with its offset.
pub(crate) fn push_zoned(
    nanos: i128,
    zone: &TimeZone,
    precision: Precision,
    into: &mut String,
) -> Option<()> {
    let offset = jiff::Timestamp::from_nanosecond(nanos).ok().map(|time| zone.to_offset(time))?;
    push_time(nanos + i128::from(offset.seconds()) * NANOS, precision, into)?;
    let seconds = offset.seconds().unsigned_abs();
    let sign = if offset.seconds() < 0 { '-' } else { '+' };
    _ = write!(into, "{sign}{:02}:{:02}", seconds / 3_600, seconds / 60 % 60);
    if seconds % 60 > 0 {
        _ = write!(into, ":{:02}", seconds % 60);
    }
    Some(())
}

/// Adds a time of day in nanoseconds, with as many digits of the second as it needs.
pub(crate) fn push_time_of_day(nanos: i64, into: &mut String) {
    let fraction = i128::from(nanos).rem_euclid(NANOS);
    let digits = if fraction == 0 { 0 } else { digits_of(fraction).max(6) };
    push_of_day(nanos.div_euclid(1_000_000_000), fraction, digits, into);
}

/// Adds a length of time in nanoseconds: `1 days 02:03:04`, `-1 days +23:59:59`.
pub(crate) fn push_duration(nanos: i128, into: &mut String) {
    let seconds = nanos.div_euclid(NANOS);
    let fraction = nanos.rem_euclid(NANOS);
    let digits = if fraction == 0 { 0 } else { digits_of(fraction).max(6) };
    let (days, of_day) = (seconds.div_euclid(i128::from(DAY)), seconds.rem_euclid(i128::from(DAY)));
    _ = write!(into, "{days} days {}", if days < 0 { "+" } else { "" });
    push_of_day(i64::try_from(of_day).unwrap_or_default(), fraction, digits, into);
}

/// The digits that a fraction of a second in nanoseconds needs: 0, 3, 6 or 9.
pub(crate) fn digits_of(nanos: i128) -> usize {
    match nanos.rem_euclid(NANOS) {
        0 => 0,
        fraction if fraction % 1_000_000 == 0 => 3,
        fraction if fraction % 1_000 == 0 => 6,
        _ => 9,
    }
}

/// Whether a time in nanoseconds is a midnight.
pub(crate) fn is_midnight(nanos: i128) -> bool {
    nanos.rem_euclid(NANOS * i128::from(DAY)) == 0
}

/// A time zone by its name or its offset, such as `Europe/Berlin` or `+01:00`.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    let fixed = || {
        let (sign, digits) = match name.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return None,
        };
        let digits: String = digits.chars().filter(|letter| *letter != ':').collect();
        let (hours, minutes) = digits.split_at_checked(2)?;
        let seconds = hours.parse::<i32>().ok()? * 3_600 + minutes.parse::<i32>().ok()? * 60;
        Offset::from_seconds(sign * seconds).ok().map(TimeZone::fixed)
    };
    let utc = || ["UTC", "Z", "Etc/UTC", "GMT"].contains(&name).then_some(TimeZone::UTC);
    utc().or_else(fixed).or_else(|| TimeZone::get(name).ok())
}

fn push_of_day(seconds: i64, nanos: i128, digits: usize, into: &mut String) {
    _ = write!(into, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if digits > 0 {
        let fraction = format!("{nanos:09}");
        _ = write!(into, ".{}", &fraction[..digits]);
    }
}

fn date(days: i64) -> Option<Date> {
    let span = jiff::Span::new().try_days(days).ok()?;
    jiff::civil::date(1970, 1, 1).checked_add(span).ok().filter(|date| date.year() > 0)
}
