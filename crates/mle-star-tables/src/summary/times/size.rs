//! Lengths of time in words.

use crate::dates::DAY;
use crate::split::times::Clock;

/// The units of dates, in seconds.
const UNITS: [(f64, &str); 4] = [(DAY, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second")];
const WEEK: f64 = 7.0 * DAY;
const MONTH: f64 = 30.436_875 * DAY;
/// Series with steps that are at least so long have months or years.
const SHORTEST_MONTH: f64 = 27.5 * DAY;
const SHORTEST_YEAR: f64 = 360.0 * DAY;
/// Larger numbers have no decimals.
const LARGE: f64 = 20.0;

/// A length of time of a series with this step: `28 days`, `24 months`, or `12 steps of week` for a column of numbers.
pub(crate) fn size(clock: Clock, column: &str, step: f64, size: f64) -> String {
    if clock == Clock::Number {
        let steps = size / step;
        return match is_whole(steps) {
            true => format!("{} of `{column}`", counted(steps, "step")),
            false => format!("{} of `{column}`", number(size)),
        };
    }
    match step {
        SHORTEST_YEAR.. => counted((size / (12.0 * MONTH)).round(), "year"),
        SHORTEST_MONTH.. => counted((size / MONTH).round(), "month"),
        _ if is_whole(step / WEEK) => counted((size / WEEK).round(), "week"),
        _ => {
            let fits = |(unit, _): &&(f64, &str)| size >= 0.99 * unit;
            let (unit, name) = UNITS.iter().find(fits).unwrap_or(&(1.0, "second"));
            counted(size / unit, name)
        }
    }
}

fn is_whole(count: f64) -> bool {
    (count - count.round()).abs() <= 0.05 && count >= 0.5
}

fn counted(count: f64, name: &str) -> String {
    let text = if is_whole(count) || count >= LARGE { format!("{count:.0}") } else { format!("{count:.1}") };
    format!("{text} {name}{}", if text == "1" { "" } else { "s" })
}

/// A number with three digits.
fn number(size: f64) -> String {
    let decimals = if size >= 100.0 {
        0
    } else if size >= 1.0 {
        2
    } else {
        4
    };
    let text = format!("{size:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}
