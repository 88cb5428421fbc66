//! How a file writes its table: delimiter, encoding, line ends, and the marks in its numbers.

use crate::numbers::{Decimal, Tally};

/// The fewest numbers with a mark from which those without one say something.
const ENOUGH: u64 = 10;

/// How a file writes its table. Typed formats, such as Parquet, have the default value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notation {
    /// The character between cells; `None` for a format that is not delimited text.
    pub delimiter: Option<char>,
    /// The encoding of the text.
    pub encoding: Encoding,
    /// What ends a line.
    pub line_end: LineEnd,
    /// The columns whose numbers have a point, a comma, or a mark between thousands, in their order.
    pub numbers: Vec<NumberColumn>,
    /// The columns of numbers that can be read in two ways. Their cells stay as they are; a caller should refuse them.
    pub ambiguous: Vec<AmbiguousColumn>,
}

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 without a byte order mark; ASCII, too.
    #[default]
    Utf8,
    /// UTF-8 with a byte order mark.
    Utf8Mark,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Windows-1252, which contains the characters of Latin-1.
    Windows1252,
}

/// What ends a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`
    Cr,
}

/// A column whose numbers have marks, and how they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberColumn {
    /// The name of the column as in the file.
    pub name: String,
    /// Its position, from 0.
    pub at: usize,
    /// The decimal mark; `None` if no number has a point or a comma.
    pub decimal: Option<Decimal>,
    /// The mark between thousands.
    pub thousands: Option<char>,
    /// Whether cells are rewritten: they have another notation than `1234.5`.
    pub is_translated: bool,
    /// The first number with a mark, as in the file.
    pub example: String,
}

/// A column whose numbers can be read in two ways, such as `1,234`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousColumn {
    /// The name of the column as in the file.
    pub name: String,
    /// Its position, from 0.
    pub at: usize,
    /// The first number with a mark, as in the file.
    pub example: String,
    /// The number if the mark is the decimal mark, such as `1.234`; if all commas must stand between thousands, `1234567`.
    pub as_decimal: String,
    /// What it is otherwise: the number if the mark stands between thousands, such as `1234`; `the labels 1 and 5` for
    /// cells that may be lists.
    pub otherwise: String,
}

/// How it is said that cells may be lists.
const LABELS: &str = "the labels";

impl AmbiguousColumn {
    /// Whether cells may be lists of labels.
    pub fn may_be_lists(&self) -> bool {
        self.otherwise.starts_with(LABELS)
    }
}

impl Notation {
    /// The columns of which cells are rewritten.
    pub fn translated(&self) -> impl Iterator<Item = &NumberColumn> {
        self.numbers.iter().filter(|column| column.is_translated)
    }

    fn column(&self, name: &str) -> Option<&NumberColumn> {
        let key = |name: &str| name.trim().to_lowercase();
        self.numbers.iter().find(|column| key(&column.name) == key(name))
    }
}

impl Encoding {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf8Mark => "UTF-8 with a byte order mark",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Windows1252 => "Windows-1252 (Latin-1)",
        }
    }
}

impl LineEnd {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }
}

/// Decides how the numbers of all columns are read. A column alone decides where only one decimal mark fits all of its
/// cells. Where both fit (`1,234`), these decide, in this order: the same column of a table `like` this one, the other
/// columns, those of `like`, short numbers without a mark in the column itself, the delimiter. Columns that may hold lists
/// of labels (`2,7`) are text where other columns have decimal points or a blank is between the labels, numbers where others
/// have decimal commas, and undecided where none has either.
pub(crate) fn decide(
    names: &[String],
    tallies: &[Tally],
    delimiter: char,
    like: Option<&Notation>,
) -> Notation {
    let marked = || names.iter().zip(tallies).enumerate().filter(|(_, (_, tally))| tally.is_marked());
    let may_be_decimals = |tally: &Tally| tally.has_comma() && tally.fits(Decimal::Comma);
    let may_be_lists = |tally: &Tally| tally.may_be_lists() && !(delimiter == ';' && may_be_decimals(tally));
    let sure = marked().filter(|(_, (_, tally))| !may_be_lists(tally));
    let mut seen: Vec<Decimal> = sure.filter_map(|(_, (_, tally))| certain(tally)).collect();
    if seen.is_empty() {
        seen.extend(like.into_iter().flat_map(|like| &like.numbers).filter_map(|column| column.decimal));
    }
    let mut notation = Notation { delimiter: Some(delimiter), ..Notation::default() };
    for (at, (name, tally)) in marked() {
        if may_be_lists(tally) && !(may_be_decimals(tally) && seen.contains(&Decimal::Comma)) {
            if tally.has_comma() && !seen.contains(&Decimal::Point) {
                notation.ambiguous.push(ambiguous(name, at, tally));
            }
            continue;
        }
        let known = like.and_then(|like| like.column(name)).and_then(|column| column.decimal);
        let decimal = certain(tally)
            .or(known.filter(|decimal| tally.fits(*decimal)))
            .or_else(|| of_others(tally, &seen))
            .or_else(|| {
                if seen.is_empty() { of_itself(tally).or(of_delimiter(tally, delimiter)) } else { None }
            });
        let is_free = !tally.has_decimal_or_comma();
        match decimal.or(is_free.then_some(Decimal::Point)) {
            Some(decimal) => notation.numbers.push(read(name, at, tally, decimal)),
            None => notation.ambiguous.push(ambiguous(name, at, tally)),
        }
    }
    notation
}

