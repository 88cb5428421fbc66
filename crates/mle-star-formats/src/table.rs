//! A table in a file.

use std::fmt;
use std::path::{Path, PathBuf};

use csv::StringRecord;
use mle_star_domain::trouble::Trouble;

use crate::detect::Detected;
use crate::formats::Format;
use crate::notation::{Encoding, LineEnd, Notation, NumberColumn};
use crate::numbers::{Decimal, translate};
use crate::packing::Packing;
use crate::shape::{Column, Shape};
use crate::trouble::quoted;

/// What is called for each row. An error ends the reading.
pub type Visit<'a> = dyn FnMut(&StringRecord) -> Result<(), Trouble> + 'a;

/// How a file is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The name of the sheet of a workbook; `None` for its first one. Other formats ignore it.
    pub sheet: Option<&'a str>,
    /// The notation of another table with the same columns. It decides what this file leaves open.
    pub like: Option<&'a Notation>,
}

/// A table in a file whose header, notation and size are known. Its rows are read from the file each time.
#[derive(Debug)]
pub struct Table {
    pub(crate) path: PathBuf,
    pub(crate) detected: Detected,
    pub(crate) shape: Shape,
    pub(crate) notation: Notation,
    pub(crate) source: Box<dyn Source>,
}

/// What the rows of a table are read from: the reader of a format.
pub(crate) trait Source: fmt::Debug + Send + Sync {
    /// Calls `visit` with the cells of each row of `table`, which was opened with this reader, before numbers are
    /// translated. A reader that can read some columns alone reads the `chosen` ones, in their order; others read all.
    ///
    /// # Errors
    /// See [`Table::each_row`].
    fn each_row(&self, table: &Table, chosen: Option<&[usize]>, visit: &mut Visit<'_>)
    -> Result<(), Trouble>;

    /// Whether some row has empty cells after those of the header, or some line nothing but blanks.
    fn is_irregular(&self) -> bool {
        false
    }
}

impl Table {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format of the file and how it is packed.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// The columns, in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.shape.columns
    }

    /// How the file writes the table.
    pub fn notation(&self) -> &Notation {
        &self.notation
    }

    /// The number of rows, without the header and without empty rows at the end.
    pub fn row_count(&self) -> u64 {
        self.shape.rows
    }

    /// Whether the file is what [`write_csv`](crate::write_csv) would write, except that lines may end with `\r\n`, that
    /// more cells may be quoted and that there may be empty lines: comma-separated UTF-8 without a byte order mark.
    pub fn is_plain(&self) -> bool {
        let notation = &self.notation;
        let as_it_is = notation.delimiter == Some(',')
            && notation.encoding == Encoding::Utf8
            && notation.line_end != LineEnd::Cr
            && notation.translated().next().is_none();
        let nothing_left_out = self.shape.empty_columns == 0
            && self.shape.empty_rows == 0
            && !self.shape.has_row_names
            && !self.source.is_irregular();
        self.detected.format == Format::Delimited
            && self.detected.packing == Packing::None
            && as_it_is
            && nothing_left_out
    }

    /// Sentences for people about how the file was read: what is unusual about it, what was translated or left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let notation = &self.notation;
        let mut unusual = Vec::new();
        match notation.delimiter {
            None | Some(',') => {}
            Some('\t') => unusual.push("tab-separated".to_owned()),
            Some(other) => unusual.push(format!("separated by `{other}`")),
        }
        if notation.encoding != Encoding::Utf8 {
            unusual.push(notation.encoding.name().to_owned());
        }
        if !unusual.is_empty() {
            notes.push(format!("the text is {}", unusual.join(", ")));
        }
        if notation.line_end == LineEnd::Cr {
            notes.push("lines end with CR".to_owned());
        }
        notes.extend(notation.translated().map(|column| {
            let thousands = match column.thousands {
                Some(mark) => format!("`{mark}` between thousands"),
                None => String::new(),
            };
            let decimal = if column.decimal == Some(Decimal::Comma) { "decimal comma" } else { "" };
            let both = if thousands.is_empty() || decimal.is_empty() { "" } else { " and " };
            let name = quoted(&column.name);
            format!("the numbers of {name} have {thousands}{both}{decimal}: {}", column.example)
        }));
        let shape = &self.shape;
        if shape.has_row_names {
            notes.push("rows have one cell more than the header, so the first column has no name".to_owned());
        }
        let plural =
            |count: u64, what: &str| format!("{count} empty {what}{}", if count == 1 { "" } else { "s" });
        match (shape.empty_columns as u64, shape.empty_rows) {
            (0, 0) => {}
            (columns, 0) => notes.push(format!("{} at the end left out", plural(columns, "column"))),
            (0, rows) => notes.push(format!("{} at the end left out", plural(rows, "row"))),
            (columns, rows) => notes.push(format!(
                "{} and {} at the end left out",
                plural(columns, "column"),
                plural(rows, "row")
            )),
        }
        notes.extend(shape.notes.iter().cloned());
        notes
    }

    /// Calls `visit` with the cells of each row, in order, as canonical text (see the documentation of the crate). Only a
    /// part of the table is in memory at a time.
    ///
    /// # Errors
    /// The file cannot be read, is damaged or was changed since it was opened, or `visit` returned an error.
    pub fn each_row(&self, visit: &mut Visit<'_>) -> Result<(), Trouble> {
        let translated: Vec<&NumberColumn> = self.notation.translated().collect();
        if translated.is_empty() {
            return self.each_raw(None, visit);
        }
        let (mut plain, mut number) = (StringRecord::new(), String::new());
        self.each_raw(None, &mut |row| {
            plain.clear();
            let mut next = translated.iter().peekable();
            for (at, cell) in row.iter().enumerate() {
                match next.next_if(|column| column.at == at) {
                    None => plain.push_field(cell),
                    Some(column) => {
                        translate(
                            cell,
                            column.decimal.unwrap_or(Decimal::Point),
                            column.thousands,
                            &mut number,
                        );
                        plain.push_field(&number);
                    }
                }
            }
            visit(&plain)
        })
    }

    /// Calls `visit` with the cells of each row before numbers are translated. Formats that can read some columns alone read
    /// the `chosen` ones; others read all.
    pub(crate) fn each_raw(&self, chosen: Option<&[usize]>, visit: &mut Visit<'_>) -> Result<(), Trouble> {
        self.source.each_row(self, chosen, visit)
    }
}
