//! A table that is read once.
//!
//! [`read`] goes through the file of a table, whatever its format, and keeps its columns in memory, as numbers or as lists
//! of texts. Columns of many different texts or numbers stay in the file, unless the caller needs them, and so do the widest
//! columns of a very large table. The positions of all rows are kept, too: single rows are read again where they are needed
//! as they were written, and the rows can be copied without parsing them.
//!
//! Cells come back letter by letter as they are in the file.

mod cells;
mod notation;
mod packed;
mod texts;

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use csv::ByteRecord;

use crate::folder::Source;
use crate::missing::Words;
use crate::records::{self, Records, normal};
use cells::{Builder, Cells};
use packed::Packed;

/// The memory of columns that need not be kept, in bytes for each table.
const MOST_BYTES: usize = 96 << 20;
/// After so many rows, their memory is measured.
const MEASURED: u64 = 1 << 16;

/// A table of a data folder.
#[derive(Debug)]
pub(crate) struct Table {
    folder: PathBuf,
    source: Source,
    header: ByteRecord,
    /// The text of the header, without the end of the line.
    header_text: Vec<u8>,
    /// Where the text of each row begins, and where the last one ends.
    starts: Packed,
    rows: u64,
    columns: RwLock<Vec<Cells>>,
    /// For each column, the words that look missing but are values; none if it is shorter.
    words: Vec<Words>,
    stamp: Option<Stamp>,
}

/// The size and the last change of a file.
type Stamp = (u64, Option<SystemTime>);

/// A row of some columns.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// Its number, from 0.
    pub(crate) number: u64,
    cells: RowCells<'a>,
    /// The words of the columns.
    words: &'a [Words],
}

#[derive(Clone, Copy)]
enum RowCells<'a> {
    InMemory(&'a [(&'a Cells, Vec<u8>)], usize),
    Read(&'a ByteRecord, &'a [usize]),
}

/// Reads a table. Columns that are `kept` are in memory whatever they hold.
///
/// # Errors
/// The table cannot be read; the error names the line.
pub(crate) fn read(folder: &Path, source: &Source, kept: impl Fn(&str) -> bool) -> io::Result<Table> {
    let stamp = std::fs::metadata(folder.join(&source.file)).ok().map(|about| stamp(&about));
    records::read(folder, source, |mut rows| {
        let mut columns: Vec<Builder> = rows.names().iter().map(|name| Builder::new(kept(name))).collect();
        let mut starts = Packed::default();
        while rows.next()? {
            starts.push(i64::try_from(rows.span().0).ok());
            columns.iter_mut().zip(rows.row()).for_each(|(column, cell)| column.push(cell));
            if rows.number() % MEASURED == MEASURED - 1 {
                shrink(&mut columns);
            }
        }
        starts.push(i64::try_from(rows.span().1).ok());
        Ok(Table {
            folder: folder.to_owned(),
            source: source.clone(),
            header: rows.header().clone(),
            header_text: rows.header_text().to_vec(),
            starts,
            rows: rows.count(),
            columns: RwLock::new(columns.into_iter().map(Builder::finish).collect()),
            words: Vec::new(),
            stamp,
        })
    })
}

fn stamp(about: &Metadata) -> Stamp {
    (about.len(), about.modified().ok())
}

/// Leaves the widest columns in the file, so that the others fit.
fn shrink(columns: &mut [Builder]) {
    while columns.iter().map(Builder::savable).sum::<usize>() > MOST_BYTES {
        let widest = columns.iter_mut().max_by_key(|column| column.savable());
        widest.into_iter().for_each(Builder::leave_in_file);
    }
}

impl Table {
    /// Takes words that look missing for values of columns, by their positions.
    pub(crate) fn keep(&mut self, words: Vec<Words>) {
        self.words = words;
    }

    /// The words that look missing but are values of the column at this position.
    pub(crate) fn kept(&self, column: usize) -> Words {
        self.words.get(column).copied().unwrap_or_default()
    }

    /// Says where the data folder is now.
    pub(crate) fn move_to(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The position of a column, if there is one. Blanks around its name do not count.
    pub(crate) fn find(&self, column: &str) -> Option<usize> {
        records::find(&self.header, column)
    }

    /// The position of a column. A column without a name is named by its position, as in a profile.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn position(&self, column: &str) -> io::Result<usize> {
        self.find(column).ok_or_else(|| records::no_column(column))
    }

