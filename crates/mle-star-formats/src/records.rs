//! Rows of delimited text, in bounded memory.

use std::io::{self, Read};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// Bytes read at a time.
const CHUNK: usize = 64 << 10;
/// The most bytes of a row.
pub(crate) const LONGEST_ROW: usize = 64 << 20;
/// The most cells of a row.
pub(crate) const MOST_CELLS: usize = 1 << 20;

/// Reads rows of delimited UTF-8 text. Cells may be quoted; lines end with `\n`, `\r\n` or `\r`; empty lines are skipped.
pub(crate) struct Records<R> {
    input: R,
    core: Reader,
    chunk: Vec<u8>,
    from: usize,
    to: usize,
    end: End,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

/// Why rows cannot be read. Lines count from 1.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The file cannot be read.
    Io(io::Error),
    /// The row that begins near this line is too long.
    TooLong(u64),
    /// A quote in the row that begins at this line has no end.
    Unclosed(u64),
}

/// How much of the end of the file was handed to the parser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    /// A line end that is not in the file. It ends the last row unless a quote is open.
    Added,
    Done,
}

impl<R: Read> Records<R> {
    /// The rows of a text with this delimiter.
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            core: ReaderBuilder::new().delimiter(delimiter).build(),
            chunk: vec![0; CHUNK],
            from: 0,
            to: 0,
            end: End::NotYet,
            bytes: vec![0; 1 << 10],
            ends: vec![0; 64],
            count: 0,
        }
    }

    /// Reads the next row; its line, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, Fault> {
        let (mut bytes, mut ends) = (0, 0);
        loop {
            if self.from == self.to && self.end != End::Done {
                self.fill().map_err(Fault::Io)?;
            }
            let input = &self.chunk[self.from..self.to];
            let (result, read, written, ended) =
                self.core.read_record(input, &mut self.bytes[bytes..], &mut self.ends[ends..]);
            self.from += read;
            bytes += written;
            ends += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if bytes < LONGEST_ROW => {
                    self.bytes.resize((self.bytes.len() * 2).min(LONGEST_ROW), 0);
                }
                ReadRecordResult::OutputEndsFull if ends < MOST_CELLS => {
                    self.ends.resize((self.ends.len() * 2).min(MOST_CELLS), 0);
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(Fault::TooLong(self.begin(bytes, false)));
                }
                ReadRecordResult::Record if self.end == End::Done => {
                    return Err(Fault::Unclosed(self.begin(bytes, false)));
                }
                ReadRecordResult::Record => {
                    self.count = ends;
                    // The parser sees the line feed of `\r\n` when it reads the next row.
                    let has_feed = self.chunk.get(self.from.wrapping_sub(1)) == Some(&b'\n');
                    return Ok(Some(self.begin(bytes, has_feed)));
                }
                ReadRecordResult::End => return Ok(None),
            }
        }
    }

    /// The cells of the row that was read last.
    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.count).map(|at| {
            let from = if at == 0 { 0 } else { self.ends[at - 1] };
            &self.bytes[from..self.ends[at]]
        })
    }

    /// The line at which a row of so many bytes begins, if the parser has seen nothing but the row and its line feed.
    fn begin(&self, bytes: usize, has_feed: bool) -> u64 {
        let within = memchr::memchr_iter(b'\n', &self.bytes[..bytes]).count() as u64;
        self.core.line().saturating_sub(within + u64::from(has_feed)).max(1)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.from = 0;
        self.to = loop {
            match self.input.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if self.to == 0 && self.end == End::NotYet {
            self.chunk[0] = b'\n';
            self.to = 1;
            self.end = End::Added;
        } else if self.to == 0 {
            self.end = End::Done;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<Fault> {
        let mut records = Records::new(text.as_bytes(), b',');
        loop {
            match records.next() {
                Ok(Some(_)) => (),
                other => return other.err(),
            }
        }
    }

    #[test]
    fn open_quotes_and_long_rows_are_faults() {
        assert!(matches!(fault("a,b\n1,\"2\n3,4\n"), Some(Fault::Unclosed(2))));
        assert!(matches!(fault("a,b\n1,\""), Some(Fault::Unclosed(2))));
        let wide = ",".repeat(MOST_CELLS + 1);
        assert!(matches!(fault(&format!("a\n{wide}")), Some(Fault::TooLong(2))));
        let mut long = Records::new(b"a\n".chain(io::repeat(b'x')), b',');
        assert!(long.next().unwrap().is_some());
        assert!(matches!(long.next(), Err(Fault::TooLong(2))));
    }
}