/// The decimal mark, if only one fits and the column shows it.
fn certain(tally: &Tally) -> Option<Decimal> {
    let shown = tally.has_decimal_or_comma();
    match (tally.fits(Decimal::Point), tally.fits(Decimal::Comma)) {
        (true, false) if shown => Some(Decimal::Point),
        (false, true) if shown => Some(Decimal::Comma),
        _ => None,
    }
}

/// The decimal mark that all other columns have. In a file that has both, a point stays a decimal point.
fn of_others(tally: &Tally, seen: &[Decimal]) -> Option<Decimal> {
    match (seen.contains(&Decimal::Point), seen.contains(&Decimal::Comma)) {
        (true, false) => Some(Decimal::Point),
        (false, true) => Some(Decimal::Comma),
        (true, true) if !tally.has_comma() => Some(Decimal::Point),
        _ => None,
    }
}

/// Where all numbers below 1000 have no mark and all others have one, it stands between thousands.
fn of_itself(tally: &Tally) -> Option<Decimal> {
    let is_grouped = tally.marked >= ENOUGH && tally.unmarked > 0 && !tally.has_long;
    is_grouped.then_some(if tally.has_comma() { Decimal::Point } else { Decimal::Comma })
}

/// Programs separate cells by semicolons where the comma is the decimal mark, and by commas where it is not.
fn of_delimiter(tally: &Tally, delimiter: char) -> Option<Decimal> {
    match (delimiter, tally.has_comma()) {
        (';', true) => Some(Decimal::Comma),
        (',', true) => Some(Decimal::Point),
        (';', false) | (_, true) => None,
        (_, false) => Some(Decimal::Point),
    }
}

fn read(name: &str, at: usize, tally: &Tally, decimal: Decimal) -> NumberColumn {
    let thousands = tally.thousands(decimal);
    let is_translated = thousands.is_some() || (decimal == Decimal::Comma && tally.has_decimal_or_comma());
    NumberColumn {
        name: name.to_owned(),
        at,
        decimal: tally.has_decimal_or_comma().then_some(decimal),
        thousands,
        is_translated,
        example: tally.example.clone().unwrap_or_default(),
    }
}

fn ambiguous(name: &str, at: usize, tally: &Tally) -> AmbiguousColumn {
    let example = tally.example.clone().unwrap_or_default();
    let as_thousands = example.replace([',', '.'], "");
    let is_decimal = tally.fits(Decimal::Comma) || !tally.has_comma();
    AmbiguousColumn {
        name: name.to_owned(),
        at,
        as_decimal: if is_decimal { example.replace(',', ".") } else { as_thousands.clone() },
        otherwise: if tally.may_be_lists() {
            format!("{LABELS} {}", example.replace(',', " and "))
        } else {
            as_thousands
        },
        example,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(columns: &[&[&str]], delimiter: char) -> Notation {
        let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        let tallies: Vec<Tally> = columns
            .iter()
            .map(|cells| {
                let mut tally = Tally::default();
                cells.iter().for_each(|cell| tally.add(cell));
                tally
            })
            .collect();
        decide(&names, &tallies, delimiter, None)
    }

    /// What is said of each column with marks: decimal mark, mark between thousands, `!` if it is ambiguous.
    fn words(notation: &Notation) -> String {
        let number = |column: &NumberColumn| {
            let decimal = column.decimal.map(|decimal| decimal.to_string()).unwrap_or_default();
            format!("c{} {decimal}{}", column.at, column.thousands.map(String::from).unwrap_or_default())
        };
        let mut words: Vec<String> = notation.numbers.iter().map(number).collect();
        words.extend(notation.ambiguous.iter().map(|column| format!("c{} !", column.at)));
        words.sort();
        words.join(" | ")
    }

    #[test]
    fn columns_that_can_be_read_in_two_ways_follow_the_others() {
        let check = |columns: &[&[&str]], delimiter: char, expected: &str| {
            assert_eq!(words(&of(columns, delimiter)), expected, "{columns:?} {delimiter}");
        };
        let grouped: Vec<&str> = std::iter::repeat_n("1,234", 12).chain(["999", "7"]).collect();
        check(&[&["1", "2"], &["a", "1,5"]], ',', "");
        check(&[&["1,234"], &["0.5"]], '\t', "c0 ., | c1 .");
        check(&[&["1,234"], &["0,5"]], '\t', "c0 , | c1 ,");
        check(&[&["1,234"]], '\t', "c0 !");
        check(&[&["1,234"]], ',', "c0 .,");
        check(&[&["1,234"]], ';', "c0 ,");
        check(&[&grouped], '\t', "c0 .,");
        check(&[&["1.234"]], ';', "c0 !");
        check(&[&["1.234"], &["0,5"]], ';', "c0 ,. | c1 ,");
        check(&[&["1,234"], &["7.25"], &["1,5"]], ',', "c0 ! | c1 . | c2 ,");
        check(&[&["1 234", "5"]], ',', "c0  ");
        let lists = ["1,5", "7", "2,7", "2,9", "1,3", "4,8"];
        check(&[&lists, &["x"]], ',', "c0 !");
        check(&[&lists], ';', "c0 ,");
        let codes = ["250 401", "414", "401 585 272", "250 272", "414 401", "585 250", "272"];
        check(&[&codes], ',', "");
        let codes = codes.map(|code| code.replace(' ', ","));
        let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
        check(&[&codes], ',', "c0 !");
        check(&[&["250,401", "414,585", "315,000", "120,500", "999,000", "99,000"]], ',', "c0 .,");
    }
}
