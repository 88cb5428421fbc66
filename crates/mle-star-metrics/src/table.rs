//! Tables of text that are read row by row, in bounded memory, and the meaning of their cells.

use std::borrow::Cow;
use std::io::{self, Read};

use blake3::hash;
use csv::{ErrorKind, Position, Reader, StringRecord};

/// The longest row, in bytes.
const LONGEST_ROW: u64 = 16 << 20;
/// The longest part of a cell that an error shows, in characters.
const LONGEST_SHOWN: usize = 40;

/// A CSV table; the caller puts the name of the file before the texts of its errors.
pub(crate) struct Table<R> {
    reader: Reader<Bounded<R>>,
    columns: Vec<String>,
}

/// A text that is read up to a limit.
struct Bounded<R> {
    text: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.text.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl<R: Read> Table<R> {
    /// Reads the header, which may be as long as a row.
    pub(crate) fn open(text: R) -> Result<Self, String> {
        let mut reader = Reader::from_reader(Bounded { text, left: LONGEST_ROW });
        let columns = reader.headers().map_err(|error| sentence(&error))?;
        let columns: Vec<String> = columns.iter().map(|name| name.trim().to_owned()).collect();
        if columns.is_empty() {
            return Err("the file is empty".to_owned());
        }
        Ok(Self { reader, columns })
    }

    /// The names of the columns.
    pub(crate) fn header(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// The position of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name.trim())
    }

    /// The name of the column at this position.
    pub(crate) fn name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", String::as_str)
    }

    /// The positions of columns.
    pub(crate) fn columns(&self, names: &[&str]) -> Result<Vec<usize>, String> {
        let missing: Vec<&str> = names.iter().copied().filter(|name| self.column(name).is_none()).collect();
        if !missing.is_empty() {
            let (wanted, found) = (listed(&missing), listed(&self.columns));
            return Err(format!("the file lacks these columns: {wanted}; it has these: {found}"));
        }
        Ok(names.iter().filter_map(|name| self.column(name)).collect())
    }

    /// Reads the next row; `false` at the end.
    pub(crate) fn read(&mut self, row: &mut StringRecord) -> Result<bool, String> {
        self.reader.get_mut().left = LONGEST_ROW;
        self.reader.read_record(row).map_err(|error| sentence(&error))
    }
}

fn sentence(error: &csv::Error) -> String {
    let row = error.position().map_or(0, Position::record);
    match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("row {row} has {len} fields, but the header has {expected_len}")
        }
        ErrorKind::Utf8 { .. } => format!("row {row} is not UTF-8 text"),
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            format!("a row is longer than {} MiB", LONGEST_ROW >> 20)
        }
        _ => format!("the file cannot be read: {error}"),
    }
}

/// The key of a row with this ID: a hash, so that millions of rows need little memory. Of a billion IDs, two have the same with a
/// probability of 3 %.
pub(crate) fn key(id: &str) -> u64 {
    let id = id.trim();
    let whole = whole_number(id);
    let hash = hash(whole.as_deref().unwrap_or(id).as_bytes());
    hash.as_bytes().iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

/// The common form of a label, so that `1`, `1.0` and ` 1` agree, and `True` and `true`.
///
/// Blanks around it do not count. A finite number is written in the shortest way. `True` and `False` become lower
/// case in any spelling. Any other text stays as it is.
pub(crate) fn canonical(label: &str) -> Cow<'_, str> {
    let label = label.trim();
    if let Some(whole) = whole_number(label) {
        return whole;
    }
    match label.parse::<f64>() {
        Ok(0.0) => "0".into(),
        Ok(number) if number.is_finite() => number.to_string().into(),
        _ if label.eq_ignore_ascii_case("true") || label.eq_ignore_ascii_case("false") => {
            label.to_ascii_lowercase().into()
        }
        _ => label.into(),
    }
}

/// The digits of a whole number of any length, without leading zeros and without a fraction of zeros.
fn whole_number(text: &str) -> Option<Cow<'_, str>> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits || fraction.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    Some(match (sign, whole) {
        (_, "") => "0".into(),
        ("-", whole) => format!("-{whole}").into(),
        (_, whole) => whole.into(),
    })
}

/// Whether a cell is empty or one of the words that pandas reads as missing.
pub(crate) fn is_missing(cell: &str) -> bool {
    const WORDS: [&str; 19] = [
        "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
        "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
    ];
    WORDS.contains(&cell.trim())
}

/// Names for an error: the first few, in backticks.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let first: Vec<String> = names.iter().take(5).map(|name| shown(name.as_ref())).collect();
    let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
    first.join(", ") + &more
}

/// A cell for an error, shortened, in backticks.
pub(crate) fn shown(cell: &str) -> String {
    let mut letters = cell.chars();
    let start: String = letters.by_ref().take(LONGEST_SHOWN).flat_map(char::escape_debug).collect();
    let rest = if letters.next().is_some() { "…" } else { "" };
    format!("`{start}{rest}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_labels_have_one_form() {
        let check = |label: &str, expected: &str| assert_eq!(canonical(label), expected, "{label}");
        check("1", "1");
        check("1.0", "1");
        check("+01", "1");
        check("-0.0", "0");
        check("1e2", "100");
        check("123456789012345678901234567890", "123456789012345678901234567890");
        check("True", "true");
        check("FALSE", "false");
    }

    #[test]
    fn equal_ids_have_one_key() {
        assert_eq!(key("7"), key(" 7.0"));
        assert_eq!(key("007"), key("7"));
        assert_ne!(key("7"), key("8"));
        assert_ne!(key("1e2"), key("100"));
        assert_ne!(key("a"), key("A"));
    }
}
