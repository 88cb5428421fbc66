//! Writes the submission in the format of the sample submission that the user gave.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Writer};
use serde::{Deserialize, Serialize};

/// How the user's sample submission differs from the one that scripts see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// An unnamed first column that counts rows: its name, and the first number.
    index: Option<(String, i64)>,
    columns: Vec<Field>,
}

/// A column of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Field {
    /// Its name for scripts.
    name: String,
    /// Its name for the user.
    given: String,
    /// Whether its numbers have decimal commas.
    has_comma: bool,
}

impl Submission {
    /// Gives the column that scripts call `from` the name `to` for them.
    pub fn renamed(mut self, from: &str, to: &str) -> Self {
        self.columns
            .iter_mut()
            .filter(|field| field.name == from)
            .for_each(|field| to.clone_into(&mut field.name));
        self
    }

    /// Writes the submission of a script as the user's sample has it: with its header, its unnamed column and its decimal
    /// commas. Cells are separated by commas.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn write(&self, from: &Path, into: &Path) -> io::Result<()> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(BufReader::new(File::open(from)?));
        let fields: Vec<Option<&Field>> = {
            let header = reader.headers()?;
            header.iter().map(|name| self.columns.iter().find(|field| field.name == name)).collect()
        };
        let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let mut out = Writer::from_writer(BufWriter::new(File::create(into)?));
        let given = header.iter().zip(&fields).map(|(name, field)| field.map_or(name, |field| &field.given));
        out.write_record(self.index.iter().map(|(name, _)| name).chain(given))?;
        let (mut row, mut number) = (StringRecord::new(), self.index.as_ref().map_or(0, |(_, from)| *from));
        while reader.read_record(&mut row)? {
            if self.index.is_some() {
                out.write_field(number.to_string())?;
            }
            for (at, cell) in row.iter().enumerate() {
                let has_comma =
                    fields.get(at).is_some_and(|field| field.is_some_and(|field| field.has_comma));
                match has_comma && cell.trim().parse::<f64>().is_ok() {
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
