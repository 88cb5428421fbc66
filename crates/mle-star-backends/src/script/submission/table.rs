//! Reads the CSV tables of samples and submissions row by row, in bounded memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use csv::{Reader, StringRecord};

/// The longest row, in bytes. One with all the pixels of a large image has a few MiB.
const LONGEST_ROW: u64 = 16 << 20;
/// By how much the header may be longer than the sample's, in bytes.
const LONGEST_HEADER: u64 = 1 << 20;

/// Why a CSV table cannot be read.
pub(super) struct Unreadable(pub(super) String);

impl Unreadable {
    /// The reason, after words that say which file it is about: `the sample submission: row 3 has …`.
    pub(super) fn text(self, whose: &str) -> String {
        format!("{whose}{}", self.0)
    }
}

impl From<csv::Error> for Unreadable {
    fn from(error: csv::Error) -> Self {
        let row = error.position().map_or(0, csv::Position::record);
        Self(match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("row {row} has {len} fields, the header has {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => format!("row {row} is not UTF-8 text"),
            _ => format!("the file cannot be read: {error}"),
        })
    }
}

/// A table that is read row by row, with a size limit for rows.
pub(super) struct Table {
    reader: Reader<Bounded>,
    /// The column names, trimmed.
    pub(super) columns: Vec<String>,
    pub(super) header_bytes: u64,
    /// In bytes.
    longest_row: u64,
}

/// A file that is read up to a limit.
struct Bounded {
    file: File,
    /// How many bytes may still be read.
    left: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Table {
    /// Opens the sample. It comes from the user, so it has no limits.
    pub(super) fn of_sample(file: &Path) -> Result<Self, Unreadable> {
        Self::open(file, u64::MAX, u64::MAX)
    }

    /// Opens a submission; the sample's header has `sample_header` bytes.
    pub(super) fn of_submission(file: &Path, sample_header: u64) -> Result<Self, Unreadable> {
        Self::open(file, LONGEST_HEADER + sample_header, LONGEST_ROW)
    }

    fn open(file: &Path, longest_header: u64, longest_row: u64) -> Result<Self, Unreadable> {
        let file = File::open(file).map_err(csv::Error::from)?;
        let mut reader = Reader::from_reader(Bounded { file, left: longest_header });
        let columns = match reader.headers() {
            Err(error) if is_too_long(&error) => return Err(too_long("the header", longest_header)),
            headers => headers?.iter().map(|name| name.trim().to_owned()).collect::<Vec<_>>(),
        };
        if columns.is_empty() {
            return Err(Unreadable("the file is empty".to_owned()));
        }
        let header_bytes = reader.position().byte();
        Ok(Self { reader, columns, header_bytes, longest_row })
    }

    /// Reads the next row into `record`; `false` at the end.
    pub(super) fn read(&mut self, record: &mut StringRecord) -> Result<bool, Unreadable> {
        self.reader.get_mut().left = self.longest_row;
        let row = self.reader.position().record();
        match self.reader.read_record(record) {
            Err(error) if is_too_long(&error) => Err(too_long(&format!("row {row}"), self.longest_row)),
            read => Ok(read?),
        }
    }
}

fn is_too_long(error: &csv::Error) -> bool {
    matches!(error.kind(), csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge)
}

fn too_long(what: &str, most: u64) -> Unreadable {
    Unreadable(format!("{what} is longer than {} MiB", most >> 20))
}
