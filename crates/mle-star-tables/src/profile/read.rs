//! Reads a table and profiles its columns.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::Path;

use csv::{ByteRecord, ErrorKind};
use mle_star_domain::task::TextColumn;
use mle_star_domain::trouble::Trouble;

use super::column::Values;
use super::parts::with_parts;
use super::words::words_of;
use super::{Column, ColumnKind, ROWS_LOOKED_AT, Table};
use crate::column_names::{says_code, says_role, says_time, without_id, words};
use crate::folder::Source;
use crate::missing::Words;
use crate::records;
use crate::table;

/// Further columns that may be part of a row key.
const MOST_ROLES: usize = 4;
const SAVE_AS_CSV: &str = "save it as comma-separated UTF-8 text with one header line";

/// Reads one table. Columns that are `kept` are in memory whatever they hold, and their numbers stay numbers, however long.
///
/// # Errors
/// The file cannot be opened or is not CSV text that scripts can read.
pub(crate) fn read(
    data_dir: &Path,
    source: &Source,
    kept: impl Fn(&str) -> bool,
) -> Result<(table::Table, Table), Trouble> {
    let name = source.file.display().to_string();
    let failed = |error: io::Error| unreadable(&name, &error);
    // Of several mistakes, that of the header is named.
    let header = records::read(data_dir, source, |rows| Ok(rows.header().clone())).map_err(failed)?;
    let names = names(&header, &name)?;
    let loaded = table::read(data_dir, source, &kept).map_err(failed)?;
    if loaded.rows() == 0 {
        return Err(Trouble::new(
            format!("{name} has no rows below its header"),
            "check that the file is complete",
        ));
    }
    let columns = columns(&loaded, names, &kept, &name)?;
    let rows = usize::try_from(loaded.rows()).unwrap_or(usize::MAX);
    let profile = Table { file: source.file.clone(), rows, columns, row_key: Vec::new() };
    Ok((loaded, profile))
}

/// Reads columns again in which words that look missing are values.
///
/// # Errors
/// The table cannot be read.
pub(super) fn with_words(
    loaded: &mut table::Table,
    profile: &mut Table,
    columns: &[TextColumn],
) -> Result<(), Trouble> {
    let words: Vec<Words> = profile.columns.iter().map(|column| words_of(columns, &column.name)).collect();
    if words.iter().any(|words| !words.is_empty()) {
        let names = profile.columns.iter().map(|column| column.name.clone()).collect();
        loaded.keep(words);
        let keeps = |name: &str| !profile.column(name).is_some_and(|column| column.long);
        profile.columns = self::columns(loaded, names, keeps, &profile.file.display().to_string())?;
    }
    Ok(())
}

/// The profiles of the columns, from the rows that are looked at.
fn columns(
    table: &table::Table,
    names: Vec<String>,
    keeps_long: impl Fn(&str) -> bool,
    file: &str,
) -> Result<Vec<Column>, Trouble> {
    let values = |(at, name): (usize, String)| {
        // A clock counts billionths of seconds.
        let keeps_long = keeps_long(&name) || says_time(&name);
        Values::new(name).keeping(table.kept(at)).keeping_long(keeps_long)
    };
    let mut columns: Vec<Values> = names.into_iter().enumerate().map(values).collect();
    let rows = usize::try_from(table.rows()).unwrap_or(usize::MAX);
    let numbers = (0..rows).filter(|row| *row < ROWS_LOOKED_AT || is_spread(*row, rows));
    let mut odd = None;
    let read = table.picked(numbers.map(|row| row as u64).collect(), |picked| {
        while let Some((number, row)) = picked.next()? {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            // The first rows of a sorted table say little about the others.
            let is_looked_at = rows <= ROWS_LOOKED_AT || is_spread(number, rows);
            if let Err(what) = take_row(&mut columns, row, is_looked_at) {
                odd = Some((number as u64, what));
                break;
            }
        }
        Ok(())
    });
    read.map_err(|error| unreadable(file, &error))?;
    match odd {
        Some((row, what)) => Err(what.trouble(table.line_of(row), file)),
        None => Ok(columns.into_iter().map(with_parts).collect()),
    }
}

/// Whether a row of a table of more than [`ROWS_LOOKED_AT`] rows is looked at: half of these rows are the first ones, among
/// which values repeat as they do in the whole, and half are spread over the others.
fn is_spread(row: usize, rows: usize) -> bool {
    const FIRST: usize = ROWS_LOOKED_AT / 2;
    let Some(row) = row.checked_sub(FIRST) else { return true };
    let taken = |rows_before: usize| rows_before * (ROWS_LOOKED_AT - FIRST) / (rows - FIRST);
    taken(row + 1) > taken(row)
}

