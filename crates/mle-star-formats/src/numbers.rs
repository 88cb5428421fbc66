//! Numbers as people write them: with a decimal comma, with thousands separators.

use std::fmt;

/// The marks that may stand between groups of three digits, besides point and comma.
const BLANKS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}'];
/// The fewest cells with a mark that make a column a possible list of labels.
const ENOUGH_LISTS: u64 = 5;
/// The most groups of digits in a number.
const MOST_GROUPS: usize = 12;
/// A number's notations as bits: bit `2 * thousands + decimal`, where `decimal` is 0 for a point and 1 for a comma, and
/// `thousands` is 0 for no mark, 1 for the comma or the point that is not the decimal mark, and 2 or more for one of
/// [`BLANKS`].
const ALL: u16 = u16::MAX;
const WITH_POINT: u16 = 0x5555;
const WITH_COMMA: u16 = 0xAAAA;
/// Words for missing numbers, in lower case.
const MISSING: [&str; 18] = [
    "",
    "na",
    "n/a",
    "#n/a",
    "nan",
    "-nan",
    "null",
    "none",
    "nil",
    "missing",
    "-",
    "--",
    "?",
    ".",
    "inf",
    "-inf",
    "infinity",
    "-infinity",
];

/// The character between a number's whole part and its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

/// How the numbers of one column can be read: what all of its cells have in common.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    notations: u16,
    has_point: bool,
    has_comma: bool,
    has_blank: bool,
    /// Numbers with a mark between their digits.
    pub(crate) marked: u64,
    /// Whole numbers without a mark, and whether one of them has more than three digits.
    pub(crate) unmarked: u64,
    pub(crate) has_long: bool,
    /// The first number with a mark.
    pub(crate) example: Option<String>,
    /// Whether each cell with a mark is `A,B`, two whole numbers of which the second is larger.
    are_rising_pairs: bool,
    /// The first number of the first of these, and whether another one has another.
    first: Option<u64>,
    has_other_first: bool,
    /// Whether each number is groups of exactly three digits, how many the first number has, and whether another one has
    /// another count.
    are_threes: bool,
    groups: Option<usize>,
    has_other_count: bool,
}

/// What one cell can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Missing,
    Text,
    Number { notations: u16, has_point: bool, has_comma: bool, has_blank: bool, digits: usize, groups: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Point,
    Comma,
    Blank(u8),
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            notations: ALL,
            has_point: false,
            has_comma: false,
            has_blank: false,
            marked: 0,
            unmarked: 0,
            has_long: false,
            example: None,
            are_rising_pairs: true,
            first: None,
            has_other_first: false,
            are_threes: true,
            groups: None,
            has_other_count: false,
        }
    }
}

impl Tally {
    /// Adds a cell.
    pub(crate) fn add(&mut self, text: &str) {
        if self.notations == 0 {
            return;
        }
        match cell(text) {
            Cell::Missing => {}
            Cell::Text => self.notations = 0,
            Cell::Number { notations, has_point, has_comma, has_blank, digits, groups } => {
                self.notations &= notations;
                self.are_threes &= groups > 0 && !has_point;
                self.has_other_count |= *self.groups.get_or_insert(groups) != groups;
                self.has_point |= has_point;
                self.has_comma |= has_comma;
                self.has_blank |= has_blank;
                if has_point || has_comma || has_blank {
                    self.marked += 1;
                    self.example.get_or_insert_with(|| text.trim().to_owned());
                    self.add_pair(text.trim());
                } else {
                    self.unmarked += 1;
                    self.has_long |= digits > 3;
                }
            }
        }
    }

    fn add_pair(&mut self, text: &str) {
        let whole = |digits: &str| digits.parse::<u64>().ok().filter(|number| number.to_string() == digits);
        let pair = text.split_once(',').and_then(|(first, second)| Some((whole(first)?, whole(second)?)));
        let Some((first, second)) = pair.filter(|_| self.are_rising_pairs) else {
            self.are_rising_pairs = false;
            return;
        };
        self.are_rising_pairs = first < second;
        self.has_other_first |= *self.first.get_or_insert(first) != first;
    }

