//! Reads one table row by row.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;
use std::path::Path;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use mle_star_domain::trouble::Trouble;

use super::column::Values;
use super::{Column, ColumnKind, ROWS_LOOKED_AT, Table};
use crate::folder::Source;
use crate::split::{says_code, says_role, without_id, words};

/// Further columns that may be part of a row key.
const MOST_ROLES: usize = 4;
const SAVE_AS_CSV: &str = "save it as comma-separated UTF-8 text with one header line";

/// Reads one table.
///
/// # Errors
/// The file cannot be opened or is not CSV text that scripts can read.
pub(crate) fn read(data_dir: &Path, source: &Source) -> Result<Table, Trouble> {
    let name = source.on_disk.display().to_string();
    let read = |is_looked_at: &dyn Fn(usize) -> bool| {
        let opened = source.with_text(data_dir, |text| read_text(text, source, &name, is_looked_at));
        opened.map_err(|error| {
            Trouble::new(format!("cannot open {name}: {error}"), "check that the file is there and readable")
        })?
    };
    let table = read(&|row| row < ROWS_LOOKED_AT)?;
    if table.rows <= ROWS_LOOKED_AT {
        return Ok(table);
    }
    // The first rows of a sorted table say little about the others.
    read(&|row| is_spread(row, table.rows))
}

/// Whether a row of a table of more than [`ROWS_LOOKED_AT`] rows is looked at: half of these rows are the first ones, among
/// which values repeat as they do in the whole, and half are spread over the others.
fn is_spread(row: usize, rows: usize) -> bool {
    const FIRST: usize = ROWS_LOOKED_AT / 2;
    let Some(row) = row.checked_sub(FIRST) else { return true };
    let taken = |rows_before: usize| rows_before * (ROWS_LOOKED_AT - FIRST) / (rows - FIRST);
    taken(row + 1) > taken(row)
}

fn read_text(
    text: &mut dyn Read,
    source: &Source,
    name: &str,
    is_looked_at: &dyn Fn(usize) -> bool,
) -> Result<Table, Trouble> {
    let mut reader = ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(text);
    let mut columns: Vec<Values> = header(&mut reader, name)?.into_iter().map(Values::new).collect();
    let mut record = ByteRecord::new();
    let mut rows = 0;
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(name, &error))? {
        if is_looked_at(rows) {
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

/// Adds the row key to the table by reading it again: columns that the training table has, too. If these do not tell rows apart,
/// one more column may that it has in a role, such as `home_team` for `team`.
pub(super) fn with_row_key(data_dir: &Path, source: &Source, mut table: Table, train: &Table) -> Table {
    let nameable = |column: &&Column| !matches!(column.kind, ColumnKind::Float | ColumnKind::Text);
    let shared = |column: &Column| train.column(&column.name).is_some_and(|twin| nameable(&twin));
    let in_role = |column: &Column| {
        let names_something = says_code(&column.name) || column.kind == ColumnKind::Category;
        let names_something = names_something && column.distinct < table.rows.min(ROWS_LOOKED_AT);
        let plain = without_id(&column.name).unwrap_or_else(|| words(&column.name).concat());
        let said = [format!("{plain}id"), plain];
        let mut roles = train.columns.iter().filter(nameable);
        names_something && roles.any(|role| said.iter().any(|said| says_role(&role.name, said)))
    };
    let places = table.columns.iter().enumerate().filter(|(_, column)| nameable(column));
    let (same, others): (Vec<_>, Vec<_>) = places.partition(|(_, column)| shared(column));
    let roles = others.iter().filter(|(_, column)| in_role(column)).map(|(at, _)| at);
    let same: Vec<usize> = same.iter().map(|(at, _)| *at).collect();
    let wider = roles.take(MOST_ROLES).map(|at| same.iter().chain([at]).copied().collect::<Vec<usize>>());
    let is_key = |places: &Vec<usize>| {
        let unique = source.with_text(data_dir, |text| !places.is_empty() && names_each_row(text, places));
        unique.unwrap_or(false)
    };
    let key = [same.clone()].into_iter().chain(wider).find(is_key).unwrap_or_default();
    table.row_key = key.iter().map(|at| table.columns[*at].name.clone()).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_that_are_looked_at_are_spread_over_the_table() {
        for rows in [ROWS_LOOKED_AT + 1, 150_000, 3_000_000] {
            let looked: Vec<usize> = (0..rows).filter(|row| is_spread(*row, rows)).collect();
            assert_eq!(looked.len(), ROWS_LOOKED_AT, "{rows}");
            let last_tenth = looked.iter().filter(|row| **row >= rows - rows / 10).count();
            assert!(last_tenth * 21 >= ROWS_LOOKED_AT, "{rows} {last_tenth}");
        }
    }

    #[test]
    fn a_sorted_table_shows_all_of_its_values() {
        let rows = (0..300_000).map(|row| format!("{},{}\n", row / 100_000, row / 290_000));
        let text: String = std::iter::once("y,late\n".to_owned()).chain(rows).collect();
        let dir = crate::testing::folder(&[("train.csv", &text)]);
        let train = crate::profile::read(dir.path()).unwrap().train;
        assert_eq!((train.rows, train.columns[0].distinct, train.columns[1].distinct), (300_000, 3, 2));
    }
}
