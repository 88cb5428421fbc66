//! The texts of rows, read from the file again by their positions.

use std::fs::File;
use std::io::{self, BufReader, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::Table;
use crate::records::without_line_ends;

/// The bytes that are read at once: chosen rows may lie far apart.
const BLOCK: usize = 1 << 10;

/// The texts of the rows of a table, one after the other.
pub(crate) struct RowTexts<'a> {
    table: &'a Table,
    text: &'a mut BufReader<File>,
    at: u64,
    row: usize,
    line: Vec<u8>,
}

/// Chosen rows of a table, one after the other.
pub(crate) struct PickedRows<'a> {
    reader: Reader<Picked<'a>>,
    numbers: std::vec::IntoIter<u64>,
    row: ByteRecord,
}

/// The text of a table with the header and the chosen rows alone.
struct Picked<'a> {
    texts: RowTexts<'a>,
    wanted: std::vec::IntoIter<u64>,
    line: Vec<u8>,
    sent: usize,
}

impl Table {
    /// Calls `take` with the texts of all rows.
    ///
    /// # Errors
    /// The file cannot be read or is another one, or `take` fails.
    pub(crate) fn texts<T>(&self, take: impl FnOnce(RowTexts<'_>) -> io::Result<T>) -> io::Result<T> {
        self.check_unchanged()?;
        take(RowTexts::new(self, &mut BufReader::with_capacity(BLOCK, self.source.open(&self.folder)?)))
    }

    /// Calls `take` with the rows of these numbers, which rise.
    ///
    /// # Errors
    /// The file cannot be read or is another one, or `take` fails.
    pub(crate) fn picked<T>(
        &self,
        wanted: Vec<u64>,
        take: impl FnOnce(&mut PickedRows<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.texts(|texts| {
            let numbers = wanted.clone().into_iter();
            let line = [self.header_text.as_slice(), b"\n"].concat();
            let picked = Picked { texts, wanted: wanted.into_iter(), line, sent: 0 };
            let reader = ReaderBuilder::new().buffer_capacity(BLOCK).from_reader(picked);
            take(&mut PickedRows { reader, numbers, row: ByteRecord::new() })
        })
    }
}

impl<'a> RowTexts<'a> {
    fn new(table: &'a Table, text: &'a mut BufReader<File>) -> Self {
        Self { table, text, at: 0, row: 0, line: Vec::new() }
    }

    /// The text of the next row, without the end of the line; `None` after the last one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let position = |row: usize| self.table.starts.get(row).and_then(|at| u64::try_from(at).ok());
        let (Some(start), Some(end)) = (position(self.row), position(self.row + 1)) else { return Ok(None) };
        let skipped = start.saturating_sub(self.at);
        self.text.seek_relative(i64::try_from(skipped).map_err(io::Error::other)?)?;
        self.line.resize(usize::try_from(end - start).map_err(io::Error::other)?, 0);
        self.text.read_exact(&mut self.line)?;
        (self.at, self.row) = (end, self.row + 1);
        Ok(Some(without_line_ends(&self.line)))
    }

    /// The text of a later row.
    fn later(&mut self, row: u64) -> io::Result<Option<&[u8]>> {
        self.row = usize::try_from(row).map_err(io::Error::other)?;
        self.next()
    }
}

impl PickedRows<'_> {
    /// The next row with its number.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, &ByteRecord)>> {
        let Some(number) = self.numbers.next() else { return Ok(None) };
        Ok(self.reader.read_byte_record(&mut self.row)?.then_some((number, &self.row)))
    }
}

impl Read for Picked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.sent == self.line.len() {
            let Some(row) = self.wanted.next() else { return Ok(0) };
            let Some(text) = self.texts.later(row)? else { return Ok(0) };
            self.line.clear();
            self.line.extend_from_slice(text);
            self.line.push(b'\n');
            self.sent = 0;
        }
        let read = (&self.line[self.sent..]).read(buffer)?;
        self.sent += read;
        Ok(read)
    }
}
