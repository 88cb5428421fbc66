//! Recognizes and orders dates.

pub(crate) mod calendar;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// The seconds of a day.
pub(super) const DAY: f64 = 86_400.0;

/// How a date such as `1/2/2024` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    MonthFirst,
    DayFirst,
}

/// Whether this text is a date, with or without a time of day.
///
/// Accepted: `2024-01-31`, `2024/1/31`, `31.01.2024`, `1/31/2024`, `2024-01`, `31-Jan-2024`, `Jan 31, 2024`,
/// `Wednesday, 31 January 2024`, `Jan 31` (in 1970), `Jan-24` (January 2024), each optionally followed by a time and an
/// offset; with the name of a month, the year may stand behind them.
pub(super) fn is_date(text: &str) -> bool {
    seconds(text, Reading::MonthFirst).is_some() || seconds(text, Reading::DayFirst).is_some()
}

/// Whether a date's first number can only be a day: it is too large for a month, or a point follows.
pub(super) fn begins_with_day(date: &str) -> bool {
    let first = date.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    let is_day = |day: u32| (13..=31).contains(&day) || (day <= 12 && date[first.len()..].starts_with('.'));
    first.len() <= 2 && first.parse().is_ok_and(is_day)
}

/// The seconds from the beginning of 1970 to this date; `None` if it is no date.
pub(super) fn seconds(text: &str, reading: Reading) -> Option<f64> {
    let text = text.trim();
    if let Some(moment) = iso(text.as_bytes()) {
        return Some(moment);
    }
    let starts_like_a_date = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    if !starts_like_a_date || text.len() < 6 || text.len() > 40 {
        return None;
    }
    let (date, time) = split_time(text);
    let (time, year) = time.map_or((None, None), |time| {
        let (time, year) = without_year(time);
        (Some(time), year)
    });
    let days = match year {
        Some(year) => date_with_month_name(&format!("{date} {year}"))?,
        None => numeric_date(date, reading).or_else(|| date_with_month_name(date))?,
    };
    let of_day = time.map_or(Some(0.0), time_of_day)?;
    Some(f64::from(days) * DAY + of_day)
}

/// The seconds from the beginning of 1970 to `2024-01-31` or `2024-01-31 08:00:00`, the most frequent forms; `None` for any
/// other.
fn iso(text: &[u8]) -> Option<f64> {
    let two = |at: usize| match text.get(at..at + 2)? {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
            Some(u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
        }
        _ => None,
    };
    let is_at = |places: [usize; 2], letter: u8| places.iter().all(|at| text.get(*at) == Some(&letter));
    let of_day = match (text.len(), text.get(10)) {
        (10, None) => 0,
        (19, Some(b' ' | b'T')) if is_at([13, 16], b':') => two(11)? * 3_600 + two(14)? * 60 + two(17)?,
        _ => return None,
    };
    let (year, month, day) = (two(0)? * 100 + two(2)?, two(5)?, two(8)?);
    let is_date = is_at([4, 7], b'-') && is_year(year);
    let days = if is_date { days(year, month, day) } else { None };
    days.map(|days| f64::from(days) * DAY + f64::from(of_day))
}

fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else { return (text, None) };
    match text[..colon].rfind([' ', 'T']) {
        Some(at) => (text[..at].trim_end(), Some(text[at + 1..].trim())),
        None => (text, None),
    }
}

/// A time and the year behind it, as in `Oct 10 20:19:24 +0000 2018`.
fn without_year(time: &str) -> (&str, Option<&str>) {
    match time.rsplit_once(' ') {
        Some((time, year)) if number(year).is_some_and(is_year) => (time.trim_end(), Some(year)),
        _ => (time, None),
    }
}

fn numeric_date(date: &str, reading: Reading) -> Option<i32> {
    let separator = date.chars().find(|letter| ['-', '/', '.'].contains(letter))?;
    let mut parts = date.split(separator).map(number);
    match (parts.next()??, parts.next()??, parts.next(), parts.next()) {
        (a, b, Some(c), None) => in_order([a, b, c?], separator, reading),
        (year, month, None, _) if separator != '.' && is_year(year) => days(year, month, 1),
        _ => None,
    }
}

/// Year first or last; day and month in either order.
fn in_order([a, b, c]: [u32; 3], separator: char, reading: Reading) -> Option<i32> {
    if is_year(a) {
        return days(a, b, c).or_else(|| days(a, c, b));
    }
    let year = if c < 100 { whole_year(c) } else { c };
    match (is_year(year), separator, reading) {
        (false, ..) => None,
        // Dates with points begin with the day.
        (_, '.', _) => days(year, b, a).or_else(|| days(year, a, b)),
        (_, _, Reading::MonthFirst) => days(year, a, b),
        (_, _, Reading::DayFirst) => days(year, b, a),
    }
}

