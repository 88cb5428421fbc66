//! The delimiter of a text file.

use crate::records::Records;

/// The rows that are compared.
const ROWS: usize = 200;
/// In the order in which they are preferred.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How cells and rows of a text are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    /// Whether the first line only names the delimiter (`sep=;`), as Excel reads it.
    pub(crate) names_itself: bool,
}

impl Dialect {
    /// The dialect of a text, by its first part. `is_whole` says that there is no further part; `preferred` is the
    /// delimiter that the file's name says.
    ///
    /// The delimiter is the one with which most rows have as many cells as the header, if it is in the header at all;
    /// among equals the one with the most cells.
    pub(crate) fn of(head: &[u8], is_whole: bool, preferred: Option<u8>) -> Self {
        if let Some(delimiter) = named(head) {
            return Self { delimiter, names_itself: true };
        }
        let order = preferred.into_iter().chain(DELIMITERS);
        let mut best: Option<(u8, (usize, usize))> = None;
        for delimiter in order {
            let rank = rank(head, is_whole, delimiter);
            if rank.1 > 1 && best.is_none_or(|(_, best)| rank > best) {
                best = Some((delimiter, rank));
            }
        }
        let delimiter = best.map_or(preferred.unwrap_or(b','), |(delimiter, _)| delimiter);
        Self { delimiter, names_itself: false }
    }
}

fn named(head: &[u8]) -> Option<u8> {
    let line = head.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] => Some(*delimiter),
        _ => None,
    }
}

/// The share of rows, in percent, that have as many cells as the header, and the cells of the header.
fn rank(head: &[u8], is_whole: bool, delimiter: u8) -> (usize, usize) {
    let mut records = Records::new(head, delimiter);
    let mut counts = Vec::new();
    while counts.len() < ROWS {
        let Ok(Some(_)) = records.next() else { break };
        counts.push(records.cells().len());
    }
    // The last row may be cut off.
    if !is_whole && counts.len() < ROWS && counts.len() > 1 {
        counts.pop();
    }
    let Some((header, rows)) = counts.split_first() else { return (0, 0) };
    let same = rows.iter().filter(|count| *count == header).count();
    (if rows.is_empty() { 100 } else { 100 * same / rows.len() }, *header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_found() {
        let check = |text: &str, expected: char| {
            let found = Dialect::of(text.as_bytes(), true, None);
            assert_eq!(char::from(found.delimiter), expected, "{text:?}");
        };
        check("a,b\n1,2\n", ',');
        check("a;b\n1,5;2\n3;4,5\n", ';');
        check("a\tb\n1,5\t2;3\n", '\t');
        check("a,b|c\n1,x|y\n", ',');
        check("text\nhello, world\none; two; three\n", ',');
        check("a,b\n\"1;2\",3\n\"4;5;6\",7\n", ',');
        check("a,b,c\n1,2,3\n4,5\n6,7,8\n", ',');
        check("a;\"b\nc\";d\n1;2;3\n", ';');
        check("", ',');
        check("name;note\nx;a, b, c\ny;d\n", ';');
        check("sep=|\na|b\n1|2\n", '|');
    }
}
