//! Reads times that are written as parts of a year: weeks, quarters, months, days, seasons and fiscal years.

use serde::Serialize;

use super::{DAY, days};

/// The years that these times may have. Other numbers of four digits are rather codes.
const YEARS: std::ops::RangeInclusive<u32> = 1600..=2199;
/// Longer texts are no times.
const LONGEST: usize = 24;
/// Words that say nothing beside the numbers.
const FILLERS: [&str; 5] = ["FY", "CY", "FISCAL", "YEAR", "SEASON"];
const WORDS: [(&[&str], Unit); 5] = [
    (&["W", "WK", "WEEK", "CW", "KW"], Unit::Week),
    (&["Q", "QTR", "QUARTER"], Unit::Quarter),
    (&["H", "HALF"], Unit::Half),
    (&["M", "MONTH"], Unit::Month),
    (&["D", "DAY"], Unit::Day),
];

/// The part of a year that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// `FY1950`, `1950/51`.
    Year,
    /// `2019H1`.
    Half,
    /// `2019Q1`, `Q1 2019`, `FY2019-Q1`.
    Quarter,
    /// `2015M03`, `03/2015`.
    Month,
    /// The day of the year: `2021-305`.
    Day,
    /// `2021-W44`, and `2021-W44-1` for its Monday; `44/2021` in a column whose numbers are not all those of months.
    Week,
}

/// What a text consists of.
#[derive(Debug)]
struct Parts {
    year: u32,
    /// Whether the year is the first number.
    is_first: bool,
    /// The other numbers with the number of their digits.
    others: Vec<(u32, usize)>,
    unit: Option<Unit>,
    /// A word such as `FY` was there.
    has_filler: bool,
}

impl Unit {
    /// All of them. Of several that fit all values of a column, the first is meant.
    pub(crate) const ALL: [Self; 6] =
        [Self::Year, Self::Half, Self::Quarter, Self::Month, Self::Day, Self::Week];

    /// The seconds from the beginning of 1970 to the first day of the part of a year that this text names; `None` if it names none
    /// of this unit.
    pub(crate) fn seconds(self, text: &str) -> Option<f64> {
        let Parts { year, is_first, others, unit, has_filler } = Parts::of(text)?;
        let is_named = unit == Some(self);
        if unit.is_some() && !is_named {
            return None;
        }
        let at = match (self, others.as_slice()) {
            (Self::Year, []) if has_filler => days(year, 1, 1),
            (Self::Year, [next]) if is_first && is_next(*next, year) => days(year, 1, 1),
            (Self::Half, [(half @ 1..=2, _)]) if is_named => days(year, half * 6 - 5, 1),
            (Self::Quarter, [(quarter @ 1..=4, _)]) if is_named => days(year, quarter * 3 - 2, 1),
            (Self::Month, [(month, 1..=2)]) if is_named || !is_first => days(year, *month, 1),
            (Self::Day, [(day @ 1..=366, digits)]) if is_named || is_first && *digits == 3 => {
                let at = days(year, 1, 1)? + i32::try_from(day - 1).ok()?;
                (at < days(year + 1, 1, 1)?).then_some(at)
            }
            (Self::Week, [(week, 1..=2)]) => week_day(year, *week, 1),
            (Self::Week, [(week, 1..=2), (day @ 1..=7, 1)]) if is_named && is_first => {
                week_day(year, *week, *day)
            }
            _ => None,
        };
        at.map(|at| f64::from(at) * DAY)
    }
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        let (mut numbers, mut unit, mut has_filler) = (Vec::new(), None, false);
        for token in tokens(text)? {
            if let Ok(number) = token.parse::<u32>() {
                numbers.push((number, token.len()));
            } else if FILLERS.contains(&token.to_ascii_uppercase().as_str()) {
                has_filler = true;
            } else if unit.is_none() {
                unit = Some(unit_of(token)?);
            } else {
                return None;
            }
        }
        let at = numbers.iter().position(|(number, digits)| *digits == 4 && YEARS.contains(number))?;
        let (year, _) = numbers.remove(at);
        Some(Self { year, is_first: at == 0, others: numbers, unit, has_filler })
    }
}

/// The numbers and the words of a text; `None` if it has other letters than these and separators.
fn tokens(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || " -/_.:".contains(letter);
    if text.len() > LONGEST
        || !text.starts_with(|first: char| first.is_ascii_alphanumeric())
        || !text.chars().all(fits)
    {
        return None;
    }
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let alike = |one: &u8, other: &u8| one.is_ascii_digit() == other.is_ascii_digit();
    let runs = words.flat_map(|word| word.as_bytes().chunk_by(alike));
    runs.map(|run| std::str::from_utf8(run).ok()).collect()
}

fn unit_of(word: &str) -> Option<Unit> {
    let upper = word.to_ascii_uppercase();
    WORDS.iter().find(|(words, _)| words.contains(&upper.as_str())).map(|(_, unit)| *unit)
}

/// Whether a season that begins in this year ends in that one: `1950/51`.
fn is_next((number, digits): (u32, usize), year: u32) -> bool {
    match digits {
        2 => number == (year + 1) % 100,
        _ => number == year + 1,
    }
}

/// The day of an ISO week, from 1 for Monday, in days from the beginning of 1970. Week 53 is read in every year: some count one more than a year has.
fn week_day(year: u32, week: u32, day: u32) -> Option<i32> {
    if !(1..=53).contains(&week) {
        return None;
    }
    // The first week has the fourth of January. The first day of 1970 was a Thursday.
    let fourth = days(year, 1, 4)?;
    let monday = fourth - (fourth + 3).rem_euclid(7);
    i32::try_from(7 * (week - 1) + day - 1).ok().map(|further| monday + further)
}
