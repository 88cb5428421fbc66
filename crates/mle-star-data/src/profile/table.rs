//! Reads one table row by row.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;
use std::path::Path;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use mle_star::stop::Trouble;

use super::column::Values;
use super::{Column, ColumnKind, ROWS_LOOKED_AT, Table};
use crate::folder::Source;

const SAVE_AS_CSV: &str = "save it as comma-separated UTF-8 text with one header line";

/// Reads one table.
///
/// # Errors
/// The file cannot be opened or is not CSV text that scripts can read.
pub(crate) fn read(data_dir: &Path, source: &Source) -> Result<Table, Trouble> {
    let name = source.on_disk.display().to_string();
    let opened = source.with_text(data_dir, |text| read_text(text, source, &name));
    opened.map_err(|error| {
        Trouble::new(format!("cannot open {name}: {error}"), "check that the file is there and readable")
    })?
}

fn read_text(text: &mut dyn Read, source: &Source, name: &str) -> Result<Table, Trouble> {
    let mut reader = ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(text);
    let mut columns: Vec<Values> = header(&mut reader, name)?.into_iter().map(Values::new).collect();
    let mut record = ByteRecord::new();
    let mut rows = 0;
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(name, &error))? {
        if rows < ROWS_LOOKED_AT {
            take_row(&mut columns, &record, name)?;
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(Trouble::new(
            format!("{name} has no rows below its header"),
            "check that the file is complete",
        ));
    }
    let columns = columns.into_iter().map(Values::finish).collect();
    Ok(Table { file: source.file.clone(), rows, columns, row_key: Vec::new() })
}

/// Adds the row key to the table by reading it again.
pub(super) fn with_row_key(data_dir: &Path, source: &Source, mut table: Table, train: &Table) -> Table {
    let nameable = |column: &&Column| !matches!(column.kind, ColumnKind::Float | ColumnKind::Text);
    let shared =
        |column: &&Column| nameable(column) && train.column(&column.name).is_some_and(|twin| nameable(&twin));
    let key: Vec<String> = table.columns.iter().filter(shared).map(|column| column.name.clone()).collect();
    let positions: Vec<usize> =
        (0..table.columns.len()).filter(|at| key.contains(&table.columns[*at].name)).collect();
    let unique = source.with_text(data_dir, |text| !key.is_empty() && names_each_row(text, &positions));
    if unique.unwrap_or(false) {
        table.row_key = key;
    }
    table
}

fn names_each_row(text: &mut dyn Read, positions: &[usize]) -> bool {
    let mut reader = ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(text);
    let (mut record, mut seen) = (ByteRecord::new(), HashSet::new());
    while let Ok(true) = reader.read_byte_record(&mut record) {
        let mut hasher = DefaultHasher::new();
        positions.iter().for_each(|position| record.get(*position).hash(&mut hasher));
        if !seen.insert(hasher.finish()) {
            return false;
        }
    }
    true
}

/// The columns' names as pandas assigns them: a column without a name is named by its position.
fn header<R: Read>(reader: &mut Reader<R>, name: &str) -> Result<Vec<String>, Trouble> {
    let header = reader.byte_headers().map_err(|error| unreadable(name, &error))?.clone();
    if header.is_empty() {
        return Err(Trouble::new(format!("{name} is empty"), "check that the file is complete"));
    }
    let mut names = Vec::with_capacity(header.len());
    for (position, field) in header.iter().enumerate() {
        let text = as_text(field, 1, name)?;
        names.push(if text.is_empty() { format!("Unnamed: {position}") } else { text.to_owned() });
    }
    check_header(&names, name)?;
    Ok(names)
}

fn check_header(names: &[String], file: &str) -> Result<(), Trouble> {
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        let hint = "rename or remove one of them; column names must be unique";
        return Err(Trouble::new(format!("{file} has two columns named \"{twice}\""), hint));
    }
    let [only] = names else { return Ok(()) };
    match [(';', "';'"), ('\t', "tabs"), ('|', "'|'")]
        .into_iter()
        .find(|(separator, _)| only.contains(*separator))
    {
        Some((_, words)) => {
            Err(Trouble::new(format!("{file} is separated by {words}, not by commas"), SAVE_AS_CSV))
        }
        None => Ok(()),
    }
}

fn take_row(columns: &mut [Values], record: &ByteRecord, name: &str) -> Result<(), Trouble> {
    let line = record.position().map_or(0, csv::Position::line);
    for (column, field) in columns.iter_mut().zip(record) {
        column.take(as_text(field, line, name)?);
    }
    Ok(())
}

fn as_text<'a>(field: &'a [u8], line: u64, name: &str) -> Result<&'a str, Trouble> {
    if field.contains(&0) {
        return Err(Trouble::new(format!("{name} is not a text file (line {line})"), SAVE_AS_CSV));
    }
    std::str::from_utf8(field).map_err(|_| {
        let hint = "convert it, for example: iconv -f latin1 -t utf-8 OLD.csv > NEW.csv";
        Trouble::new(format!("line {line} of {name} is not UTF-8 text"), hint)
    })
}

fn unreadable(name: &str, error: &csv::Error) -> Trouble {
    let ErrorKind::UnequalLengths { pos, expected_len, len } = error.kind() else {
        return Trouble::new(
            format!("cannot read {name}: {error}"),
            "check that the file is complete and readable",
        );
    };
    let line = pos.as_ref().map_or(0, csv::Position::line);
    let fields = if *len == 1 { "field" } else { "fields" };
    let message = format!("line {line} of {name} has {len} {fields}, the header has {expected_len}");
    Trouble::new(message, "correct that line; a comma inside a value needs quotes around the value")
}
