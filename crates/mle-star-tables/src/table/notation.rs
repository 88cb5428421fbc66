//! Texts that a whole number stands for: whole numbers, and times such as `2024-01-31 08:00:00`.

/// Longer numbers may not fit.
const MOST_DIGITS: usize = 18;
/// The days from the beginning of the year 0, if years began in March, to the beginning of 1970.
const EPOCH: i64 = 719_468;
/// The days of 400 years.
const ERA: i64 = 146_097;

/// How a column writes what numbers stand for. Only texts that come back letter by letter have a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `12`, `-3`
    Integer,
    /// `2024-01-31 08:00:00`, with this letter before the time of day.
    Time(u8),
}

impl Notation {
    /// The notation that this text may have.
    pub(super) fn of(text: &[u8]) -> Self {
        match text.get(10) {
            Some(letter @ (b' ' | b'T')) => Self::Time(*letter),
            _ => Self::Integer,
        }
    }

    /// The number of a text; `None` if it has none.
    pub(super) fn read(self, text: &[u8]) -> Option<i64> {
        match self {
            Self::Integer => integer(text),
            Self::Time(letter) => seconds(text, letter),
        }
    }

    /// Replaces `text` by the text of a number.
    pub(super) fn write(self, number: i64, text: &mut Vec<u8>) {
        text.clear();
        match self {
            Self::Integer => {
                text.extend(if number < 0 { &b"-"[..] } else { &[] });
                let digits = number.unsigned_abs().checked_ilog10().unwrap_or_default() as usize + 1;
                add_digits(number.unsigned_abs(), digits, text);
            }
            Self::Time(letter) => {
                let (days, of_day) = (number.div_euclid(86_400), number.rem_euclid(86_400));
                let (year, month, day) = date(days);
                let parts = [(year, 4, b'-'), (month, 2, b'-'), (day, 2, letter)];
                let of_day = [(of_day / 3_600, 2, b':'), (of_day / 60 % 60, 2, b':'), (of_day % 60, 2, b':')];
                for (part, digits, after) in parts.into_iter().chain(of_day) {
                    add_digits(part.unsigned_abs(), digits, text);
                    text.push(after);
                }
                text.pop();
            }
        }
    }
}

/// Adds the last digits of a number.
fn add_digits(mut number: u64, digits: usize, text: &mut Vec<u8>) {
    let start = text.len();
    text.resize(start + digits, b'0');
    for place in text[start..].iter_mut().rev() {
        // The remainder is a digit.
        *place += u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', ..] => digits.len() <= MOST_DIGITS,
        _ => false,
    };
    let number = if is_plain { whole(digits) } else { None }?;
    Some(if digits.len() < text.len() { -number } else { number })
}

fn seconds(text: &[u8], letter: u8) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, between, h1, h2, b':', n1, n2, b':', s1, s2] = text
    else {
        return None;
    };
    let two = |tens: &u8, ones: &u8| whole(&[*tens, *ones]);
    let (year, month, day) = (whole(&[*y1, *y2, *y3, *y4])?, two(m1, m2)?, two(d1, d2)?);
    let (hours, minutes, seconds) = (two(h1, h2)?, two(n1, n2)?, two(s1, s2)?);
    let days = days(year, month, day);
    let is_real =
        *between == letter && date(days) == (year, month, day) && hours < 24 && minutes < 60 && seconds < 60;
    is_real.then_some(days * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

fn whole(digits: &[u8]) -> Option<i64> {
    let add = |number: i64, digit: &u8| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'));
    digits.iter().try_fold(0, add)
}

/// The days from 1970 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    before + (153 * month + 2) / 5 + day - 1 - EPOCH
}

/// Year, month and day of a number of days from 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + era * 400, month + 3);
    if month > 12 { (year + 1, month - 12, day) } else { (year, month, day) }
}