    /// The positions of columns.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn positions<'a>(&self, columns: impl IntoIterator<Item = &'a str>) -> io::Result<Vec<usize>> {
        columns.into_iter().map(|column| self.position(column)).collect()
    }

    /// Calls `take` with these columns of each row until it returns `false`.
    ///
    /// # Errors
    /// A column is not in memory and the file cannot be read.
    pub(crate) fn each(&self, columns: &[usize], mut take: impl FnMut(Row<'_>) -> bool) -> io::Result<()> {
        let words: Vec<Words> = match self.words.is_empty() {
            true => Vec::new(),
            false => columns.iter().map(|column| self.kept(*column)).collect(),
        };
        let loaded = self.columns.read().unwrap_or_else(PoisonError::into_inner);
        let cells: Vec<&Cells> = columns.iter().filter_map(|at| loaded.get(*at)).collect();
        if cells.len() < columns.len() || !cells.iter().all(|cells| cells.is_in_memory()) {
            return self.each_in_file(columns, &words, take);
        }
        let mut cells: Vec<(&Cells, Vec<u8>)> = cells.into_iter().map(|cells| (cells, Vec::new())).collect();
        for (number, row) in (0..self.rows).zip(0_usize..) {
            cells.iter_mut().for_each(|(cells, written)| cells.write(row, written));
            if !take(Row { number, cells: RowCells::InMemory(&cells, row), words: &words }) {
                break;
            }
        }
        Ok(())
    }

    /// Frees the memory of the columns. What is asked for later is read from the file again.
    pub(crate) fn forget(&self) {
        self.columns.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn each_in_file(
        &self,
        columns: &[usize],
        words: &[Words],
        mut take: impl FnMut(Row<'_>) -> bool,
    ) -> io::Result<()> {
        self.check_unchanged()?;
        records::read(&self.folder, &self.source, |mut rows: Records<'_>| {
            while rows.next()? {
                if !take(Row { number: rows.number(), cells: RowCells::Read(rows.row(), columns), words }) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The number of the line on which a row ends; 0 if it cannot be read.
    pub(crate) fn line_of(&self, row: u64) -> u64 {
        let line = records::read(&self.folder, &self.source, |mut rows| {
            while rows.next()? && rows.number() < row {}
            Ok(rows.row().position().map_or(0, csv::Position::line))
        });
        line.unwrap_or_default()
    }

    /// Whether the file is the one that was read, judged by its size and the time of its last change.
    fn check_unchanged(&self) -> io::Result<()> {
        let about = std::fs::metadata(self.folder.join(&self.source.file))?;
        let is_same = self.stamp.as_ref().is_none_or(|stamp| *stamp == self::stamp(&about));
        let file = self.source.file.display();
        if is_same { Ok(()) } else { Err(io::Error::other(format!("{file} changed after it was read"))) }
    }
}

impl<'a> Row<'a> {
    /// The text of a cell, by the position of its column among those asked for.
    pub(crate) fn cell(&self, at: usize) -> &'a [u8] {
        match self.cells {
            RowCells::InMemory(cells, row) => {
                cells.get(at).map_or(&[], |(cells, written)| cells.text(row, written))
            }
            RowCells::Read(row, columns) => {
                columns.get(at).and_then(|column| row.get(*column)).unwrap_or_default()
            }
        }
    }

    /// The value of a cell, as [`normal`] has it.
    pub(crate) fn value(&self, at: usize) -> Option<&'a str> {
        normal(self.cell(at), self.words.get(at).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::folder;

    /// A table with these rows.
    fn table(text: &str, kept: bool) -> (tempfile::TempDir, Table) {
        let dir = folder(&[("train.csv", text)]);
        let source = crate::folder::list(dir.path()).unwrap().train.unwrap();
        let table = read(dir.path(), &source, |_| kept).unwrap();
        (dir, table)
    }

    fn cells(table: &Table, column: usize) -> Vec<String> {
        let mut cells = Vec::new();
        let text = |row: Row<'_>| String::from_utf8(row.cell(0).to_vec()).unwrap();
        table
            .each(&[column], |row| {
                cells.push(text(row));
                true
            })
            .unwrap();
        cells
    }

    #[test]
    fn cells_are_as_they_are_in_the_file_however_they_are_kept() {
        let check = |words: &str, rows: usize, cell: &dyn Fn(usize) -> String, in_memory: bool| {
            let expected: Vec<String> = (0..rows).map(cell).collect();
            let text: String = expected.iter().map(|cell| format!("\"{cell}\",1\n")).collect();
            for kept in [false, true] {
                let (_dir, table) = table(&format!("a,b\n{text}"), kept);
                assert_eq!(table.columns.read().unwrap()[0].is_in_memory(), in_memory || kept, "{words}");
                assert!(cells(&table, 0) == expected, "{words}");
                table.forget();
                assert!(cells(&table, 0) == expected, "{words}");
            }
        };
        let many = 90_000;
        check("few texts", 1_000, &|row| format!("t, {}", row % 9), true);
        check("whole numbers", many, &|row| (row * 7).to_string(), false);
        check(
            "with gaps",
            many,
            &|row| if row % 5 == 1 { String::new() } else { (row * 7).to_string() },
            false,
        );
        check(
            "times",
            many,
            &|row| format!("20{:02}-01-01 {:02}:{:02}:00", row / 1_440, row / 60 % 24, row % 60),
            true,
        );
        check("many texts", many, &|row| format!("t{row}"), false);
        check(
            "numbers, then a text",
            many,
            &|row| if row == 69_000 { "x".to_owned() } else { row.to_string() },
            false,
        );
        check(
            "another spelling",
            many,
            &|row| if row == 3 { "07".to_owned() } else { row.to_string() },
            false,
        );
    }

    #[test]
    fn chosen_rows_are_found_in_the_file() {
        let check = |text: &str, wanted: &[u64], expected: &[&str]| {
            let (_dir, table) = table(text, false);
            let mut found = Vec::new();
            table
                .picked(wanted.to_vec(), |picked| {
                    while let Some((number, row)) = picked.next()? {
                        found.push(format!("{number}:{}", String::from_utf8_lossy(&row[1])));
                    }
                    Ok(())
                })
                .unwrap();
            assert_eq!(found, expected, "{text}");
        };
        let text = "\u{feff}a,b\n1,x\n\n2,\"y\n,\"\n3,z\n";
        check(text, &[0, 1, 2], &["0:x", "1:y\n,", "2:z"]);
        check(text, &[1], &["1:y\n,"]);
        check(&text.replace('\n', "\r\n"), &[0, 2], &["0:x", "2:z"]);
        check(text, &[], &[]);
    }

    #[test]
    fn a_file_that_changed_is_not_read_again() {
        let (dir, table) = table("a,b\n1,x\n", false);
        fs::write(dir.path().join("train.csv"), "a,b\n1,x\n2,y\n").unwrap();
        let error = table.picked(vec![0], |picked| picked.next().map(|_| ())).unwrap_err();
        assert_eq!(error.to_string(), "train.csv changed after it was read");
    }
}
