//! Converts a script's submission to the format of the sample submission that the user gave.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Writer};
use serde::{Deserialize, Serialize};

/// How the user's sample submission differs from the one that scripts see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmissionFormat {
    /// An unnamed first column that counts rows: its name, and the first number.
    #[serde(rename = "index")]
    row_number_column: Option<(String, i64)>,
    columns: Vec<SubmissionColumn>,
}

/// A column of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SubmissionColumn {
    #[serde(rename = "name")]
    script_name: String,
    #[serde(rename = "given")]
    user_name: String,
    #[serde(rename = "has_comma")]
    has_decimal_comma: bool,
}

impl SubmissionFormat {
    /// Writes the submission of a script as the user's sample has it: with its header, its unnamed column and its decimal
    /// commas. Cells are separated by commas.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn convert(&self, from: &Path, into: &Path) -> io::Result<()> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(BufReader::new(File::open(from)?));
        let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let column = |name: &String| self.columns.iter().find(|column| column.script_name == *name);
        let columns: Vec<Option<&SubmissionColumn>> = header.iter().map(column).collect();
        let mut out = Writer::from_writer(BufWriter::new(File::create(into)?));
        let user_names =
            header.iter().zip(&columns).map(|(name, column)| column.map_or(name, |column| &column.user_name));
        out.write_record(self.row_number_column.iter().map(|(name, _)| name).chain(user_names))?;
        let (mut row, mut number) =
            (StringRecord::new(), self.row_number_column.as_ref().map_or(0, |(_, from)| *from));
        while reader.read_record(&mut row)? {
            if self.row_number_column.is_some() {
                out.write_field(number.to_string())?;
            }
            for (at, cell) in row.iter().enumerate() {
                let has_decimal_comma = columns
                    .get(at)
                    .is_some_and(|column| column.is_some_and(|column| column.has_decimal_comma));
                match has_decimal_comma && cell.trim().parse::<f64>().is_ok() {
                    true => out.write_field(cell.replace('.', ","))?,
                    false => out.write_field(cell)?,
                }
            }
            out.write_record(None::<&[u8]>)?;
            number += 1;
        }
        out.flush()?;
        out.into_inner().map_err(|error| io::Error::other(error.to_string()))?.flush()
    }
}