    /// Whether the cells with marks may as well be lists of labels: `2,7`, or `250 401` beside `414`. Of numbers with marks
    /// between thousands some would begin with one or two digits.
    pub(crate) fn may_be_lists(&self) -> bool {
        let are_pairs = self.are_rising_pairs && self.has_other_first && !self.fits(Decimal::Point);
        self.marked >= ENOUGH_LISTS && (are_pairs || self.are_threes && self.has_other_count)
    }

    /// Whether the column has numbers with marks, and nothing but numbers.
    pub(crate) fn is_marked(&self) -> bool {
        self.notations != 0 && self.marked > 0
    }

    /// Whether some cell is no number.
    pub(crate) fn is_text(&self) -> bool {
        self.notations == 0
    }

    /// Whether a comma or another mark but a point stands in its numbers.
    pub(crate) fn has_comma_or_blank(&self) -> bool {
        self.has_comma || self.has_blank
    }

    /// Whether a point or a comma stands in its numbers.
    pub(crate) fn has_decimal_or_comma(&self) -> bool {
        self.has_point || self.has_comma
    }

    /// Whether a comma stands in its numbers.
    pub(crate) fn has_comma(&self) -> bool {
        self.has_comma
    }

    /// Whether all of its numbers can be read with this decimal mark.
    pub(crate) fn fits(&self, decimal: Decimal) -> bool {
        let mask = match decimal {
            Decimal::Point => WITH_POINT,
            Decimal::Comma => WITH_COMMA,
        };
        self.notations & mask != 0
    }

    /// The mark between thousands, if the decimal mark is this one.
    pub(crate) fn thousands(&self, decimal: Decimal) -> Option<char> {
        if self.has_blank {
            let bit = |at: usize| self.notations & (0b11 << (2 * (at + 2))) != 0;
            return BLANKS.into_iter().enumerate().find(|(at, _)| bit(*at)).map(|(_, blank)| blank);
        }
        match decimal {
            Decimal::Point => self.has_comma.then_some(','),
            Decimal::Comma => self.has_point.then_some('.'),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(match self {
            Self::Point => ".",
            Self::Comma => ",",
        })
    }
}

/// Replaces `into` by a number of a column, written with a decimal point and without a mark between thousands. Words for
/// missing numbers stay as they are.
pub(crate) fn translate(text: &str, decimal: Decimal, thousands: Option<char>, into: &mut String) {
    into.clear();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        into.push_str(text);
        return;
    }
    for letter in text.trim().chars() {
        match letter {
            _ if Some(letter) == thousands => {}
            ',' if decimal == Decimal::Comma => into.push('.'),
            _ => into.push(letter),
        }
    }
}

/// Whether a text is a number with a comma, a blank or an apostrophe.
pub(crate) fn is_marked(text: &str) -> bool {
    let marked = |has_comma: bool, has_blank: bool| has_comma || has_blank;
    matches!(cell(text), Cell::Number { has_comma, has_blank, .. } if marked(has_comma, has_blank))
}

fn cell(text: &str) -> Cell {
    let text = text.trim();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        let lower = if text.len() <= 9 { text.to_ascii_lowercase() } else { return Cell::Text };
        return if MISSING.contains(&lower.as_str()) { Cell::Missing } else { Cell::Text };
    }
    number(text).unwrap_or(Cell::Text)
}

fn number(text: &str) -> Option<Cell> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut runs = [0_usize; MOST_GROUPS + 1];
    let mut marks = [Mark::Point; MOST_GROUPS];
    let mut count = 0;
    for (at, letter) in unsigned.char_indices() {
        let mark = match letter {
            '0'..='9' => {
                runs[count] += 1;
                continue;
            }
            '.' => Mark::Point,
            ',' => Mark::Comma,
            'e' | 'E' if is_exponent(&unsigned[at + 1..]) => break,
            _ => Mark::Blank(u8::try_from(BLANKS.iter().position(|blank| *blank == letter)?).ok()?),
        };
        *marks.get_mut(count)? = mark;
        count += 1;
    }
    let begins_with_zero = unsigned.starts_with('0');
    let notations = notations(&runs[..=count], &marks[..count], begins_with_zero);
    let has = |mark: Mark| marks[..count].contains(&mark);
    (notations != 0).then(|| Cell::Number {
        notations,
        has_point: has(Mark::Point),
        has_comma: has(Mark::Comma),
        has_blank: marks[..count].iter().any(|mark| matches!(mark, Mark::Blank(_))),
        digits: runs[0],
        groups: if runs[..=count].iter().all(|run| *run == 3) && unsigned == text { count + 1 } else { 0 },
    })
}

