//! Reads a table row by row and keeps each row's text as it is in the file.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::io::{self, Read};
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::folder::Source;
use super::missing::{Words, is_missing};

/// The size of the block that is read at once.
const BLOCK: usize = 1 << 18;

/// The rows of a table, one after the other.
pub(super) struct Records<'a> {
    reader: Reader<Kept<'a>>,
    header: ByteRecord,
    header_text: Vec<u8>,
    row: ByteRecord,
    /// The number of rows read so far.
    rows: u64,
}

/// A text of which the last part is kept.
struct Kept<'a> {
    text: &'a mut dyn Read,
    kept: Vec<u8>,
    /// The position of `kept` in the text.
    from: u64,
    /// The beginning of the current row.
    row: u64,
}

/// Calls `take` with the rows of a table.
///
/// # Errors
/// The table cannot be read, or `take` fails.
pub(super) fn read<T>(
    data_dir: &Path,
    source: &Source,
    take: impl FnOnce(Records<'_>) -> io::Result<T>,
) -> io::Result<T> {
    take(Records::new(&mut source.open(data_dir)?)?)
}

/// A digest for grouping and counting values.
pub(super) fn digest(value: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// The value of a cell, as [`normal`] has it.
pub(super) fn value(row: &ByteRecord, position: usize, kept: Words) -> Option<&str> {
    normal(row.get(position)?, kept)
}

/// The text of a cell, with whole numbers normalized: pandas writes `12.0` for `12` in a column with missing values.
/// `None` if it is missing; words that are `kept` are not.
pub(super) fn normal(cell: &[u8], kept: Words) -> Option<&str> {
    let value = std::str::from_utf8(cell).ok()?.trim();
    let is_whole = |whole: &&str| whole.parse::<i64>().is_ok();
    (!is_missing(value, kept)).then(|| value.strip_suffix(".0").filter(is_whole).unwrap_or(value))
}

/// The position of a column in a header, if there is one. A column without a name is named by its position, as in a
/// profile. Blanks around names do not count.
pub(super) fn find(header: &ByteRecord, column: &str) -> Option<usize> {
    let unnamed = |at: usize| column.strip_prefix("Unnamed: ").is_some_and(|n| n == at.to_string());
    let is_named = |(at, name): (usize, &[u8])| name == column.as_bytes() || name.is_empty() && unnamed(at);
    let is_like = |name: &[u8]| str::from_utf8(name).is_ok_and(|name| name.trim() == column.trim());
    let exact = header.iter().enumerate().position(is_named);
    exact.or_else(|| header.iter().position(is_like))
}

/// The names of the columns as profiles have them.
pub(super) fn names(header: &ByteRecord) -> Vec<String> {
    let name = |(at, name): (usize, &[u8])| match name {
        [] => format!("Unnamed: {at}"),
        _ => String::from_utf8_lossy(name).into_owned(),
    };
    header.iter().enumerate().map(name).collect()
}

/// A table lacks a column.
pub(super) fn no_column(column: &str) -> io::Error {
    io::Error::other(format!("it has no column \"{column}\""))
}

impl<'a> Records<'a> {
    /// The rows of this text, which begins with a header.
    ///
    /// # Errors
    /// The header cannot be read.
    pub(super) fn new(text: &'a mut dyn Read) -> io::Result<Self> {
        let kept = Kept { text, kept: Vec::new(), from: 0, row: 0 };
        let mut reader = ReaderBuilder::new().buffer_capacity(BLOCK).has_headers(false).from_reader(kept);
        let mut header = ByteRecord::new();
        reader.read_byte_record(&mut header)?;
        let end = reader.position().byte();
        let header_text = without_line_ends(reader.get_ref().between(0, end)).to_vec();
        Ok(Self { reader, header, header_text, row: ByteRecord::new(), rows: 0 })
    }

    /// The position of a column. A column without a name is named by its position, as in a profile.
    ///
    /// # Errors
    /// There is no such column.
    pub(super) fn position(&self, column: &str) -> io::Result<usize> {
        self.find(column).ok_or_else(|| no_column(column))
    }

    /// The position of a column, if there is one. Blanks around its name do not count.
    pub(super) fn find(&self, column: &str) -> Option<usize> {
        find(&self.header, column)
    }

    /// The names of the columns as profiles have them.
    pub(super) fn names(&self) -> Vec<String> {
        names(&self.header)
    }

    /// The cells of the header.
    pub(super) fn header(&self) -> &ByteRecord {
        &self.header
    }

    /// The number of rows read so far.
    pub(super) fn count(&self) -> u64 {
        self.rows
    }

    /// Goes to the next row. Returns whether there is one.
    ///
    /// # Errors
    /// The text cannot be read.
    pub(super) fn next(&mut self) -> io::Result<bool> {
        let start = self.reader.position().byte();
        self.reader.get_mut().row = start;
        let is_row = self.reader.read_byte_record(&mut self.row)?;
        self.rows += u64::from(is_row);
        Ok(is_row)
    }

    /// The current row.
    pub(super) fn row(&self) -> &ByteRecord {
        &self.row
    }

    /// The number of the current row, from 0.
    pub(super) fn number(&self) -> u64 {
        self.rows.saturating_sub(1)
    }

    /// The text of the header, without the end of the line.
    pub(super) fn header_text(&self) -> &[u8] {
        &self.header_text
    }

    /// Where the text of the current row is in the file, possibly with ends of lines before and after it.
    pub(super) fn span(&self) -> (u64, u64) {
        (self.reader.get_ref().row, self.reader.position().byte())
    }
}

impl Kept<'_> {
    fn between(&self, start: u64, end: u64) -> &[u8] {
        let at = |position: u64| usize::try_from(position.saturating_sub(self.from)).unwrap_or(usize::MAX);
        self.kept.get(at(start)..at(end)).unwrap_or_default()
    }
}

impl Read for Kept<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Everything before the current row has been used.
        let used = usize::try_from(self.row - self.from).unwrap_or(0).min(self.kept.len());
        self.kept.drain(..used);
        self.from += used as u64;
        let read = self.text.read(buffer)?;
        self.kept.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// A row's text alone. The reader leaves a part of a line end, or empty lines, before the row that follows.
pub(super) fn without_line_ends(mut text: &[u8]) -> &[u8] {
    while let Some((b'\r' | b'\n', rest)) = text.split_first() {
        text = rest;
    }
    while let Some((b'\r' | b'\n', rest)) = text.split_last() {
        text = rest;
    }
    text
}