/// Adds the row key to the profile of a table: columns that the training table has, too. If these do not tell rows apart, one
/// more column may that it has in a role, such as `home_team` for `team`.
pub(super) fn with_row_key(loaded: &table::Table, mut table: Table, train: &Table) -> Table {
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
    let is_key = |places: &Vec<usize>| !places.is_empty() && names_each_row(loaded, places).unwrap_or(false);
    let key = [same.clone()].into_iter().chain(wider).find(is_key).unwrap_or_default();
    table.row_key = key.iter().map(|at| table.columns[*at].name.clone()).collect();
    table
}

fn names_each_row(table: &table::Table, positions: &[usize]) -> io::Result<bool> {
    let (mut seen, mut are_unique) = (HashSet::new(), true);
    table.each(positions, |row| {
        let mut hasher = DefaultHasher::new();
        (0..positions.len()).for_each(|at| row.cell(at).hash(&mut hasher));
        are_unique = seen.insert(hasher.finish());
        are_unique
    })?;
    Ok(are_unique)
}

/// The columns' names as pandas assigns them: a column without a name is named by its position.
fn names(header: &ByteRecord, file: &str) -> Result<Vec<String>, Trouble> {
    if header.is_empty() {
        return Err(Trouble::new(format!("{file} is empty"), "check that the file is complete"));
    }
    let mut names = Vec::with_capacity(header.len());
    for (position, field) in header.iter().enumerate() {
        let text = text(field).map_err(|what| what.trouble(1, file))?;
        names.push(if text.is_empty() { format!("Unnamed: {position}") } else { text.to_owned() });
    }
    check_header(&names, file)?;
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

/// Checks the cells of a row, and adds them if the row is looked at.
fn take_row(columns: &mut [Values], row: &ByteRecord, is_looked_at: bool) -> Result<(), NoText> {
    for (column, field) in columns.iter_mut().zip(row) {
        let text = text(field)?;
        if is_looked_at {
            column.take(text);
        }
    }
    Ok(())
}

/// Why bytes are no text.
enum NoText {
    Binary,
    OtherEncoding,
}

impl NoText {
    fn trouble(&self, line: u64, file: &str) -> Trouble {
        match self {
            Self::Binary => Trouble::new(format!("{file} is not a text file (line {line})"), SAVE_AS_CSV),
            Self::OtherEncoding => {
                let hint = "convert it, for example: iconv -f latin1 -t utf-8 OLD.csv > NEW.csv";
                Trouble::new(format!("line {line} of {file} is not UTF-8 text"), hint)
            }
        }
    }
}

fn text(field: &[u8]) -> Result<&str, NoText> {
    if field.contains(&0) {
        return Err(NoText::Binary);
    }
    std::str::from_utf8(field).map_err(|_| NoText::OtherEncoding)
}

fn unreadable(file: &str, error: &io::Error) -> Trouble {
    let of_text = error.get_ref().and_then(|error| error.downcast_ref::<csv::Error>());
    let Some(ErrorKind::UnequalLengths { pos, expected_len, len }) = of_text.map(csv::Error::kind) else {
        return match of_text {
            Some(error) => Trouble::new(
                format!("cannot read {file}: {error}"),
                "check that the file is complete and readable",
            ),
            None => Trouble::new(
                format!("cannot open {file}: {error}"),
                "check that the file is there and readable",
            ),
        };
    };
    let line = pos.as_ref().map_or(0, csv::Position::line);
    let fields = if *len == 1 { "field" } else { "fields" };
    let message = format!("line {line} of {file} has {len} {fields}, the header has {expected_len}");
    Trouble::new(message, "correct that line; a comma inside a value needs quotes around the value")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sorted_table_shows_all_of_its_values() {
        let rows = (0..300_000).map(|row| format!("{},{}\n", row / 100_000, row / 290_000));
        let text: String = std::iter::once("y,late\n".to_owned()).chain(rows).collect();
        let dir = crate::testing::folder(&[("train.csv", &text)]);
        let train = crate::profile::read(dir.path()).unwrap().train;
        assert_eq!((train.rows, train.columns[0].distinct, train.columns[1].distinct), (300_000, 3, 2));
    }
}