fn is_exponent(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The notations of a number with these runs of digits and these marks between them.
fn notations(runs: &[usize], marks: &[Mark], begins_with_zero: bool) -> u16 {
    let padded = begins_with_zero && runs[0] > 1;
    let Some((last, before)) = marks.split_last() else { return if padded { 0 } else { ALL } };
    let mut found = 0;
    let decimals = match last {
        Mark::Point => WITH_POINT,
        Mark::Comma => WITH_COMMA,
        Mark::Blank(_) => 0,
    };
    let whole = &runs[..runs.len() - 1];
    match before.first() {
        None if !padded && runs.iter().sum::<usize>() > 0 => found |= decimals,
        Some(mark) if mark != last && are_groups(whole, before, begins_with_zero) => {
            found |= decimals & grouped(*mark);
        }
        _ => {}
    }
    if are_groups(runs, marks, begins_with_zero) {
        found |= grouped(*last);
    }
    found
}

/// The notations that have this mark between thousands.
fn grouped(mark: Mark) -> u16 {
    match mark {
        Mark::Comma => 1 << 2,
        Mark::Point => 1 << 3,
        Mark::Blank(at) => 0b11 << (2 * (at + 2)),
    }
}

/// Whether these are groups of thousands: `1,234,567`, or `12,34,567` as in India.
fn are_groups(runs: &[usize], marks: &[Mark], begins_with_zero: bool) -> bool {
    let Some((first, rest)) = runs.split_first() else { return false };
    let Some((last, middle)) = rest.split_last() else { return false };
    let same = marks.windows(2).all(|pair| pair[0] == pair[1]);
    let thousands = (1..=3).contains(first) && middle.iter().all(|run| *run == 3);
    let indian = marks.first() == Some(&Mark::Comma)
        && (1..=2).contains(first)
        && !middle.is_empty()
        && middle.iter().all(|run| *run == 2);
    same && *last == 3 && !begins_with_zero && (thousands || indian)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_notations_that_all_cells_have() {
        // Whether the column can be read with a point and with a comma, and its marks between thousands then.
        let check = |cells: &[&str], point: Option<Option<char>>, comma: Option<Option<char>>| {
            let mut tally = Tally::default();
            cells.iter().for_each(|cell| tally.add(cell));
            let of = |decimal| tally.fits(decimal).then(|| tally.thousands(decimal));
            assert_eq!((of(Decimal::Point), of(Decimal::Comma)), (point, comma), "{cells:?}");
        };
        check(&["1", "20", "-3", ""], Some(None), Some(None));
        check(&["1.5", "20", "NA"], Some(None), None);
        check(&["1,5", "20"], None, Some(None));
        check(&["1,234", "20"], Some(Some(',')), Some(None));
        check(&["1.234", "12.345"], Some(None), Some(Some('.')));
        check(&["1,234", "0,567"], None, Some(None));
        check(&["1.234,56", "7"], None, Some(Some('.')));
        check(&["1 234", "12 345,5"], None, Some(Some(' ')));
        check(&["1\u{a0}234", "12"], Some(Some('\u{a0}')), Some(Some('\u{a0}')));
        check(&["1 234", "1'234"], None, None);
        check(&["1,5", "2.5"], None, None);
        check(&["192.168.1.1"], None, None);
        check(&["01.02.2024"], None, None);
        check(&["1e5", "2E-3", "1.5e+10"], Some(None), None);
        check(&["12345678901234567890"], Some(None), Some(None));
        check(&["1,5", "?"], None, Some(None));
    }
}