fn date_with_month_name(date: &str) -> Option<i32> {
    let mut numbers = [None; 2];
    let (mut month, mut count) = (None, 0);
    let mut parts = date.split([' ', '-', ',', '/']).filter(|part| !part.is_empty()).peekable();
    parts.next_if(|part| is_weekday(part));
    for part in parts {
        if month.is_none() && number(part).is_none() {
            month = Some(month_named(part)?);
        } else {
            *numbers.get_mut(count)? = Some(number(part)?);
            count += 1;
        }
    }
    match (numbers, month?) {
        ([Some(year), None], month) if is_year(year) => days(year, month, 1),
        ([Some(year), None], month) if date.contains('-') && year < 100 => days(whole_year(year), month, 1),
        ([Some(day), None], month) => days(1970, month, day),
        ([Some(year), Some(day)], month) if is_year(year) => days(year, month, day),
        ([Some(day), Some(year)], month) if is_year(year) => days(year, month, day),
        ([Some(day), Some(year)], month) if year < 100 => days(whole_year(year), month, day),
        _ => None,
    }
}

/// The month with this name, or with one that begins so.
fn month_named(part: &str) -> Option<u32> {
    let name = part.strip_suffix('.').unwrap_or(part).to_ascii_lowercase();
    let name = if name == "sept" { "sep" } else { name.as_str() };
    let is_month = |month: &str| name.len() >= 3 && month.starts_with(name);
    (1..).zip(MONTHS).find(|(_, month)| is_month(month)).map(|(number, _)| number)
}

/// Whether this is the name of a day, or its first three letters.
fn is_weekday(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    let is_whole = lower.len() <= 3 || lower.ends_with("day");
    is_whole && lower.get(..3).is_some_and(|start| WEEKDAYS.contains(&start))
}

/// The seconds from midnight, minus the offset from universal time. What else follows the clock is ignored.
fn time_of_day(time: &str) -> Option<f64> {
    if !is_time(time) {
        return None;
    }
    let is_clock = |c: char| c.is_ascii_digit() || c == ':' || c == '.';
    let (clock, rest) = time.split_at(time.find(|c| !is_clock(c)).unwrap_or(time.len()));
    let mut parts = clock.split(':').map(|part| part.parse::<f64>().unwrap_or(0.0));
    let mut next = || parts.next().unwrap_or(0.0);
    let (hours, minutes, seconds) = (next(), next(), next());
    let rest = rest.trim();
    let hours = match rest.chars().next().map(|c| c.to_ascii_lowercase()) {
        Some('p') if hours < 12.0 => hours + 12.0,
        Some('a') if hours >= 12.0 => hours - 12.0,
        _ => hours,
    };
    Some(hours * 3_600.0 + minutes * 60.0 + seconds - offset(rest))
}

/// The seconds in `+02:00` or `-0530`; 0 for anything else.
fn offset(text: &str) -> f64 {
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("+", digits)) => (1.0, digits),
        Some(("-", digits)) => (-1.0, digits),
        _ => return 0.0,
    };
    let digits: String = digits.chars().filter(char::is_ascii_digit).take(4).collect();
    let (hours, minutes) = digits.split_at(digits.len().min(2));
    let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    sign * (number(hours) * 3_600.0 + number(minutes) * 60.0)
}

/// The days from the beginning of 1970; `None` unless the month is 1 to 12 and the day 1 to 31.
pub(super) fn days(year: u32, month: u32, day: u32) -> Option<i32> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days from 1 March of the year 0: years that begin in March end with the leap day. `day` counts from 1.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = 365 * year + year / 4 - year / 100 + year / 400;
    let total = before + (153 * month + 2) / 5 + day;
    Some(i32::try_from(total).ok()? - 719_469)
}

fn whole_year(short: u32) -> u32 {
    if short < 69 { 2000 + short } else { 1900 + short }
}

fn is_time(time: &str) -> bool {
    let digits = time.chars().filter(char::is_ascii_digit).count();
    let allowed = |c: char| c.is_ascii_digit() || ":.+-, ZAPMapmUTC".contains(c);
    digits >= 3 && time.chars().all(allowed) && time.starts_with(|c: char| c.is_ascii_digit())
}

fn is_year(number: u32) -> bool {
    (1000..=2999).contains(&number)
}

fn number(text: &str) -> Option<u32> {
    let short = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    short.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_an_order() {
        let check = |text: &str, reading: Reading, expected: f64| {
            assert_eq!(seconds(text, reading), Some(expected), "{text}");
        };
        let (month, day) = (Reading::MonthFirst, Reading::DayFirst);
        check("1970-01-01", month, 0.0);
        check("2000-03-01", day, 11_017.0 * DAY);
        for text in ["2024/1/31", "31.01.2024", "Jan 31, 2024", "Wednesday, 31 January 2024"] {
            check(text, month, 19_753.0 * DAY);
        }
        check("1/31/24", month, 19_753.0 * DAY);
        check("2/1/2024", month, 19_754.0 * DAY);
        check("2/1/2024", day, 19_724.0 * DAY);
        check("Feb-24", month, 19_754.0 * DAY);
        check("2024-01-31 01:00:30.5", month, 19_753.0 * DAY + 3_630.5);
        check("2024-01-31T01:00:00+02:00", month, 19_753.0 * DAY - 3_600.0);
        check("1/31/2024 12:05 AM", month, 19_753.0 * DAY + 300.0);
        for text in
            ["Wed Jan 31 01:00:00 +0200 2024", "Tue Jan 30 23:00:00 2024", "Tue Jan 30 23:00:00 UTC 2024"]
        {
            check(text, day, 19_753.0 * DAY - 3_600.0);
        }
        check("12/31/69", month, -DAY);
        assert_eq!(seconds("1/31/2024", day), None);
        assert_eq!(seconds("31/1/2024", month), None);
    }
}
